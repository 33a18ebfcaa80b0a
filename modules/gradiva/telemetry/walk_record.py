"""A finished run as its plots need it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gradiva.common import NDArray, Side, SoleRectangle, WalkingError
from gradiva.telemetry.run_folder import RunFolder
from gradiva.telemetry.signal_log import SignalLog

BoolArray = npt.NDArray[np.bool_]

_LOADED_FORCE = 20.0  # N, a foot that carries more is on the ground; contact noise stays below
_UNKNOWN_SOLE = SoleRectangle(x=(-0.08, 0.12), y=(-0.045, 0.045), z=0.0)  # m, a small humanoid's


@dataclass(frozen=True, slots=True, eq=False)
class WalkRecord:
    """The log of a run and what its result says of the robot.

    Attributes:
        log: All signals.
        joints: Names, in the order of the joint signals.
        result: Outcome and key figures.
        sole: Of the left foot; a typical one if the result does not tell.
        joint_limits: Lower and upper, [rad], shape (n,) each, or None if the result does not tell.
    """

    log: SignalLog
    joints: tuple[str, ...]
    result: dict[str, Any] = field(default_factory=dict)
    sole: SoleRectangle = _UNKNOWN_SOLE
    joint_limits: tuple[NDArray, NDArray] | None = None

    @classmethod
    def read(cls, run: RunFolder) -> WalkRecord:
        """Return the record of a run folder.

        Raises:
            ConfigError: The run has no log, or one that cannot be read.
        """
        mat, result = run.read_log(), run.read_result()
        joints = tuple(result.get("joints") or mat.joints)
        return cls(mat.log, joints, result, _sole(result), _joint_limits(result, len(joints)))

    def in_double_support(self) -> BoolArray | None:
        """Return at which samples both feet are to carry load, shape (T,), or None if nobody logged it."""
        if "walking::is_double_support" not in self.log:
            return None
        return self.log["walking::is_double_support"][:, 0] > 0.5

    def in_contact(self, side: Side) -> BoolArray | None:
        """Return at which samples one foot carries load, shape (T,), or None if the log does not tell.

        The plan tells by its flags; without them the measured force does.
        """
        double_support = self.in_double_support()
        if double_support is not None and "stance_foot::is_left" in self.log:
            is_left = self.log["stance_foot::is_left"][:, 0] > 0.5
            return double_support | (is_left if side is Side.LEFT else ~is_left)
        force = f"{side}_foot::linear_force::measured"
        return self.log[force][:, 2] > _LOADED_FORCE if force in self.log else None


def _sole(result: dict[str, Any]) -> SoleRectangle:
    try:
        sole = result["sole"]
        return SoleRectangle(x=tuple(sole["x"]), y=tuple(sole["y"]), z=float(sole.get("z", 0.0)))
    except (KeyError, TypeError, IndexError, AttributeError, WalkingError):
        return _UNKNOWN_SOLE


def _joint_limits(result: dict[str, Any], joints: int) -> tuple[NDArray, NDArray] | None:
    try:
        limits = result["joint_limits"]
        lower, upper = (np.array(limits[end], dtype=np.float64) for end in ("lower", "upper"))
    except (KeyError, TypeError, ValueError):
        return None
    return (lower, upper) if lower.shape == upper.shape == (joints,) else None
