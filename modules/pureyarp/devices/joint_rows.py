"""Answers about several joints, taken apart into one row for each joint and put together again."""

from __future__ import annotations

from collections.abc import Sequence

from gradiva.middleware.control_board.feature import Feature
from gradiva.middleware.control_board.vocab_forms import VOCAB_FORMS
from pureyarp.wire.elements import Element

Row = tuple[Element, ...]


def row_of_one(feature: Feature, answer: Sequence[Element]) -> Row:
    """Return the row of an answer about one joint: its values, or one list of them where they belong together."""
    return (list(answer),) if VOCAB_FORMS[feature].packed else tuple(answer)


def rows_of_several(answer: Sequence[Element], count: int) -> list[Row] | None:
    """Return the rows of an answer about ``count`` joints; one value for all of them stands for each."""
    columns = [column if isinstance(column, list) else [column] * count for column in answer]
    if any(len(column) != count for column in columns):
        return None
    return list(zip(*columns, strict=True))


def answer_of_rows(feature: Feature, rows: Sequence[Row]) -> list[Element]:
    """Return the answer about several joints that the rows make: a list for each column, or whether all are done."""
    if feature is Feature.MOTION_DONE:
        return [int(all(row[0] for row in rows))]
    return [list(column) for column in zip(*rows, strict=True)]
