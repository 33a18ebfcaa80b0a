"""Servos that turn commands of position, velocity or torque into the control of the engine's actuators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gradiva.common import (
    ControlMode,
    JointCommand,
    NDArray,
    RobotInterfaceError,
    configuration,
    freeze_arrays,
    setting,
    unchecked,
)
from gradiva.robot_model import RobotDescription, ServoLaw
from gradiva.simulation.drives import MotorConfig, TorqueResponse
from gradiva.simulation.engine import mujoco

Joints = npt.NDArray[np.bool_] | slice  # which of the bank's joints
ALL = slice(None)
Modes = tuple[ControlMode, ...]


@configuration
class ServoConfig:
    """Servos of all joints; the gains of the robot's description times these factors.

    Attributes:
        stiffness_scale: Of the position servos, [-].
        velocity_feedforward: Fraction of the damping that acts on the velocity's error, not on the velocity, [-].
        delay: From the command to the servos, [s].
    """

    stiffness_scale: float = setting("-", above=0.0)
    velocity_feedforward: float = setting("-", least=0.0)
    delay: float = setting("s", least=0.0)


@dataclass(frozen=True, slots=True, eq=False)
class MixedCommand:
    """One command for all joints, in the order of the robot's description.

    Attributes:
        modes: What each of ``values`` is, shape (n,).
        values: Joint positions [rad], velocities [rad/s] or torques [N·m], shape (n,).
    """

    modes: tuple[ControlMode, ...]
    values: NDArray

    def __post_init__(self) -> None:
        freeze_arrays(self, values=(None,))
        if len(self.modes) != len(self.values):
            raise RobotInterfaceError(f"{len(self.modes)} modes for {len(self.values)} values")

    @classmethod
    def of(cls, command: JointCommand) -> MixedCommand:
        """Return a command of all joints in one mode as such."""
        return unchecked(cls, modes=(command.mode,) * len(command.values), values=command.values)


class Servo(Protocol):
    """A bank of servos, one a joint; those of joints that are in another mode idle."""

    @property
    def gains(self) -> ServoGains:
        """Gains of the actuators, which act at each physics step and implicitly in the velocity."""
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


_LONGEST_INTERVAL = 0.05  # [s] references that are farther apart have no velocity


class PositionServo:
    r"""PID control of the position as on the robot's boards, with the velocity of the reference fed forward.

    .. math:: \tau = (k_p - k_v) (s^* - s) + k_d (\beta v^* - \dot s)
                     + \int k_i (s^* - s) + k_v (\beta v^* - \dot s)\, dt

    with the velocity of the reference :math:`v^* = (s^*_k - s^*_{k-1}) / (t_k - t_{k-1})`, held for as long; an
    interval counts as half the one before at least, or a packet behind a late one would be a jump. A velocity loop
    :math:`\tau = k_d e + k_v \int e`, :math:`e = k_x (s^* - s) + \beta v^* - \dot s` below a position gain
    :math:`k_x` is this law with :math:`k_p = k_d k_x + k_v` and :math:`k_i = k_v k_x`; a motor whose voltage is P and I
    has its back-EMF as damping, and :math:`\beta = 0`.

    ==============  ==========================  ============
    Symbol          Field                       Unit
    ==============  ==========================  ============
    :math:`s^*`     last command                rad
    :math:`k_p`     ``stiffness``               N·m/rad
    :math:`k_d`     ``damping``                 N·m·s/rad
    :math:`\beta`   ``velocity_feedforward``    -
    :math:`k_i`     ``integral_gain``           N·m/(rad·s)
    :math:`k_v`     ``velocity_stiffness``      N·m/rad
    ==============  ==========================  ============

    The integral is kept within ``integral_limit`` [N·m]. Other gains than the robot's scale it with the stiffness.
    """

    def __init__(self, law: ServoLaw) -> None:
        self._law = law
        self._stiffness = law.stiffness
        self._gains = spring(law.stiffness, law.damping)
        self._integrates = bool(np.any(law.integral_gain) or np.any(law.velocity_stiffness))
        self._per_velocity = law.velocity_feedforward * law.damping / law.stiffness
        self._rate = law.integral_gain / law.stiffness  # of the integral, here and below over the stiffness, [1/s]
        self._fraction = law.velocity_stiffness / law.stiffness
        self._reach = law.integral_limit / law.stiffness  # [rad]
        self._target, self._velocity, self._integral = np.zeros((3, len(law.stiffness)))
        self._has_target = np.zeros(len(law.stiffness), dtype=bool)
        self._age = self._interval = 0.0  # [s] of the last command; from the one before it to it

    @property
    def gains(self) -> ServoGains:
        """A spring and a damper."""
        return self._gains

    @property
    def target(self) -> NDArray:
        """Target positions, [rad], shape (n,)."""
        return self._target.copy()

    def set_gains(self, stiffness: NDArray, damping: NDArray) -> None:
        """Take other gains, [N·m/rad] and [N·m·s/rad]; the target stays."""
        self._stiffness = stiffness
        self._gains = spring(stiffness, damping)
        self._per_velocity = self._law.velocity_feedforward * damping / stiffness

    def start(self, joint_positions: NDArray, joint_torques: NDArray, joints: Joints = ALL) -> None:
        """Hold the torques until the first command, at joints at rest: by the integral, else by the target."""
        deflection = joint_torques / self._stiffness
        held = np.clip(deflection, -self._reach, self._reach) if self._integrates else 0.0 * deflection
        self._target[joints] = (joint_positions + (deflection - held) / (1.0 - self._fraction))[joints]
        self._integral[joints] = (held + self._fraction * joint_positions)[joints]
        self._velocity[joints] = 0.0
        self._has_target[joints] = False

    def command(self, values: NDArray, joints: Joints = ALL) -> None:
        """Take target positions, [rad]."""
        moved = self._has_target[joints] & (0.0 < self._age <= _LONGEST_INTERVAL)
        interval = max(self._age, 0.5 * self._interval, 1e-9)
        self._velocity[joints] = np.where(moved, (values - self._target)[joints] / interval, 0.0)
        self._target[joints] = values[joints]
        self._has_target[joints] = True
        self._interval, self._age = interval if interval <= _LONGEST_INTERVAL else 0.0, 0.0

    def control(self, joint_positions: NDArray, duration: float) -> NDArray:
        """Return the position at which the spring alone would be at rest, [rad]."""
        self._age += duration
        if self._age > self._interval + 0.5 * duration:
            self._velocity[:] = 0.0
        if not self._integrates:
            return self._target + self._per_velocity * self._velocity
        fed = self._law.velocity_feedforward * self._velocity
        self._integral += duration * (self._rate * (self._target - joint_positions) + self._fraction * fed)
        middle = self._fraction * joint_positions
        self._integral = np.minimum(np.maximum(self._integral, middle - self._reach), middle + self._reach)
        return (1.0 - self._fraction) * self._target + self._per_velocity * self._velocity + self._integral


class VelocityServo:
    r"""Proportional-integral control of the velocity, its integral kept within the torque limits.

    .. math:: \tau = k_d (\beta v^* - \dot s) + k_p \int (v^* - \dot s) dt = k_p (u - s) - k_d \dot s, \qquad
        u = \int v^* dt + \beta \frac{k_d}{k_p} v^*

    so that the damping term can be integrated implicitly. The spring :math:`k_p (\int v^* dt - s)` never
    exceeds the torque limit: beyond it the integral follows the joint.

    ==============  ========================  ===========
    Symbol          Field                     Unit
    ==============  ========================  ===========
    :math:`v^*`     last command              rad/s
    :math:`k_p`     ``stiffness``             N·m/rad
    :math:`k_d`     ``damping``               N·m·s/rad
    :math:`\beta`   ``feedforward``           -
    ==============  ========================  ===========
    """

    def __init__(self, stiffness: NDArray, damping: NDArray, torque_limits: NDArray, feedforward: float = 1.0) -> None:
        self._stiffness = stiffness
        self._gains = spring(stiffness, damping)
        self._lead = feedforward * damping / stiffness
        self._reach = torque_limits / stiffness
        self._integral = 0.0 * stiffness
        self._velocity = 0.0 * stiffness

    @property
    def gains(self) -> ServoGains:
        """A spring and a damper."""
        return self._gains

    def start(self, joint_positions: NDArray, joint_torques: NDArray, joints: Joints = ALL) -> None:
        """Hold the torques until the first command, at joints at rest."""
        self._integral[joints] = (joint_positions + joint_torques / self._stiffness)[joints]
        self._velocity[joints] = 0.0

    def command(self, values: NDArray, joints: Joints = ALL) -> None:
        """Take target velocities, [rad/s]."""
        self._velocity[joints] = values[joints]

    def control(self, joint_positions: NDArray, duration: float) -> NDArray:
        """Return u at the end of the step, [rad]."""
        moved = self._integral + duration * self._velocity
        low, high = joint_positions - self._reach, joint_positions + self._reach
        self._integral = np.minimum(np.maximum(moved, low), high)
        return self._integral + self._lead * self._velocity


class TorqueServo:
    """The torque is the command as the motors answer to it, clamped; all joints' commands start as the torques held."""

    def __init__(self, joints: int, response: TorqueResponse | None = None) -> None:
        self._gains = no_spring(joints)
        self._response = response
        self._torques = self._gains.damping.copy()

    @property
    def gains(self) -> ServoGains:
        """No spring, no damper."""
        return self._gains

    def start(self, joint_positions: NDArray, joint_torques: NDArray, joints: Joints = ALL) -> None:
        """Hold the torques until the first command."""
        self._torques[joints] = joint_torques[joints]
        if self._response is not None:
            self._response.start(joint_torques, joints)

    def command(self, values: NDArray, joints: Joints = ALL) -> None:
        """Take torques, [N·m]."""
        self._torques[joints] = values[joints]

    def control(self, joint_positions: NDArray, duration: float) -> NDArray:
        """Return the torques, [N·m]."""
        if self._response is None:
            return self._torques
        return self._response.torques(self._torques, joint_positions, duration)


def spring(stiffness: NDArray, damping: NDArray) -> ServoGains:
    """Gains of a spring towards the control, and a damper."""
    return ServoGains(stiffness, stiffness, damping)


def no_spring(joints: int) -> ServoGains:
    """Gains with which the control is the torque."""
    return ServoGains(np.ones(joints), np.zeros(joints), np.zeros(joints))


class ServoBank:
    """Servos of each mode; switches the engine's actuators between them without a jump of the torques."""

    def __init__(
        self, description: RobotDescription, config: ServoConfig, motors: MotorConfig, model: mujoco.MjModel
    ) -> None:
        law = ServoLaw.of(description).scaled(config.stiffness_scale)
        stiffness, damping = description.per_joint("stiffness"), description.per_joint("damping")
        self._model = model
        self._position = PositionServo(law)
        self._servos: dict[ControlMode, Servo] = {
            ControlMode.POSITION: self._position,
            ControlMode.VELOCITY: VelocityServo(
                stiffness,
                damping,
                model.actuator_forcerange[:, 1],
                config.velocity_feedforward,
            ),
            ControlMode.TORQUE: TorqueServo(len(stiffness), TorqueResponse(motors, description)),
        }
        self._modes: Modes = ()
        self._active: tuple[tuple[Servo, Joints], ...] = ()

    def hold(self, modes: Modes, joint_positions: NDArray, joint_torques: NDArray) -> None:
        """Enter the joints' modes with the present torques, [N·m]; a joint that is in its mode goes on as it was."""
        is_new = np.array(
            [mode is not before for mode, before in zip(modes, self._modes or (None,) * len(modes), strict=True)]
        )
        of_mode = {mode: np.array([one is mode for one in modes]) for mode in self._servos}
        for mode, servo in self._servos.items():
            if (of_mode[mode] & is_new).any():
                servo.start(joint_positions, joint_torques, of_mode[mode] & is_new)
        self._modes = modes
        self._active = tuple(
            (servo, ALL if of_mode[mode].all() else of_mode[mode])
            for mode, servo in self._servos.items()
            if of_mode[mode].any()
        )
        self._set_gains()

    def command(self, command: MixedCommand, joint_positions: NDArray, joint_torques: NDArray) -> None:
        """Obey a command, first entering its modes."""
        if command.modes != self._modes:
            self.hold(command.modes, joint_positions, joint_torques)
        for servo, joints in self._active:
            servo.command(command.values, joints)

    def control(self, joint_positions: NDArray, duration: float) -> NDArray:
        """Return the control of the next physics step of ``duration`` [s], shape (n,)."""
        if len(self._active) == 1:
            return self._active[0][0].control(joint_positions, duration)
        control = np.empty_like(joint_positions)
        for servo, joints in self._active:
            control[joints] = servo.control(joint_positions, duration)[joints]
        return control

    @property
    def position_targets(self) -> NDArray:
        """Targets of the position servos, [rad], shape (n,); means nothing for joints in other modes."""
        return self._position.target

    @property
    def position_gains(self) -> tuple[NDArray, NDArray]:
        """Stiffness [N·m/rad] and damping [N·m·s/rad] of the position servos, shape (n,) each."""
        return self._position.gains.stiffness, self._position.gains.damping

    def set_position_gains(self, stiffness: NDArray, damping: NDArray) -> None:
        """Change the position servos: stiffness [N·m/rad], damping [N·m·s/rad], shape (n,) each; targets stay."""
        self._position.set_gains(stiffness, damping)
        self._set_gains()

    def _set_gains(self) -> None:
        for servo, joints in self._active:
            gains = servo.gains
            self._model.actuator_gainprm[joints, 0] = gains.input_gain[joints]
            self._model.actuator_biasprm[joints, 1] = -gains.stiffness[joints]
            self._model.actuator_biasprm[joints, 2] = -gains.damping[joints]
