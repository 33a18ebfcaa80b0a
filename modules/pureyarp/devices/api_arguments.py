"""The overloads of the bindings' methods, told apart by how many arguments they get."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from pureyarp.data.vectors import StandardVector

_log = logging.getLogger("pureyarp")


# One joint, all joints (None) or a group.
Joints = int | None | tuple[int, ...]


def joints_of(arguments: tuple[Any, ...]) -> Joints:
    """Return whom ``()``, ``(joint)`` or ``(number, joints)`` means."""
    if len(arguments) == 0:
        return None
    if len(arguments) == 1:
        return int(arguments[0])
    if len(arguments) == 2:
        return group(arguments[0], arguments[1])
    raise TypeError(f"expected (), (joint) or (number, joints), not {len(arguments)} arguments")


def joints_and_data(arguments: tuple[Any, ...]) -> tuple[Joints, Any]:
    """Return whom and what ``(data)``, ``(joint, data)`` or ``(number, joints, data)`` means."""
    if not 1 <= len(arguments) <= 3:
        raise TypeError(f"expected (data), (joint, data) or (number, joints, data), not {len(arguments)} arguments")
    return joints_of(arguments[:-1]), arguments[-1]


def checked_vector(data: Any) -> StandardVector[Any]:
    """Return one of the bindings' vectors, or raise TypeError for anything else."""
    if not isinstance(data, StandardVector):
        raise TypeError(f"a DVector, IVector or BVector is expected, not {data!r}")
    return data


def group(number: int, joints: Sequence[int]) -> tuple[int, ...]:
    """Return the first ``number`` of ``joints``."""
    return tuple(int(joints[k]) for k in range(int(number)))


def fill(destination: Any, values: Sequence[Any] | None) -> bool:
    """Write values into a vector of the caller; False without values or when the vector is too short for them.

    Raises:
        TypeError: The caller gave anything but one of the bindings' own vectors.
    """
    checked_vector(destination)
    if values is None:
        return False
    if len(destination) < len(values):
        _log.error("a vector of %d elements cannot take the %d that were asked for", len(destination), len(values))
        return False
    destination[: len(values)] = values
    return True
