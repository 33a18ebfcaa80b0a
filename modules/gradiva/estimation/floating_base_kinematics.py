r"""The whole estimated state as one function of the sensors and of the pose of the stance sole.

With :math:`{}^B p_S, {}^B R_S, {}^B v_S, {}^B \omega_S` the stance sole relative to the base (from the encoders) and
its pose :math:`p_S, R_S` in world known and constant:

.. math::
    R_B &= R_S {}^B R_S^\top, & \omega_B &= -R_B {}^B \omega_S, \\
    p_B &= p_S - R_B {}^B p_S, & \dot p_B &= -R_B {}^B v_S - \omega_B \times R_B {}^B p_S.

With an IMU on a frame :math:`M` of the robot, roll, pitch and :math:`\omega_B` come from the IMU and only the
heading from the stance sole. What the IMU's own heading tells beyond that is how the sole turned on the ground.
Where pose and twist of the base are measured, none of this is needed. Feet, CoM, DCM and foot wrenches follow. The
ZMP merges both feet,
:math:`z = \sum_k (f_{z,k} p_k + [-\mu_{y,k}, \mu_{x,k}]) / \sum_k f_{z,k}` (thesis equation 7.2.21).
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as cs

from gradiva.common import Side
from gradiva.estimation.attitude_filter import attitude_inputs, filtered_attitude
from gradiva.estimation.base_source import BaseSource
from gradiva.robot_model.flat_function import Compiler, FlatFunction
from gradiva.robot_model.idyntree_model import IdynTreeModel
from gradiva.robot_model.symbolic_dynamics import SymbolicDynamics, SymbolicFrame


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
    description = model.description
    robot = SymbolicDynamics(model, floating=False)
    feet = {side: robot.frame(description.foot_frame(side)) for side in Side}
    inputs = {
        "joint_positions": robot.joint_positions,
        "joint_velocities": robot.joint_velocities,
        "contact_wrenches": cs.SX.sym("contact_wrenches", len(description.force_torque_sensors), 6),
    }
    if source is BaseSource.MEASURED:
        base, of_base = _measured_base()
    else:
        base, of_base = _base_by_stance(feet, robot.frame(description.imu_frame))
    inputs |= of_base
    com_velocity = base.point_velocity(robot.com_position, robot.com_velocity)
    com_position = base.point(robot.com_position)
    wrenches = {side: _foot_wrench(robot, base, inputs["contact_wrenches"], side, feet[side]) for side in Side}
    outputs = {
        "base_position": base.position,
        "base_rotation": base.rotation,
        "base_twist": cs.vertcat(base.velocity, base.angular_velocity),
        "heading_over_imu": base.heading_over_imu,
        "attitude": base.attitude,
        "com_position": com_position,
        "com_velocity": com_velocity,
    }
    for side, foot in feet.items():
        outputs[f"{side}_foot_position"] = base.point(foot.position)
        outputs[f"{side}_foot_rotation"] = base.rotation @ foot.rotation
        outputs[f"{side}_foot_twist"] = base.frame_twist(foot)
        outputs[f"{side}_foot_wrench"] = wrenches[side]
    load, moment = cs.SX(1, 1), cs.SX(2, 1)
    for side, wrench in wrenches.items():
        load += wrench[2]
        moment += wrench[2] * outputs[f"{side}_foot_position"][:2] + cs.vertcat(-wrench[4], wrench[3])
    outputs |= {"load": load, "zmp_moment": moment}
    return FlatFunction(f"state_estimate_{description.name}", inputs, outputs, compiler)


def _measured_base() -> tuple[_Base, dict[str, cs.SX]]:
    """Return the base and the inputs that place it."""
    position, rotation = cs.SX.sym("measured_position", 3), cs.SX.sym("measured_rotation", 3, 3)
    twist = cs.SX.sym("measured_twist", 6)
    base = _Base(position, rotation, twist[:3], twist[3:], heading_over_imu=cs.SX(1, 1), attitude=cs.SX(3, 3))
    return base, {"measured_position": position, "measured_rotation": rotation, "measured_twist": twist}


def _base_by_stance(feet: dict[Side, SymbolicFrame], imu: SymbolicFrame) -> tuple[_Base, dict[str, cs.SX]]:
    """Return the base and the inputs that place it."""
    inputs = {
        "left_is_stance": cs.SX.sym("left_is_stance"),
        "stance_position": cs.SX.sym("stance_position", 3),
        "stance_rotation": cs.SX.sym("stance_rotation", 3, 3),
        "use_imu": cs.SX.sym("use_imu"),
        "imu_angular_velocity": cs.SX.sym("imu_angular_velocity", 3),
        **attitude_inputs(),
    }
    return _hanging_on_stance(inputs, feet, imu), inputs


def _hanging_on_stance(inputs: dict[str, cs.SX], feet: dict[Side, SymbolicFrame], imu: SymbolicFrame) -> _Base:
    left = inputs["left_is_stance"]

    def of_stance(quantity: str) -> cs.SX:
        return left * getattr(feet[Side.LEFT], quantity) + (1 - left) * getattr(feet[Side.RIGHT], quantity)

    sole_position, sole_rotation, sole_twist = (of_stance(q) for q in ("position", "rotation", "twist"))
    by_sole = inputs["stance_rotation"] @ sole_rotation.T
    attitude = filtered_attitude(inputs)
    by_imu = attitude @ imu.rotation.T
    use_imu = inputs["use_imu"]
    rotation = cs.if_else(use_imu > 0.5, _heading_between(by_imu, by_sole) @ by_imu, by_sole)
    rate_of_imu = imu.rotation @ inputs["imu_angular_velocity"] - imu.twist[3:]
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
