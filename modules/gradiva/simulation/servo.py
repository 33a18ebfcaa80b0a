"""What drives a joint: turns commands into the control of the engine's actuators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gradiva.common import ConfigError, NDArray

Joints = npt.NDArray[np.bool_] | slice  # which of the bank's joints
ALL = slice(None)


@dataclass(frozen=True, slots=True)
class ServoConfig:
    """Servos of all joints; the gains of the robot's description times these factors.

    Attributes:
        stiffness_scale: Of the position servos, [-].
        damping_scale: Of the position servos, [-].
        velocity_stiffness_scale: Integral gain of the velocity servos over the position servos' stiffness, [-].
        velocity_damping_scale: Proportional gain of the velocity servos over the position servos' damping, [-].
        delay: From the command to the servos, [s].
    """

    stiffness_scale: float
    damping_scale: float
    velocity_stiffness_scale: float
    velocity_damping_scale: float
    delay: float

    def __post_init__(self) -> None:
        for name in ("stiffness_scale", "velocity_stiffness_scale"):
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}: must be positive")
        for name in ("damping_scale", "velocity_damping_scale", "delay"):
            if getattr(self, name) < 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}: must not be negative")


@dataclass(frozen=True, slots=True, eq=False)
class ServoGains:
    """Torque = input_gain · control − stiffness · position − damping · velocity, one of each a joint.

    Attributes:
        input_gain: Shape (n,).
        stiffness: [N·m/rad], shape (n,).
        damping: [N·m·s/rad], shape (n,).
    """

    input_gain: NDArray
    stiffness: NDArray
    damping: NDArray


class Servo(Protocol):
    """A bank of servos, one a joint; those of joints that are in another mode idle."""

    @property
    def gains(self) -> ServoGains:
        """What the actuators compute, at each physics step and implicitly in the velocity."""
        ...

    def start(self, joint_positions: NDArray, joint_torques: NDArray, joints: Joints = ALL) -> None:
        """Take over ``joints`` from other servos without a jump of the torques; arrays of all joints, shape (n,)."""
        ...

    def command(self, values: NDArray, joints: Joints = ALL) -> None:
        """Take a new command for ``joints``; values of all joints, shape (n,)."""
        ...

    def control(self, joint_positions: NDArray, duration: float) -> NDArray:
        """Return the control of the next physics step of ``duration`` [s], shape (n,)."""
        ...


def spring(stiffness: NDArray, damping: NDArray) -> ServoGains:
    """Gains of a spring towards the control, and a damper."""
    return ServoGains(stiffness, stiffness, damping)


def no_spring(joints: int) -> ServoGains:
    """Gains with which the control is the torque."""
    return ServoGains(np.ones(joints), np.zeros(joints), np.zeros(joints))
