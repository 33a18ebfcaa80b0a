r"""The estimated state (base, CoM, DCM, ZMP, feet) is one function of the sensors and of the pose of the stance sole.

With :math:`{}^B p_S, {}^B R_S, {}^B v_S, {}^B \omega_S` the stance sole relative to the base (from the encoders) and
its pose :math:`p_S, R_S` in world known and constant:

.. math::
    R_B &= R_S {}^B R_S^\top, & \omega_B &= -R_B {}^B \omega_S, \\
    p_B &= p_S - R_B {}^B p_S, & \dot p_B &= -R_B {}^B v_S - \omega_B \times R_B {}^B p_S.

With an IMU on a frame :math:`M` of the robot, roll, pitch and :math:`\omega_B` come from the IMU and only the
heading from the stance sole. The IMU's own heading beyond that is how far the sole turned on the ground. From the
sample of the IMU, :math:`t_M`, to a newer one of the joints, :math:`t_J`, the base turns as the joints turn it, on a
sole that goes on turning as it did:

.. math:: \omega_B(t_J) = \omega_B(t_M) - R_B \left( {}^B \omega_S(t_J) - {}^B \omega_S(t_M) \right).

Where pose and twist of the base are measured, none of this is needed. Feet, CoM, DCM
:math:`\xi = x + \dot x / \zeta` and foot wrenches follow, and the ZMP (thesis equation 7.2.21) of both feet,

.. math:: z = \frac{\sum_k f_{z,k} p_k + [-\mu_{y,k}, \mu_{x,k}]}{\sum_k f_{z,k}},

without what the sensor of a swinging foot measures of its own inertia: a sensor above the foot feels some newtons, far
from the stance foot. Measured velocities, of joints and base alike, pass one low pass, that of the CoM another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

import casadi as cs
import numpy as np
import numpy.typing as npt

from gradiva.common import EstimationError, Measurement, NDArray, PlanarPose, RobotState, Side, WalkingReference
from gradiva.robot_model import (
    Compiler,
    FlatFunction,
    IdynTreeModel,
    SymbolicDynamics,
    SymbolicFrame,
    symbolic_exp,
    symbolic_rotation_z,
)

CONSTANTS = (
    "velocity_time_constant",
    "com_velocity_time_constant",
    "zmp_time_constant",
    "minimum_load",
    "swing_force",
)
"""Inputs that are configured, see ``StateEstimatorConfig``; to ``swing_force`` [N] a swinging foot carries nothing."""


class BaseSource(StrEnum):
    """Source of pose and twist of the base."""

    ODOMETRY = "odometry"
    MEASURED = "measured"


@dataclass
class _Base:
    """Pose and twist of the base in world."""

    position: cs.SX
    rotation: cs.SX
    velocity: cs.SX
    angular_velocity: cs.SX
    heading_over_imu: cs.SX
    attitude: cs.SX

    def point(self, position_in_base: cs.SX) -> cs.SX:
        """Return where a point of the base's axes is (world, [m], (3, 1))."""
        return self.position + self.rotation @ position_in_base

    def point_velocity(self, position_in_base: cs.SX, velocity_in_base: cs.SX) -> cs.SX:
        """Return the velocity (world, [m/s], (3, 1)) of a point that also moves in the base's axes."""
        lever = self.rotation @ position_in_base
        spin = cs.cross(self.angular_velocity, lever)
        return self.velocity + spin + self.rotation @ velocity_in_base

    def frame_twist(self, frame: SymbolicFrame) -> cs.SX:
        """Return the twist (mixed: linear, then angular, world, (6, 1)) of a frame given in the base's axes."""
        velocity = self.point_velocity(frame.position, frame.twist[:3])
        return cs.vertcat(velocity, self.angular_velocity + self.rotation @ frame.twist[3:])


def state_function(model: IdynTreeModel, source: BaseSource, compiler: Compiler) -> FlatFunction:
    """Return the function; its inputs and outputs are named as in ``StateEstimator`` and ``OdometryBase``."""
    robot, memory = SymbolicDynamics(model, floating=False), Memory()
    inputs = _inputs(model)
    gain = symbolic_low_pass_gain(inputs["velocity_time_constant"], inputs["period"])
    measured = cs.vertcat(inputs["joint_velocities"], inputs["measured_flexible_velocities"])
    velocities = _filtered(memory, "joint_velocities", measured, gain)
    if source is BaseSource.MEASURED:
        base, of_base = _measured_base(memory, gain)
    else:
        base, of_base = _base_by_stance(robot, memory, gain, inputs["velocities_since_imu"])
    encoders = inputs["joint_velocities"].numel()
    outputs = {"joint_velocities": velocities[:encoders], "flexible_velocities": velocities[encoders:]}
    outputs |= _motion(robot, base, inputs["contact_wrenches"])
    outputs |= _centre_of_mass(robot, base, inputs, memory)
    outputs |= measured_zmp(inputs, outputs, memory)
    outputs |= {"heading_over_imu": base.heading_over_imu, "attitude": base.attitude, "memory": memory.output}
    inputs |= of_base | {"memory": memory.input}
    positions = cs.vertcat(inputs["joint_positions"], inputs["flexible_positions"])
    joints = [robot.joint_positions, robot.joint_velocities]
    results = cs.substitute(list(outputs.values()), joints, [positions, velocities])
    outputs = dict(zip(outputs, results, strict=True))
    return FlatFunction(f"state_estimate_{model.description.name}", inputs, outputs, compiler)


def _inputs(model: IdynTreeModel) -> dict[str, cs.SX]:
    """Return the symbols of what is measured whatever places the base, of the plan, and of the configuration."""
    sensors, joints = len(model.description.force_torque_sensors), len(model.description.measured)
    flexible = len(model.description.joints) - joints
    numbers = (
        "period",
        "natural_frequency",
        "velocity_lag",
        "wrench_lag",
        "zmp_lag",
        *(f"{side}_in_contact" for side in Side),
        *CONSTANTS,
    )
    return {
        "joint_positions": cs.SX.sym("measured_joint_positions", joints),
        "flexible_positions": cs.SX.sym("flexible_positions", flexible),
        "joint_velocities": cs.SX.sym("measured_joint_velocities", joints),
        "measured_flexible_velocities": cs.SX.sym("measured_flexible_velocities", flexible),
        "velocities_since_imu": cs.SX.sym("velocities_since_imu", joints),
        "contact_wrenches": cs.SX.sym("contact_wrenches", sensors, 6),
        "contact_normal": cs.SX.sym("contact_normal", 3),
        "commanded_zmp": cs.SX.sym("commanded_zmp", 2),
        **{name: cs.SX.sym(name) for name in numbers},
    }


def _motion(robot: SymbolicDynamics, base: _Base, readings: cs.SX) -> dict[str, cs.SX]:
    """Return base and feet."""
    outputs = {
        "base_position": base.position,
        "base_rotation": base.rotation,
        "base_twist": cs.vertcat(base.velocity, base.angular_velocity),
    }
    for side in Side:
        foot = robot.frame(robot.model.description.foot_frame(side))
        outputs[f"{side}_foot_position"] = base.point(foot.position)
        outputs[f"{side}_foot_rotation"] = base.rotation @ foot.rotation
        outputs[f"{side}_foot_twist"] = base.frame_twist(foot)
        outputs[f"{side}_foot_wrench"] = _foot_wrench(robot, base, readings, side, foot)
    return outputs


def _centre_of_mass(robot: SymbolicDynamics, base: _Base, inputs: dict[str, cs.SX], memory: Memory) -> dict[str, cs.SX]:
    r"""Return CoM and DCM; by what a velocity lags is brought to the present by the pendulum above the commanded ZMP.

    The commanded one, for what is measured of the ZMP lags as well. A velocity of age a lags behind the low pass F, of
    gain g a tick, by further :math:`b = \Delta (1 - g) / g`. This is a complementary filter:

    .. math:: \dot{\hat x} = F [\dot x + (a + b) \, \omega^2 (x - z_{commanded})]

    Slower than T velocities count, with their noise :math:`\sigma`, faster the pendulum, with its own error of
    :math:`\omega^2 \delta` for a ZMP off by :math:`\delta`. The sum of their squares is least where

    .. math:: T^3 = \sigma^2 \Delta / 4 \omega^4 \delta^2, \qquad \sigma^2 \Delta / 2 T + (\omega^2 \delta T)^2 \to \min

    of 15 mm/s and 4.3 rad/s at 0.03 s with 8 mm and ticks of 10 ms, at 0.02 s with 5 mm and 1 ms, by torque.
    """
    gain = symbolic_low_pass_gain(inputs["com_velocity_time_constant"], inputs["period"])
    position = base.point(robot.com_position)
    velocity = base.point_velocity(robot.com_position, robot.com_velocity)
    behind = cs.if_else(gain < 1.0, inputs["period"] * (1.0 - gain) / gain, 0.0)  # nothing at the first tick
    pull = (inputs["velocity_lag"] + behind) * inputs["natural_frequency"] ** 2
    velocity[:2] += pull * (position[:2] - inputs["commanded_zmp"])
    velocity = _filtered(memory, "com_velocity", velocity, gain)
    dcm = position[:2] + velocity[:2] / inputs["natural_frequency"]
    return {"com_position": position, "com_velocity": velocity, "dcm_position": dcm}


def _filtered(memory: Memory, name: str, sample: cs.SX, gain: cs.SX) -> cs.SX:
    """Return the output of a low pass that remembers its last one."""
    value = low_passed(memory.last(name, sample.numel()), sample, gain)
    memory.keep(value)
    return value


def _measured_base(memory: Memory, gain: cs.SX) -> tuple[_Base, dict[str, cs.SX]]:
    """Return the base and the inputs that place it; a twist of another age than the joints' would move the feet."""
    position, rotation = cs.SX.sym("measured_position", 3), cs.SX.sym("measured_rotation", 3, 3)
    measured = cs.SX.sym("measured_twist", 6)
    twist = _filtered(memory, "twist", measured, gain)
    base = _Base(position, rotation, twist[:3], twist[3:], heading_over_imu=cs.SX(1, 1), attitude=cs.SX(3, 3))
    return base, {"measured_position": position, "measured_rotation": rotation, "measured_twist": measured}


class MeasuredBase:
    """The base is where a simulator or a motion capture says; the world is theirs, and the plan's as well."""

    plan_origin = PlanarPose()

    def reset(self) -> None:
        """Do nothing: there is nothing to forget."""

    def inputs(
        self, measurement: Measurement, reference: WalkingReference, last: RobotState | None
    ) -> dict[str, npt.ArrayLike]:
        """See ``OdometryBase.inputs``."""
        base = measurement.base
        if base is None:
            raise EstimationError(
                'nothing measures the base; state_estimator.base="odometry" needs no such measurement'
            )
        values: dict[str, npt.ArrayLike] = {
            "measured_position": base.position,
            "measured_rotation": base.rotation,
            "measured_twist": base.twist,
        }
        if not all(np.isfinite(value).all() for value in (base.position, base.rotation, base.twist)):
            raise EstimationError(f"the measured base is not finite at {measurement.time:.3f} s")
        return values

    def learn(self, outputs: Mapping[str, NDArray], measurement: Measurement) -> None:
        """Do nothing: the measured base is not corrected."""


def _base_by_stance(
    robot: SymbolicDynamics, memory: Memory, gain: cs.SX, since_imu: cs.SX
) -> tuple[_Base, dict[str, cs.SX]]:
    """Return the base and the inputs that place it."""
    description = robot.model.description
    feet = {side: robot.frame(description.foot_frame(side)) for side in Side}
    inputs = {
        "left_is_stance": cs.SX.sym("left_is_stance"),
        "stance_position": cs.SX.sym("stance_position", 3),
        "stance_rotation": cs.SX.sym("stance_rotation", 3, 3),
        "use_imu": cs.SX.sym("use_imu"),
        **attitude_inputs(),
    }
    rate = _imu_rate(inputs, memory, gain)
    change = _filtered(memory, "velocities_since_imu", since_imu, gain)
    change = cs.vertcat(change, cs.SX.zeros(len(description.joints) - change.numel()))
    return _base_on_stance_sole(robot, inputs, rate, change, feet), inputs


def _imu_rate(inputs: dict[str, cs.SX], memory: Memory, gain: cs.SX) -> cs.SX:
    """Return the low-passed angular velocity of the IMU in its own axes; its first one passes."""
    last, use_imu = memory.last("imu_rate", 3), inputs["use_imu"]
    was_used = memory.last("imu_was_used")
    rate = low_passed(last, inputs["imu_rate"], cs.if_else(was_used > 0.5, gain, 1.0))
    memory.keep(cs.if_else(use_imu > 0.5, rate, last))
    memory.keep(cs.fmax(was_used, use_imu))
    return rate


def _base_on_stance_sole(
    robot: SymbolicDynamics,
    inputs: dict[str, cs.SX],
    imu_rate: cs.SX,
    change: cs.SX,
    feet: dict[Side, SymbolicFrame],
) -> _Base:
    """Return the base; joint velocities are by ``change`` newer than the rate of the IMU, (n, 1)."""
    left, imu = inputs["left_is_stance"], robot.frame(robot.model.description.imu_frame)

    def of_stance(quantity: str) -> cs.SX:
        return left * getattr(feet[Side.LEFT], quantity) + (1 - left) * getattr(feet[Side.RIGHT], quantity)

    sole_position, sole_rotation, sole_twist = (of_stance(q) for q in ("position", "rotation", "twist"))
    by_sole = inputs["stance_rotation"] @ sole_rotation.T
    attitude = filtered_attitude(inputs)
    by_imu = attitude @ imu.rotation.T
    use_imu = inputs["use_imu"]
    rotation = cs.if_else(use_imu > 0.5, _heading_between(by_imu, by_sole) @ by_imu, by_sole)
    since = cs.substitute(imu.twist[3:] - sole_twist[3:], robot.joint_velocities, change)
    rate_of_imu = imu.rotation @ imu_rate - imu.twist[3:] + since
    rate_in_base = cs.if_else(use_imu > 0.5, rate_of_imu, -sole_twist[3:])
    angular_velocity = rotation @ rate_in_base
    lever = rotation @ sole_position
    return _Base(
        position=inputs["stance_position"] - lever,
        rotation=rotation,
        velocity=-rotation @ sole_twist[:3] - cs.cross(angular_velocity, lever),
        angular_velocity=angular_velocity,
        heading_over_imu=_heading_angle(by_imu, by_sole),
        attitude=attitude,
    )


def _heading_between(source: cs.SX, target: cs.SX) -> cs.SX:
    """Return the rotation about the vertical that brings ``source`` as near to ``target`` as one can."""
    return symbolic_rotation_z(_heading_angle(source, target))


def _heading_angle(source: cs.SX, target: cs.SX) -> cs.SX:
    """Return the angle of that rotation, [rad]."""
    difference = target @ source.T
    return cs.atan2(difference[1, 0] - difference[0, 1], difference[0, 0] + difference[1, 1])


def _foot_wrench(robot: SymbolicDynamics, base: _Base, readings: cs.SX, side: Side, foot: SymbolicFrame) -> cs.SX:
    """Return the sum of the sensors of one foot: world axes, about the sole origin."""
    description = robot.model.description
    total = cs.SX(6, 1)
    for row in description.sensors_of(side):
        sensor = robot.frame(description.force_torque_sensors[row].frame)
        force = base.rotation @ sensor.rotation @ readings[row, :3].T
        moment = base.rotation @ sensor.rotation @ readings[row, 3:].T
        lever = base.rotation @ (sensor.position - foot.position)
        total += cs.vertcat(force, moment + cs.cross(lever, force))
    return total


def measured_zmp(inputs: dict[str, cs.SX], feet: dict[str, cs.SX], memory: Memory) -> dict[str, cs.SX]:
    r"""Return the low-passed ZMP, of wrenches without load the last one, and what completes it, world, (2, 1) each.

    Wrenches lag, behind a low pass of the robot or because they are old; and old ones pass a low pass that is longer
    than that of the ZMP, :math:`F_z` instead of :math:`F_0`. What their lag :math:`F_w` and the longer low pass take
    off the commanded ZMP is added, a complementary filter: only the error of the ZMP lags more.

    .. math:: z = F_z [z_{measured} + (1 - F_w) z_{commanded}] + (F_0 - F_z) z_{commanded}

    A robot that never stood has no ZMP: the point below its CoM is as good as any.
    """
    load, moment = _load_and_moment(inputs, feet)
    commanded, lags = inputs["commanded_zmp"], ("wrench_lag", "zmp_time_constant", "zmp_lag")
    arrived, smooth, slow = _commanded_behind(lags, inputs, memory)
    completion, lead = commanded - arrived, smooth - slow
    last, was_loaded = memory.last("zmp", 2), memory.last("was_loaded")
    is_loaded = load >= inputs["minimum_load"]
    gain = symbolic_low_pass_gain(inputs["zmp_lag"], inputs["period"])
    now = moment / cs.if_else(is_loaded, load, 1.0) + completion
    filtered = low_passed(last, now, cs.if_else(was_loaded > 0.5, gain, 1.0))
    kept = cs.if_else(is_loaded, filtered, last)
    memory.keep(kept)
    memory.keep(cs.fmax(was_loaded, is_loaded))
    zmp = cs.if_else(cs.logic_or(is_loaded, was_loaded > 0.5), kept, feet["com_position"][:2]) + lead
    return {"zmp_position": zmp, "zmp_completion": completion, "zmp_lead": lead}


def _commanded_behind(lags: Iterable[str], inputs: dict[str, cs.SX], memory: Memory) -> Iterator[cs.SX]:
    """Yield the commanded ZMP behind first-order lags of these inputs, (2, 1) each; it itself where a lag is zero."""
    was_commanded = memory.last("was_commanded")
    memory.keep(cs.SX(1))
    for lag in lags:
        last, gain = memory.last(f"zmp_behind_{lag}", 2), symbolic_low_pass_gain(inputs[lag], inputs["period"])
        behind = low_passed(last, inputs["commanded_zmp"], cs.if_else(was_commanded > 0.5, gain, 1.0))
        memory.keep(behind)
        yield behind


def _load_and_moment(inputs: dict[str, cs.SX], feet: dict[str, cs.SX]) -> tuple[cs.SX, cs.SX]:
    """Return the normal force [N] and the moments of the ZMP [N·m], (2, 1), without the inertia of a swinging foot.

    Of each foot they are taken on the contact plane through its sole: c = p + n × μ / (n · f).
    """
    load, moment, normal = cs.SX(1, 1), cs.SX(2, 1), inputs["contact_normal"]
    for side in Side:
        wrench, position = feet[f"{side}_foot_wrench"], feet[f"{side}_foot_position"]
        force, in_contact = cs.dot(normal, wrench[:3]), inputs[f"{side}_in_contact"]
        own = cs.fmin(cs.fmax(2.0 - force / inputs["swing_force"], 0.0), 1.0)  # all up to it, nothing from twice of it
        gain = 1.0 - (1.0 - in_contact) * own
        load += gain * force
        moment += gain * (force * position[:2] + cs.cross(normal, wrench[3:])[:2])
    return load, moment


class Memory:
    """Quantities that are results of one call and inputs of the next; all zero before the first.

    They are one input and one output, both called ``memory``.
    """

    def __init__(self) -> None:
        self._last: list[cs.SX] = []
        self._next: list[cs.SX] = []

    def last(self, name: str, rows: int = 1) -> cs.SX:
        """Return the symbol of the last value of a quantity."""
        self._last.append(cs.SX.sym(f"last_{name}", rows))
        return self._last[-1]

    def keep(self, value: cs.SX) -> None:
        """Remember the new value of a quantity, in the order of `last`."""
        self._next.append(value)
        assert value.shape == self._last[len(self._next) - 1].shape

    @property
    def input(self) -> cs.SX:
        """All symbols, (n, 1)."""
        return cs.vertcat(*self._last)

    @property
    def output(self) -> cs.SX:
        """All results, (n, 1)."""
        return cs.vertcat(*self._next)


def symbolic_low_pass_gain(time_constant: cs.SX, period: cs.SX) -> cs.SX:
    """Return ``low_pass_gain`` as an expression; before the first sample the period is infinite and the gain 1."""
    return cs.if_else(time_constant > 0.0, 1.0 - cs.exp(-period / time_constant), 1.0)


def low_passed(last: cs.SX, sample: cs.SX, gain: cs.SX) -> cs.SX:
    """Return the output of a first-order low pass; with a gain of 1 the sample to the last digit."""
    return cs.if_else(gain < 1.0, last + gain * (sample - last), sample)


def attitude_inputs() -> dict[str, cs.SX]:
    """Return the symbols of the values of ``AttitudeFilter.inputs``."""
    return {
        "imu_rotation": cs.SX.sym("imu_rotation", 3, 3),
        "imu_rate": cs.SX.sym("imu_rate", 3),
        "imu_period": cs.SX.sym("imu_period"),
        "last_attitude": cs.SX.sym("last_attitude", 3, 3),
        "last_imu_rate": cs.SX.sym("last_imu_rate", 3),
        "attitude_gain": cs.SX.sym("attitude_gain"),
    }


def filtered_attitude(inputs: dict[str, cs.SX]) -> cs.SX:
    """Return the attitude that ``AttitudeFilter`` describes, (3, 3)."""
    measured = inputs["imu_rotation"]
    turn = 0.5 * inputs["imu_period"] * (inputs["last_imu_rate"] + inputs["imu_rate"])
    predicted = inputs["last_attitude"] @ symbolic_exp(turn)
    innovation = cs.inv_skew(0.5 * (measured @ predicted.T - predicted @ measured.T))
    return symbolic_exp((inputs["attitude_gain"] - 1.0) * innovation) @ measured
