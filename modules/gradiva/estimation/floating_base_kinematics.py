r"""The whole estimated state as one function of the sensors and of the pose of the stance sole.

With :math:`{}^B p_S, {}^B R_S, {}^B v_S, {}^B \omega_S` the stance sole relative to the base (from the encoders) and
its pose :math:`p_S, R_S` in world known and constant:

.. math::
    R_B &= R_S {}^B R_S^\top, & \omega_B &= -R_B {}^B \omega_S, \\
    p_B &= p_S - R_B {}^B p_S, & \dot p_B &= -R_B {}^B v_S - \omega_B \times R_B {}^B p_S.

With an IMU on a frame :math:`M` of the robot, roll, pitch and :math:`\omega_B` come from the IMU and only the
heading from the stance sole. What the IMU's own heading tells beyond that is how the sole turned on the ground.
Where pose and twist of the base are measured, none of this is needed. Feet, CoM, DCM
:math:`\xi = x + \dot x / \zeta` and foot wrenches follow; the ZMP stands in ``measured_zmp``. Velocities that are
measured, of joints and base alike, pass one low pass, that of the CoM another one.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as cs

from gradiva.common import Side
from gradiva.estimation.attitude_filter import attitude_inputs, filtered_attitude
from gradiva.estimation.base_source import BaseSource
from gradiva.estimation.measured_zmp import measured_zmp
from gradiva.estimation.memory import Memory, low_passed, symbolic_low_pass_gain
from gradiva.robot_model.flat_function import Compiler, FlatFunction
from gradiva.robot_model.idyntree_model import IdynTreeModel
from gradiva.robot_model.symbolic_dynamics import SymbolicDynamics, SymbolicFrame

CONSTANTS = (
    "velocity_time_constant",
    "com_velocity_time_constant",
    "zmp_time_constant",
    "minimum_load",
    "swing_force",
)
"""Inputs that are configured, see ``StateEstimatorConfig``; to ``swing_force`` [N] a swinging foot carries nothing."""


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
        return self.position + self.rotation @ position_in_base

    def point_velocity(self, position_in_base: cs.SX, velocity_in_base: cs.SX) -> cs.SX:
        lever = self.rotation @ position_in_base
        spin = cs.cross(self.angular_velocity, lever)
        return self.velocity + spin + self.rotation @ velocity_in_base

    def frame_twist(self, frame: SymbolicFrame) -> cs.SX:
        velocity = self.point_velocity(frame.position, frame.twist[:3])
        return cs.vertcat(velocity, self.angular_velocity + self.rotation @ frame.twist[3:])


def state_function(model: IdynTreeModel, source: BaseSource, compiler: Compiler) -> FlatFunction:
    """Return the function; its inputs and outputs are named as in ``StateEstimator`` and ``BaseEstimate``."""
    robot, memory = SymbolicDynamics(model, floating=False), Memory()
    inputs = _inputs(model)
    share = symbolic_low_pass_gain(inputs["velocity_time_constant"], inputs["period"])
    velocities = _filtered(memory, "joint_velocities", inputs["joint_velocities"], share)
    if source is BaseSource.MEASURED:
        base, of_base = _measured_base(memory, share)
    else:
        base, of_base = _base_by_stance(robot, memory, share)
    outputs = {"joint_velocities": velocities, **_motion(robot, base, inputs["contact_wrenches"])}
    outputs |= _centre_of_mass(robot, base, inputs, memory)
    outputs["zmp_position"] = measured_zmp(inputs, outputs, memory)
    outputs |= {"heading_over_imu": base.heading_over_imu, "attitude": base.attitude, "memory": memory.output}
    inputs |= of_base | {"joint_positions": robot.joint_positions, "memory": memory.input}
    results = cs.substitute(list(outputs.values()), [robot.joint_velocities], [velocities])
    outputs = dict(zip(outputs, results, strict=True))
    return FlatFunction(f"state_estimate_{model.description.name}", inputs, outputs, compiler)


def _inputs(model: IdynTreeModel) -> dict[str, cs.SX]:
    """Return the symbols of what is measured whatever places the base, of the plan, and of the configuration."""
    sensors, joints = len(model.description.force_torque_sensors), len(model.description.joints)
    numbers = ("period", "natural_frequency", *(f"{side}_in_contact" for side in Side), *CONSTANTS)
    return {
        "joint_velocities": cs.SX.sym("measured_joint_velocities", joints),
        "contact_wrenches": cs.SX.sym("contact_wrenches", sensors, 6),
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
    """Return CoM and DCM."""
    share = symbolic_low_pass_gain(inputs["com_velocity_time_constant"], inputs["period"])
    position = base.point(robot.com_position)
    velocity = base.point_velocity(robot.com_position, robot.com_velocity)
    velocity = _filtered(memory, "com_velocity", velocity, share)
    dcm = position[:2] + velocity[:2] / inputs["natural_frequency"]
    return {"com_position": position, "com_velocity": velocity, "dcm_position": dcm}


def _filtered(memory: Memory, name: str, sample: cs.SX, share: cs.SX) -> cs.SX:
    """Return the output of a low pass that remembers its last one."""
    value = low_passed(memory.last(name, sample.numel()), sample, share)
    memory.keep(value)
    return value


def _measured_base(memory: Memory, share: cs.SX) -> tuple[_Base, dict[str, cs.SX]]:
    """Return the base and the inputs that place it; a twist of another age than the joints' would move the feet."""
    position, rotation = cs.SX.sym("measured_position", 3), cs.SX.sym("measured_rotation", 3, 3)
    measured = cs.SX.sym("measured_twist", 6)
    twist = _filtered(memory, "twist", measured, share)
    base = _Base(position, rotation, twist[:3], twist[3:], heading_over_imu=cs.SX(1, 1), attitude=cs.SX(3, 3))
    return base, {"measured_position": position, "measured_rotation": rotation, "measured_twist": measured}


def _base_by_stance(robot: SymbolicDynamics, memory: Memory, share: cs.SX) -> tuple[_Base, dict[str, cs.SX]]:
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
    rate = _imu_rate(inputs, memory, share)
    return _hanging_on_stance(inputs, rate, feet, robot.frame(description.imu_frame)), inputs


def _imu_rate(inputs: dict[str, cs.SX], memory: Memory, share: cs.SX) -> cs.SX:
    """Return the low-passed angular velocity of the IMU in its own axes; its first one passes."""
    last, use_imu = memory.last("imu_rate", 3), inputs["use_imu"]
    was_used = memory.last("imu_was_used")
    rate = low_passed(last, inputs["imu_rate"], cs.if_else(was_used > 0.5, share, 1.0))
    memory.keep(cs.if_else(use_imu > 0.5, rate, last))
    memory.keep(cs.fmax(was_used, use_imu))
    return rate


def _hanging_on_stance(
    inputs: dict[str, cs.SX], imu_rate: cs.SX, feet: dict[Side, SymbolicFrame], imu: SymbolicFrame
) -> _Base:
    left = inputs["left_is_stance"]

    def of_stance(quantity: str) -> cs.SX:
        return left * getattr(feet[Side.LEFT], quantity) + (1 - left) * getattr(feet[Side.RIGHT], quantity)

    sole_position, sole_rotation, sole_twist = (of_stance(q) for q in ("position", "rotation", "twist"))
    by_sole = inputs["stance_rotation"] @ sole_rotation.T
    attitude = filtered_attitude(inputs)
    by_imu = attitude @ imu.rotation.T
    use_imu = inputs["use_imu"]
    rotation = cs.if_else(use_imu > 0.5, _heading_between(by_imu, by_sole) @ by_imu, by_sole)
    rate_of_imu = imu.rotation @ imu_rate - imu.twist[3:]
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
    """The rotation about the vertical that brings ``source`` as near to ``target`` as one can."""
    angle = _heading_angle(source, target)
    cosine, sine = cs.cos(angle), cs.sin(angle)
    return cs.vertcat(cs.horzcat(cosine, -sine, 0), cs.horzcat(sine, cosine, 0), cs.horzcat(0, 0, 1))


def _heading_angle(source: cs.SX, target: cs.SX) -> cs.SX:
    """The angle of that rotation, [rad]."""
    difference = target @ source.T
    return cs.atan2(difference[1, 0] - difference[0, 1], difference[0, 0] + difference[1, 1])


def _foot_wrench(robot: SymbolicDynamics, base: _Base, readings: cs.SX, side: Side, foot: SymbolicFrame) -> cs.SX:
    """Sum of the sensors of one foot: world axes, about the sole origin."""
    description = robot.model.description
    total = cs.SX(6, 1)
    for row in description.sensors_of(side):
        sensor = robot.frame(description.force_torque_sensors[row].frame)
        force = base.rotation @ sensor.rotation @ readings[row, :3].T
        moment = base.rotation @ sensor.rotation @ readings[row, 3:].T
        lever = base.rotation @ (sensor.position - foot.position)
        total += cs.vertcat(force, moment + cs.cross(lever, force))
    return total
