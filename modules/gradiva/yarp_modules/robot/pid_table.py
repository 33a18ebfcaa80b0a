"""The gains of the boards' position loops, read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gradiva.common import RobotInterfaceError
from gradiva.middleware import yarp
from gradiva.yarp_modules.robot.remote_joints import required


@dataclass(frozen=True, slots=True)
class PidGains:
    """Gains of one joint's position loop, in the units of its board.

    Attributes:
        kp: Proportional.
        kd: Derivative.
        ki: Integral.
    """

    kp: float
    kd: float
    ki: float = 0.0


def read_pids(driver: yarp.PolyDriver, joints: Sequence[str]) -> dict[str, PidGains]:
    """Return the gains of each joint's position loop.

    Raises:
        RobotInterfaceError: The boards do not tell them.
    """
    pids = yarp.PidVector(len(joints))
    view = required(driver.viewIPidControl(), "control loops")
    if not view.getPids(yarp.encode("pos"), pids):  # the bindings have no constant for it
        raise RobotInterfaceError("the boards do not report the gains of their position loops")
    return {joint: PidGains(pid.kp, pid.kd, pid.ki) for joint, pid in zip(joints, list(pids), strict=True)}


def table_lines(pids: Mapping[str, PidGains]) -> list[str]:
    """Return the table, for people."""
    return [f"{joint:24s} kp {gains.kp:10g}  kd {gains.kd:10g}  ki {gains.ki:10g}" for joint, gains in pids.items()]


def objections(pids: Mapping[str, PidGains], expected: Mapping[str, PidGains], tolerance: float) -> list[str]:
    """Return a line for each joint whose gains are not those expected, not those of its twin, or zero.

    Args:
        pids: As read back.
        expected: By joint; those left out may be any.
        tolerance: Relative, [-].
    """
    lines = [f"{joint}: kp is 0, the joint will not hold" for joint, gains in pids.items() if gains.kp == 0.0]
    for joint, gains in pids.items():
        if joint in expected and not _are_alike(gains, expected[joint], tolerance):
            lines.append(f"{joint}: {_said(gains)}, expected {_said(expected[joint])}")
        twin = twin_of(joint)
        if twin in pids and not _are_alike(gains, pids[twin], tolerance):
            lines.append(f"{joint}: {_said(gains)}, but {twin}: {_said(pids[twin])}")
    return lines


def twin_of(joint: str) -> str:
    """Return the right joint to a left one; empty for others."""
    if joint.startswith("l_"):
        return "r_" + joint[2:]
    return joint.replace("_left_", "_right_") if "_left_" in joint else ""


def _are_alike(one: PidGains, other: PidGains, tolerance: float) -> bool:
    pairs = ((one.kp, other.kp), (one.kd, other.kd), (one.ki, other.ki))
    return all(abs(abs(a) - abs(b)) <= tolerance * max(abs(a), abs(b)) for a, b in pairs)  # motors may be mirrored


def _said(gains: PidGains) -> str:
    return f"kp {gains.kp:g}, kd {gains.kd:g}, ki {gains.ki:g}"
