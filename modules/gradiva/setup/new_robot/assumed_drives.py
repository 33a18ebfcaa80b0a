"""Friction, gear play and motor curves of joints of which nothing is published, by their torque and speed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradiva.common import NDArray
from gradiva.robot_model import IdynTreeModel, JointGroup
from gradiva.robot_model.robot_description import PerJoint
from gradiva.simulation import JointDrive


@dataclass(frozen=True, slots=True)
class Gears:
    """A kind of gear: its losses as fractions of the joint's peak torque, which the size of the motor goes with.

    Attributes:
        coulomb: Coulomb friction over the peak torque, [-].
        viscous: Viscous friction at the speed without load over the peak torque, [-].
        loss: ``gear_loss`` of `JointGroup`, [-].
        play: ``gear_play`` of `JointGroup`, [rad].
    """

    coulomb: float
    viscous: float
    loss: float
    play: float


# Medians over the legs of the robots whose drives are described, robots/*/robot.toml: low ratios are those of Unitree
# G1 (1.7 to 2.4 % of the peak torque), high ratios those of iCub v2.7, iCub v3 (7 to 11 %) and TALOS (4 to 9 %).
LOW_RATIO = Gears(coulomb=0.023, viscous=0.07, loss=0.05, play=0.0035)
HIGH_RATIO = Gears(coulomb=0.07, viscous=0.2, loss=0.2, play=0.0)

_FAST = 12.0  # [rad/s] legs with planetary gears reach 20 to 40 rad/s, with harmonic drives 3 to 9
_TO_NO_LOAD = 1.1  # [-] a speed limit is what a motor still holds, nine tenths of its speed without load
_FULL = 0.5  # [-] of the speed without load, up to which the peak torque is there


def with_drives(
    groups: Mapping[str, JointGroup], model: IdynTreeModel, known: Mapping[str, JointDrive]
) -> dict[str, JointGroup]:
    r"""Return joint groups with friction, gear play and motors, whose sizes go with torque and speed of the joints.

    With the peak torque :math:`\tau` and the velocity limit :math:`\dot s` of a joint, the speed without load is
    :math:`\omega = 1.1\, \dot s`, Coulomb friction :math:`c\, \tau`, viscous friction :math:`v\, \tau / \omega`.
    c and v are those of a low ratio (planetary gears) where the fastest joint of a group has 12 rad/s or more, else of
    harmonic drives.

    Args:
        groups: With limits and guessed rotors.
        model: The robot; its limits bound those of the groups.
        known: Joint to what its model file says, which goes before.
    """
    first, driven = 0, dict(groups)
    for name, group in groups.items():
        rows = slice(first, first + len(group.joints))
        first += len(group.joints)
        if group.joints:
            torques = np.minimum(group.per_joint("torque_limit"), model.torque_limits()[rows])
            speeds = np.minimum(group.per_joint("velocity_limit"), model.velocity_limits()[rows])
            driven[name] = _driven(group, torques, speeds, [known.get(joint, JointDrive()) for joint in group.joints])
    return driven


def _driven(group: JointGroup, torques: NDArray, speeds: NDArray, known: Sequence[JointDrive]) -> JointGroup:
    """Return a group with its drives, of joints with these peak torques, [N·m], and velocity limits, [rad/s]."""
    gears = LOW_RATIO if max(speeds) >= _FAST else HIGH_RATIO
    no_load = _TO_NO_LOAD * speeds

    def said(quantity: str, assumed: NDArray) -> PerJoint:
        values = np.array([getattr(drive, quantity) for drive in known])
        return _per_joint(np.where(values > 0.0, values, assumed))

    return replace(
        group,
        rotor_inertia=said("rotor_inertia", np.array(group.per_joint("rotor_inertia"))),
        coulomb_friction=said("coulomb_friction", gears.coulomb * torques),
        viscous_friction=said("viscous_friction", gears.viscous * torques / no_load),
        gear_loss=gears.loss,
        gear_play=gears.play,
        full_torque_speed=_per_joint(_FULL * no_load),
        no_load_speed=_per_joint(no_load),
    )


def _per_joint(values: Iterable[float]) -> PerJoint:
    """Return values of three significant digits; one number where all joints have the same."""
    rounded = tuple(float(f"{value:.3g}") for value in values)
    return rounded[0] if len(set(rounded)) == 1 else rounded
