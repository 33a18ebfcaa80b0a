"""Drives of the simulated robot: rotors, friction, play of the gears, torque-speed limits, bandwidth of torque control.

The nominal values are those of the robot's description (`JointGroup`); each effect has a factor on them and a range,
from which it is drawn by a generator of its own.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gradiva.common import NDArray, configuration, setting
from gradiva.robot_model import RobotDescription
from gradiva.simulation.engine import mujoco
from gradiva.simulation.transport import DrawnValues, effect_generator

# Impedance: a torque of half the friction creeps by 2e-5 to 8e-4 rad/s; by a tenth of it at 0.999, in twice the time.
_STIFF = (0.99, 0.999, 0.001, 0.5, 2.0)

_NEVER = 1e9  # [rad/s] the no-load speed of a motor of which no curve is known


@configuration
class FrictionConfig:
    r"""Friction of the joints, seen after the gear:

    .. math:: f \left[ F_c \left( 1 + (r - 1) e^{-(\dot s / v_s)^2} \right) \mathrm{sign}\, \dot s + F_v \dot s \right]
              + l |\tau| \, \mathrm{sign}\, \dot s

    Attributes:
        coulomb: Factor on the description's Coulomb friction :math:`F_c`, [-].
        viscous: Factor on its viscous friction :math:`F_v`, [-].
        static_ratio: Friction at rest over that in motion, r, [-].
        stribeck_velocity: :math:`v_s`, [rad/s].
        gear_loss: Factor on the ``gear_loss`` of the description, whose product is l, [-].
        spread: Each joint's f is drawn between 1 / spread and spread, uniformly in its logarithm, [-].
    """

    coulomb: float = setting("-", least=0.0)
    viscous: float = setting("-", least=0.0)
    static_ratio: float = setting("-", least=1.0)
    stribeck_velocity: float = setting("rad/s", above=0.0)
    gear_loss: float = setting("-", least=0.0)
    spread: float = setting("-", least=1.0)

    def factors(self, joints: int, seed: int) -> NDArray:
        """Draw f of each joint, [-], shape (n,)."""
        return self.spread ** effect_generator(seed, "joint_friction").uniform(-1.0, 1.0, joints)


@configuration
class MotorConfig:
    """Limits of the motors and of torque control; delays, time constants and fractions of 0 switch each off.

    Attributes:
        speed_limits: Whether torques fall with the speed: constant up to ``full_torque_speed`` of the description,
            linear to nothing at ``no_load_speed``; full when braking.
        speed_scale: Factor on these speeds: that of the voltage, [-].
        torque_delay: From the torque command to the motor, [s].
        torque_time_constant: Of the first-order answer to it, [s].
        friction_compensation: Fraction of the description's friction that torque control adds, [-].
        compensation_time_constant: Of the low pass on this torque, [s].
    """

    speed_limits: bool
    speed_scale: float = setting("-", above=0.0)
    torque_delay: float = setting("s", least=0.0)
    torque_time_constant: float = setting("s", least=0.0)
    friction_compensation: float = setting("-", least=0.0)
    compensation_time_constant: float = setting("s", least=0.0)


class JointFriction:
    """Dry and viscous friction as constraint and damping of the engine, which can only take energy away.

    Attributes:
        factors: f of each joint, [-], shape (n,).
    """

    def __init__(self, config: FrictionConfig, description: RobotDescription, seed: int) -> None:
        """Draw the friction of each joint."""
        self._joints = description.joints
        self.factors = factors = config.factors(len(description.joints), seed)
        self._coulomb = config.coulomb * factors * description.per_joint("coulomb_friction")
        self._viscous = config.viscous * factors * description.per_joint("viscous_friction")
        self._excess = (config.static_ratio - 1.0) * self._coulomb
        self._per_speed = 1.0 / config.stribeck_velocity  # [s/rad]
        self._gear_loss = config.gear_loss * description.per_joint("gear_loss")
        self._varies = bool(self._excess.any() or self._gear_loss.any())

    def add_to(self, spec: mujoco.MjSpec, timestep: float) -> None:
        """Add it to the joints, beside what they have already; stiff, so that a joint that sticks does not creep."""
        for name, coulomb, viscous in zip(self._joints, self._coulomb, self._viscous, strict=True):
            joint = spec.joint(name)
            joint.frictionloss += coulomb
            joint.damping = [joint.damping[0] + viscous, 0.0, 0.0]
            joint.solref_friction = [2.0 * timestep, 1.0]
            joint.solimp_friction = _STIFF

    def bind(self, model: mujoco.MjModel) -> None:
        """Take the compiled model."""
        degrees = np.array([model.joint(joint).dofadr[0] for joint in self._joints])
        first = int(degrees[0])
        is_row = np.array_equal(degrees, np.arange(first, first + len(degrees)))
        self._degrees = slice(first, first + len(degrees)) if is_row else degrees
        self._losses = model.dof_frictionloss
        self._at_speed = self._losses[degrees].copy()  # what other friction there is included

    def apply(self, velocities: NDArray, torques: NDArray) -> None:
        """Set the dry friction of the next physics step.

        Args:
            velocities: Of the joints, [rad/s], shape (n,).
            torques: Of their drives, [N·m], shape (n,).
        """
        if not self._varies:
            return
        dry = velocities * self._per_speed
        np.multiply(dry, dry, out=dry)
        np.exp(np.negative(dry, out=dry), out=dry)
        dry *= self._excess
        dry += self._at_speed
        dry += self._gear_loss * np.abs(torques)
        self._losses[self._degrees] = dry


class MotorLimits:
    """Limits of the motors' torques: their peaks, and what the speed leaves of them.

    Attributes:
        limits: Lowest and highest torque of each joint, [N·m], shape (n, 2).
    """

    def __init__(self, config: MotorConfig, description: RobotDescription, model: mujoco.MjModel) -> None:
        """Take the peaks of the model's actuators."""
        self._model = model
        self.limits: NDArray = model.actuator_forcerange.copy()
        self._peaks = self.limits[:, 1].copy()
        no_load = config.speed_scale * description.per_joint("no_load_speed")
        self._is_on = config.speed_limits and bool(no_load.any())
        self._no_load = np.where(no_load > 0.0, no_load, _NEVER)
        full = config.speed_scale * description.per_joint("full_torque_speed")
        self._full = np.where(no_load > 0.0, full, _NEVER)
        self._slope = 1.0 / (self._no_load - full)
        self._is_cut = False  # whether a limit is below its peak

    def apply(self, velocities: NDArray) -> None:
        """Set the limits of the next physics step, at the joints' ``velocities`` [rad/s], shape (n,)."""
        if not self._is_on:
            return
        speeds = np.abs(velocities)
        if not (speeds > self._full).any():
            if self._is_cut:
                self._set(self._peaks, self._peaks, is_cut=False)
            return
        left = (self._no_load - speeds) * self._slope
        driving = self._peaks * np.minimum(np.maximum(left, 0.0), 1.0)
        forward, backward = velocities > 0.0, velocities < 0.0
        self._set(np.where(forward, driving, self._peaks), np.where(backward, driving, self._peaks), is_cut=True)

    def _set(self, highest: NDArray, largest_backward: NDArray, is_cut: bool) -> None:
        self.limits[:, 1] = highest
        np.negative(largest_backward, out=self.limits[:, 0])
        self._model.actuator_forcerange[:] = self.limits
        self._is_cut = is_cut


class TorqueResponse:
    r"""Answer of the motors to torque commands: a delay, then first order, and the friction that the boards compensate.

    .. math:: \tau = \frac{e^{-p T_d}}{1 + p T} \tau^* + \frac{c}{1 + p T_c} (F_c \tanh(\dot s / v) + F_v \dot s)
    """

    _SPEED = 0.05  # [rad/s] v: below it stiction stays, as the firmware adds no friction there

    def __init__(self, config: MotorConfig, description: RobotDescription) -> None:
        """Take the nominal friction, which is what the boards know."""
        self._config = config
        self._coulomb = config.friction_compensation * description.per_joint("coulomb_friction")
        self._viscous = config.friction_compensation * description.per_joint("viscous_friction")
        self._is_compensating = bool(self._coulomb.any() or self._viscous.any())
        self._waiting: deque[NDArray] = deque()
        joints = len(description.joints)
        self._torques, self._friction = np.zeros((2, joints))
        self._positions: NDArray | None = None

    def start(self, torques: NDArray, joints: npt.NDArray[np.bool_] | slice) -> None:
        """Begin at these torques, [N·m], shape (n,), in some of the joints."""
        self._torques = self._torques.copy()
        for past in (*self._waiting, self._torques):
            past[joints] = torques[joints]
        self._friction[joints] = 0.0
        self._positions = None

    def torques(self, commanded: NDArray, joint_positions: NDArray, duration: float) -> NDArray:
        """Return the motors' torques in the next physics step of ``duration`` [s]: [N·m], shape (n,).

        Args:
            commanded: [N·m], shape (n,).
            joint_positions: Of the motors, [rad], shape (n,).
            duration: [s].
        """
        arrived = self._delayed(commanded, duration)
        answered = _fraction(duration, self._config.torque_time_constant)
        self._torques = arrived if answered == 1.0 else self._torques + answered * (arrived - self._torques)
        if not self._is_compensating or duration == 0.0:
            return self._torques
        before = joint_positions if self._positions is None else self._positions
        velocities, self._positions = (joint_positions - before) / duration, joint_positions.copy()
        friction = self._coulomb * np.tanh(velocities / self._SPEED) + self._viscous * velocities
        self._friction += _fraction(duration, self._config.compensation_time_constant) * (friction - self._friction)
        return self._torques + self._friction

    def _delayed(self, commanded: NDArray, duration: float) -> NDArray:
        steps = round(self._config.torque_delay / duration) if duration > 0.0 else 0
        if steps == 0:
            return commanded
        if not self._waiting:
            self._waiting.extend(self._torques.copy() for _ in range(steps))
        self._waiting.append(commanded.copy())
        return self._waiting.popleft()


def _fraction(duration: float, time_constant: float) -> float:
    """Return the part of a step that a first-order lag answers to within ``duration`` [s]."""
    return 1.0 if time_constant == 0.0 else -math.expm1(-duration / time_constant)


def rotor_factors(spread: float, count: int, seed: int) -> NDArray:
    """Draw the factors on the rotors' inertias, uniformly within 1 ± ``spread``, [-], shape (count,)."""
    return 1.0 + spread * effect_generator(seed, "rotor_inertia").uniform(-1.0, 1.0, count)


def add_play(spec: mujoco.MjSpec, description: RobotDescription, plays: NDArray, timestep: float) -> None:
    """Let each joint's link turn within the play of its gear: a second hinge about the same axis, with ends.

    The first hinge has the rotor, the servo, the friction and the encoder; the second one is free.

    Args:
        spec: Of the engine's model.
        description: Of the robot.
        plays: From end to end, [rad], shape (n,).
        timestep: Of the physics, [s].
    """
    for name, play in zip(description.joints, plays.tolist(), strict=True):
        if play > 0.0:
            joint = spec.joint(name)
            joint.parent.add_joint(
                name=f"{name}_play",
                type=mujoco.mjtJoint.mjJNT_HINGE,
                axis=joint.axis,
                range=[-0.5 * play, 0.5 * play],
                limited=mujoco.mjtLimited.mjLIMITED_TRUE,
                solref_limit=[2.0 * timestep, 1.0],
            )


def play_of(factor: float, spread: float, description: RobotDescription, seed: int) -> NDArray:
    """Draw the joints' plays, uniformly within 1 ± ``spread`` of ``factor`` times the description's, [rad], (n,)."""
    draws = effect_generator(seed, "gear_play").uniform(-1.0, 1.0, len(description.joints))
    return factor * (1.0 + spread * draws) * description.per_joint("gear_play")


def drawn_friction(friction: JointFriction, config: FrictionConfig, joints: Sequence[str]) -> DrawnValues:
    """Return the factors of the joints' friction; their fractions are those of the logarithm."""
    reach = math.log(config.spread)
    exponents = DrawnValues.within("friction factor", "-", joints, np.log(friction.factors), reach)
    return replace(exponents, values=np.exp(exponents.values))


def drawn_play(factor: float, spread: float, description: RobotDescription, seed: int) -> DrawnValues:
    """Return the play of the joints' gears; see ``play_of``."""
    nominal = factor * description.per_joint("gear_play")
    excess = play_of(factor, spread, description, seed) - nominal
    drawn = DrawnValues.within("gear play", "rad", description.joints, excess, spread * nominal)
    has_play = spread * nominal > 0.0
    return replace(drawn, values=drawn.values + nominal[has_play])
