"""Version numbers against the ranges of a package's metadata, as far as Gradiva's own metadata use them."""

from __future__ import annotations

import operator
import re

_OPERATORS = {"==": operator.eq, ">=": operator.ge, "<=": operator.le, "<": operator.lt, ">": operator.gt}


def parse_requirement(requirement: str) -> tuple[str, str]:
    """Return name and range of a requirement such as ``numpy<3,>=2.0``."""
    match = re.match(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*([^;]*)", requirement)
    assert match is not None, f"{requirement!r} is no requirement"
    return match.group(1), match.group(2).strip().strip("()").replace(" ", "")


def allows(versions: str, installed: str) -> bool:
    """Whether ``installed`` lies in the range ``versions``, such as ``<3,>=2.0``; an empty one allows all."""
    for part in filter(None, versions.split(",")):
        match = re.match(r"(==|>=|<=|<|>)(.+)", part)
        if match and not _OPERATORS[match.group(1)](*_same_length(installed, match.group(2))):
            return False
    return True


def _same_length(*versions: str) -> list[list[int]]:
    """Return release numbers, filled up with zeros; what follows them (rc1, post1) is left out."""
    numbers = [
        [int(digits) for digits in re.findall(r"\d+", re.split(r"[^\d.]", one, maxsplit=1)[0])] for one in versions
    ]
    longest = max(map(len, numbers))
    return [one + [0] * (longest - len(one)) for one in numbers]
