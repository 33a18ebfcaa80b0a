"""The settings of a simulated part, remembered for each joint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gradiva.middleware.control_board.control_board_device import Joints, NotOffered
from gradiva.middleware.control_board.feature import Feature
from gradiva.middleware.control_board.vocabulary import PidType

Key = tuple[Feature, PidType | None]


class ParameterTable:
    """A number, or a row of numbers, for each joint and setting.

    Args:
        defaults: For each setting what it is at first: one row per joint. A setting that is not named is refused.
    """

    def __init__(self, defaults: Mapping[Key, npt.ArrayLike]) -> None:
        self._values = {key: np.array(value, dtype=np.float64) for key, value in defaults.items()}

    def get(self, feature: Feature, joints: Joints, pid: PidType | None = None) -> list[Any]:
        """Return the rows of these joints; IndexError if there is no such joint."""
        return [self._table(feature, pid)[joint].tolist() for joint in joints]

    def set(self, feature: Feature, joints: Joints, values: Sequence[Any], pid: PidType | None = None) -> None:
        """Remember one row for each of these joints."""
        table = self._table(feature, pid)
        rows = np.array(values, dtype=np.float64)
        if rows.shape != (len(joints), *table.shape[1:]):
            raise ValueError(f"{feature.name} of {len(joints)} joints with numbers of shape {rows.shape}")
        table[list(joints)] = rows

    def _table(self, feature: Feature, pid: PidType | None) -> npt.NDArray[np.float64]:
        try:
            return self._values[feature, pid]
        except KeyError:
            raise NotOffered(f"{feature.name} {pid.name if pid else ''}".strip()) from None
