r"""Wrenches of feet without force sensors, or with one that is not trusted: from joint torques, motion and weight.

The equations of motion of a robot of which nothing but the ground touches the feet,

.. math:: M \dot\nu + h = S^\top (\tau - \tau_f) + \sum_k J_k^\top f_k, \qquad
          \tau_f = (F_c + l |\tau|) \tanh(\dot s / v_0) + F_v \dot s,

are measured in two parts. The six rows of the base, moved to the CoM, are the rate of the centroidal momentum: what the
ground exerts in all, without any torque and so without friction, but with accelerations, which are differences of
velocities and pass a low pass F (what is left is the residual of a momentum observer of gain 1/T: De Luca and Mattone
2005; Flacco et al. 2016, eq. 12, of floating bases). The rows of the joints between base and soles (of two legs with
six joints twelve equations for the twelve unknowns) have nearly no acceleration in them, but the friction that their
gears hide: its nominal part :math:`\tau_f` is subtracted, and the torque is the less certain the larger it is, the most
at rest, where its sign is not known:

.. math::
    y_b &= F \left[ X (M_b \dot\nu + h_b) \right] = \sum_k X J_{k,b}^\top f_k + e_b, \\
    y_i &= (M \dot\nu + h)_i - \tau_i + \tau_{f,i} = \sum_k J_{k,i}^\top f_k + e_i, \qquad
    \sigma_i = \sigma_\tau + (F_c + l |\tau_i|) \left(a - b \tanh(|\dot s_i| / v_0)\right),

more by :math:`\epsilon W |J_i|` for a joint whose axis is far from the sole, since encoders err by :math:`\epsilon`.

Beside them stands what is known without: a planned swing foot carries next to nothing; feet that stand share the weight
W as the planned ZMP lies between them, each in the middle of its sole; the sensor of the other foot, where it is
trusted, is right. With the mean :math:`\bar f` and covariance P of that and R of the errors e, all taken as Gaussian,

.. math:: f = \bar f + (P^{-1} + A^\top R^{-1} A)^{-1} A^\top R^{-1} (y - A \bar f).

So on one foot the force is that of weight and acceleration, its centre of pressure mostly that of the ankle's torques;
on both feet the torques decide how they share the load and how they pull against each other. A sole neither pulls nor
has its centre of pressure beside it: the wrench is brought within these limits.

A foot whose sensor is no longer trusted carries if it did so in the last tick. From then on it carries from its
touch-down, which is found by the load that it has if nothing is presumed of it, whatever the plan says, until the plan
lifts it or its load is gone. Feet land late by some hundredths of a second, and a robot that
believes in a load that is not there falls towards it.

==========================  =========================================  =======
Symbol                      Source                                     Unit
==========================  =========================================  =======
:math:`\nu, \dot\nu`        the last state, and its change             m/s, …
:math:`\tau`                measured, or by the law of the servos      N·m
:math:`F_c, F_v, l`         ``JointGroup`` of the description          N·m, …
:math:`f_k`                 about the sole origin, world axes          N, N·m
==========================  =========================================  =======
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum

import casadi as cs
import numpy as np

from gradiva.common import (
    GRAVITY,
    ControlMode,
    JointCommand,
    Measurement,
    NDArray,
    RobotState,
    Side,
    TwoFeet,
    WalkingReference,
    altered,
    low_pass_gain,
    sealed,
    so3,
)
from gradiva.robot_model import (
    Compiler,
    FlatFunction,
    IdynTreeModel,
    RobotDescription,
    ServoLaw,
    SymbolicDynamics,
    built_once,
    fixed_pose,
    links_from_base,
)

_MOMENTUM_TIME = 0.03  # [s] T of the low pass on the momentum's rate; 0.02 to 0.05 err alike
_FRICTION_VELOCITY = 0.01  # [rad/s] v0; at 0.1 feet of G1 err by a tenth more, encoders resolve 0.004
_ENCODER_ERROR = 0.01  # [rad] by which a foot is beside where the encoders have it, from a joint on
_AT_REST, _MOVING = 0.65, 0.35  # [-] of the dry friction: what is unknown of it, a and a - b
# Standard deviations, as parts of the weight: of forces [-], of moments and torques [m].
_TORQUE = 0.003  # 1 N·m of a G1
_MOMENTUM = np.array((0.25, 0.25, 0.05, 0.05, 0.05, 0.05))
_STANDING = np.array((0.3, 0.3, 0.3, 0.05, 0.05, 0.05))
_SWINGING = np.array((0.03, 0.03, 0.03, 0.003, 0.003, 0.003))
_SENSED = np.array((0.02, 0.02, 0.02, 0.002, 0.002, 0.002))
_LONGEST_GAP = 0.1  # [s] between two estimates of one low pass
_TOUCH, _RELEASE = 0.3, 0.06  # [-] of the weight: load at which a foot has touched down, and at which it has not


class FootWrenchSource(StrEnum):
    """Source of the wrenches of the feet."""

    SENSORS = "force_sensors"
    TORQUES = "joint_torques"


@dataclass(frozen=True, slots=True, eq=False)
class Past:
    """Last states and commands, from which wrenches are estimated.

    Attributes:
        state: The last one; None: there is none.
        before: The one before it; None: the change of velocities is not known.
        period: From ``before`` to ``state``, [s].
        command: That the servos obey since the last tick; None: there was none.
        command_before: That they obeyed before.
    """

    state: RobotState | None = None
    before: RobotState | None = None
    period: float = 1.0
    command: JointCommand | None = None
    command_before: JointCommand | None = None


def _velocity(state: RobotState) -> NDArray:
    """Return ν with the flexible joints, (6 + n + f,)."""
    return np.concatenate((state.base_twist, state.joint_velocities, state.flexible_velocities))


class FootWrenchEstimator:
    """Completes measurements: estimates the wrenches of feet of which readings are not numbers.

    Attributes:
        carrying: Feet that carry load, by the last estimate.
        is_observed: Whether torques or its sensor speak of each foot that stands, likewise.
    """

    def __init__(self, model: IdynTreeModel, compiler: Compiler) -> None:
        """Build the equations for a model of the robot, with its flexible joints where they are observed."""
        description = model.description
        key = (foot_dynamics_function, model.fingerprint, compiler)
        self._function = built_once(key, lambda: foot_dynamics_function(model, compiler))
        self._legs = supporting_joints(model)
        self._weight = model.mass * GRAVITY
        self._soles = {side: description.sole.corners(side) for side in Side}
        self._middles = {side: description.sole.middle(side) for side in Side}
        self._sensors = {side: _SensorsOfFoot(model, side) for side in Side}
        self._torques = MotorTorques(description)
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self._momentum_time = -math.inf
        self._momentum_rate = np.zeros(6)
        self.carrying: set[Side] = set(Side)
        self._planned: set[Side] = set()
        self._begins = False  # whether all wrenches were measured in the last tick
        self.is_observed = True

    def completed(self, measurement: Measurement, reference: WalkingReference, past: Past) -> Measurement:
        """Return the measurement with estimated wrenches in the place of readings that are not finite."""
        readings = measurement.contact_wrenches
        missing = [side for side in Side if not self._sensors[side].are_finite(readings)]
        if not missing:
            self._begins = True
            return measurement
        last, readings = past.state, readings.copy()
        if self._begins and last is not None:
            loads = {side: float(last.foot_wrench(side)[2]) for side in Side}
            self.carrying = {side for side, load in loads.items() if load > _RELEASE * self._weight}
            self._planned, self._begins = set(self.carrying), False
        state: TwoFeet | WalkingReference = reference if last is None else last
        rotations = {side: foot_rotation(state, side) for side in Side}
        equations = None if last is None else self._equations(last, measurement, past)
        self._lift(reference)
        known = self._known(readings, rotations, reference, missing)
        if equations is not None and not self.carrying.issuperset(missing):
            free = self._known(readings, rotations, reference, missing, presumes=False)
            if self._touch_down(equations.wrenches(*free)[[2, 8]]):
                known = self._known(readings, rotations, reference, missing)
        wrenches = known[0] if equations is None else equations.wrenches(*known)
        for side, wrench in zip(Side, wrenches.reshape(2, 6), strict=True):
            if side in missing:
                wrench = self._exerted_by_ground(side, wrench, rotations[side])
                self._sensors[side].write(readings, wrench, rotations[side])
                if wrench[2] < _RELEASE * self._weight:
                    self.carrying.discard(side)
        return altered(measurement, contact_wrenches=sealed(readings))

    def _known(
        self,
        readings: NDArray,
        rotations: Mapping[Side, NDArray],
        reference: WalkingReference,
        missing: Collection[Side],
        presumes: bool = True,
    ) -> tuple[NDArray, NDArray]:
        """Return the wrenches that are likely without torques and motion, and their deviations, (12,) each.

        Args:
            readings: Of both feet, (sensors, 6).
            rotations: Of the soles.
            reference: Of the plan.
            missing: Feet of which nothing is read.
            presumes: Whether a foot that does not carry has next to no load; else nothing is presumed of it.
        """
        right = reference.right_load_fraction
        mean, deviation = np.zeros((2, 6)), np.empty((2, 6))
        for row, (side, load) in enumerate(zip(Side, (1.0 - right, right), strict=True)):
            if side not in missing:
                mean[row], deviation[row] = self._sensors[side].read(readings, rotations[side]), _SENSED
            elif side in self.carrying:
                fraction = load if len(self.carrying) == len(Side) else 1.0
                force = np.array((0.0, 0.0, fraction * self._weight))
                mean[row, :3], mean[row, 3:] = force, so3.cross(rotations[side] @ self._middles[side], force)
                deviation[row] = _STANDING
            else:
                deviation[row] = _SWINGING if presumes else _STANDING
        return mean.ravel(), self._weight * deviation.ravel()

    def _equations(self, last: RobotState, measurement: Measurement, past: Past) -> _Equations:
        """Return the equations of motion with what is measured of them."""
        function, velocity = self._function, _velocity(last)
        before = velocity if past.before is None else _velocity(past.before)
        function.set(
            base_rotation=last.base_rotation,
            base_twist=last.base_twist,
            joint_positions=np.concatenate((last.joint_positions, last.flexible_positions)),
            joint_velocities=velocity[6:],
            acceleration=(velocity - before) / past.period,
        )
        outputs, legs = function(), self._legs
        torques, deviations = self._torques.at_links(measurement, past, self._weight)
        known = np.isfinite(deviations[legs])
        self.is_observed = bool(known.all())
        leg_forces = np.where(known, outputs["leg_forces"] - torques[legs], 0.0)
        levers = np.hypot.reduce(outputs["wrench_map"][6:, (0, 1, 2, 6, 7, 8)], axis=1)
        leg_deviations = np.hypot(deviations[legs], _ENCODER_ERROR * self._weight * levers)
        measured = np.concatenate((self._filtered(outputs["momentum_rate"], measurement.time), leg_forces))
        weights = np.concatenate((self._weight * _MOMENTUM, leg_deviations)) ** -2.0
        return _Equations(outputs["wrench_map"], measured, weights)

    def _filtered(self, momentum_rate: NDArray, time: float) -> NDArray:
        """Return the low-passed wrench of the ground about the CoM; it begins as that of a robot at rest."""
        period, self._momentum_time = time - self._momentum_time, time
        if not 0.0 <= period < _LONGEST_GAP:
            self._momentum_rate = np.array((0.0, 0.0, self._weight, 0.0, 0.0, 0.0))
        gain = low_pass_gain(_MOMENTUM_TIME, period)
        self._momentum_rate = self._momentum_rate + gain * (momentum_rate - self._momentum_rate)
        return self._momentum_rate

    def _exerted_by_ground(self, side: Side, wrench: NDArray, rotation: NDArray) -> NDArray:
        """Return the nearest wrench with its centre of pressure within the sole; none of a sole that would pull."""
        force, moment = wrench[:3] @ rotation, wrench[3:] @ rotation
        if force[2] <= 0.0:
            return np.zeros(6)
        height, corners = self._middles[side][2], self._soles[side]
        pressure = np.array((height * force[0] - moment[1], height * force[1] + moment[0])) / force[2]
        pressure = np.minimum(np.maximum(pressure, corners.min(axis=0)), corners.max(axis=0))
        moment[:2] = pressure[1] * force[2] - height * force[1], height * force[0] - pressure[0] * force[2]
        return np.concatenate((wrench[:3], rotation @ moment))

    def _lift(self, reference: WalkingReference) -> None:
        """Note which feet the plan lifts."""
        planned = {side for side in Side if reference.foot(side).in_contact}
        self.carrying -= self._planned - planned
        self._planned = planned

    def _touch_down(self, loads: NDArray) -> bool:
        """Note which feet carry with these loads [N], (2,); return whether there are more of them."""
        touched = {side for side, load in zip(Side, loads, strict=True) if load > _TOUCH * self._weight}
        is_new = not touched <= self.carrying
        self.carrying |= touched
        return is_new


@dataclass(frozen=True, slots=True, eq=False)
class _Equations:
    """Equations of motion in the wrenches of both feet: y = A f + e.

    Attributes:
        matrix: A, (m, 12).
        measured: y, (m,).
        weights: Inverse variances of e, (m,).
    """

    matrix: NDArray
    measured: NDArray
    weights: NDArray

    def wrenches(self, mean: NDArray, deviation: NDArray) -> NDArray:
        """Return the likeliest wrenches, (12,), for a mean and deviations that are known without the equations."""
        weighted = self.matrix.T * self.weights
        innovation = weighted @ (self.measured - self.matrix @ mean)
        found: NDArray = mean + np.linalg.solve(np.diag(deviation**-2.0) + weighted @ self.matrix, innovation)
        return found


def foot_rotation(feet: TwoFeet | WalkingReference, side: Side) -> NDArray:
    """Return the rotation of a sole, of a state or of a plan, (3, 3)."""
    return feet.foot(side).rotation if isinstance(feet, WalkingReference) else feet.foot_rotation(side)


class _SensorsOfFoot:
    """Turns between readings of a foot's sensors and the wrench about its sole origin in world axes."""

    def __init__(self, model: IdynTreeModel, side: Side) -> None:
        description = model.description
        self._rows = description.sensors_of(side)
        sole, sensors = description.foot_frame(side), description.force_torque_sensors
        self._poses = [fixed_pose(model, sole, sensors[row].frame) for row in self._rows]

    def are_finite(self, readings: NDArray) -> bool:
        """Return whether all numbers of this foot are, where ``readings`` are those of both, (sensors, 6)."""
        return bool(np.isfinite(readings[self._rows]).all())

    def read(self, readings: NDArray, rotation: NDArray) -> NDArray:
        """Return the wrench, [N, N·m], (6,), of a sole with this rotation in world, (3, 3)."""
        wrench = np.zeros(6)
        for row, (turn, lever) in zip(self._rows, self._poses, strict=True):
            force = turn @ readings[row, :3]
            wrench[:3] += rotation @ force
            wrench[3:] += rotation @ (turn @ readings[row, 3:] + so3.cross(lever, force))
        return wrench

    def write(self, readings: NDArray, wrench: NDArray, rotation: NDArray) -> None:
        """Write the readings by which this is the wrench: all of it at the first sensor."""
        (first, *others), (turn, lever) = self._rows, self._poses[0]
        force, moment = wrench[:3] @ rotation, wrench[3:] @ rotation
        readings[first, :3], readings[first, 3:] = force @ turn, (moment - so3.cross(lever, force)) @ turn
        readings[others] = 0.0


class MotorTorques:
    r"""Torques that the drives exert on the links: those of the motors less friction, and how uncertain they are.

    A motor whose torque is not measured exerts the commanded one, or that of its position servo (`JointGroup`),
    :math:`\tau = k_p (s^* - s) + k_d (\beta \dot s^* - \dot s)`. That of a servo with an integral, whose state is known
    to its board alone, and that of one of velocities are not known.
    """

    def __init__(self, description: RobotDescription) -> None:
        """Take servos and friction of the joints with encoders: those that bend have none, and no motor."""
        rows, law = list(description.measured), ServoLaw.of(description)
        self._law = law = ServoLaw(**{each.name: getattr(law, each.name)[rows] for each in fields(law)})
        self._integrates = (law.integral_gain > 0.0) | (law.velocity_stiffness > 0.0)
        names = ("coulomb_friction", "viscous_friction", "gear_loss")
        self._coulomb, self._viscous, self._gear_loss = (description.per_joint(name)[rows] for name in names)

    def at_links(self, measurement: Measurement, past: Past, weight: float) -> tuple[NDArray, NDArray]:
        """Return torques [N·m] and their standard deviations, infinite for unknown ones, (n,) each.

        Args:
            measurement: With the torques of the motors, NaN where nothing measures them.
            past: Whose commands the servos obey.
            weight: Of the robot, [N].
        """
        torques, velocities = measurement.joint_torques, measurement.joint_velocities
        if not math.isfinite(torques.sum()):
            torques = np.where(np.isfinite(torques), torques, self._commanded(measurement, past))
        is_known = np.isfinite(torques)
        torques = np.where(is_known, torques, 0.0)
        dry, speed = self._coulomb + self._gear_loss * np.abs(torques), np.tanh(velocities / _FRICTION_VELOCITY)
        uncertain = _TORQUE * weight + dry * (_AT_REST + (_MOVING - _AT_REST) * np.abs(speed))
        links: NDArray = torques - dry * speed - self._viscous * velocities
        return links, np.where(is_known, uncertain, np.inf)

    def _commanded(self, measurement: Measurement, past: Past) -> NDArray:
        """Return the torques by the last command, NaN where they are not known, [N·m], (n,)."""
        command, before, law = past.command, past.command_before, self._law
        if command is None or command.mode is ControlMode.VELOCITY:
            return np.full_like(measurement.joint_positions, np.nan)
        if command.mode is ControlMode.TORQUE:
            return command.values
        moves = before is not None and before.mode is command.mode and past.before is not None
        rate = (command.values - before.values) / past.period if moves and before is not None else 0.0
        torques = law.stiffness * (command.values - measurement.joint_positions)
        torques += law.damping * (law.velocity_feedforward * rate - measurement.joint_velocities)
        return np.where(self._integrates, np.nan, torques)


def supporting_joints(model: IdynTreeModel) -> list[int]:
    """Return the indices of the joints between the base and the soles, those that have motors."""
    links = {link.index: link for link in links_from_base(model)}
    found = set()
    for side in Side:
        link = links[model.model.getFrameLink(model.frame_index(model.description.foot_frame(side)))]
        while link.parent is not None:
            found.add(link.joint)
            link = links[link.parent]
    return [joint for joint in model.description.actuated if joint in found]


def foot_dynamics_function(model: IdynTreeModel, compiler: Compiler) -> FlatFunction:
    """Return the left sides of the equations of motion and the map from the wrenches of the feet to them.

    Outputs: ``momentum_rate``, :math:`X (M_b \\dot\nu + h_b)`, (6,); ``leg_forces``, :math:`(M \\dot\nu + h)_i` of
    ``supporting_joints``, (l,); ``wrench_map`` A, (6 + l, 12).
    """
    robot, legs = SymbolicDynamics.of(model), supporting_joints(model)
    acceleration = cs.SX.sym("acceleration", 6 + robot.joints)
    rows = [*range(6), *(6 + joint for joint in legs)]
    forces = robot.mass_matrix[rows, :] @ acceleration + robot.bias_forces[rows]
    feet = [robot.frame(model.description.foot_frame(side)).jacobian[:, rows].T for side in Side]
    matrix, lever = cs.horzcat(*feet), robot.com_position - robot.base_position
    momentum_rate = cs.vertcat(forces[:3], forces[3:6] - cs.cross(lever, forces[:3]))
    moments = matrix[3:6, :] - cs.skew(lever) @ matrix[:3, :]
    names = ("base_rotation", "base_twist", "joint_positions", "joint_velocities")
    return FlatFunction(
        f"foot_dynamics_{model.description.name}",
        {name: getattr(robot, name) for name in names} | {"acceleration": acceleration},
        {
            "momentum_rate": momentum_rate,
            "leg_forces": forces[6:],
            "wrench_map": cs.vertcat(matrix[:3, :], moments, matrix[6:, :]),
        },
        compiler,
    )
