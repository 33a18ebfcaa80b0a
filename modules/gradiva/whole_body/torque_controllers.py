"""Whole-body controllers that command joint torques."""

from __future__ import annotations

import numpy as np

from gradiva.common import ControlMode, JointCommand, NDArray, RobotPosture, RobotState, Side, low_pass_gain, sealed
from gradiva.robot_model import Compiler, IdynTreeModel, SymbolicDynamics, interpreted
from gradiva.whole_body.compliant_config import CompliantTorqueControlConfig
from gradiva.whole_body.compliant_problem import CompliantProblem
from gradiva.whole_body.contact_symbols import contact_values
from gradiva.whole_body.inverse_kinematics import integrate
from gradiva.whole_body.qp_composer import UNBOUNDED
from gradiva.whole_body.qp_solver import SolverName
from gradiva.whole_body.reference_values import Values, tick_values
from gradiva.whole_body.rigid_problem import RigidProblem, RigidTorqueControlConfig
from gradiva.whole_body.torque_problem import TorqueProblem
from gradiva.whole_body.whole_body_reference import WholeBodyReference

_WRENCH = {
    side: tuple(
        f"{side}_{name}" for name in ("measured_wrench", "wrench_age", "wrench_share", "last_regressor", "last_wrench")
    )
    for side in Side
}
_REMEMBERED = {side: (f"{side}_regressor", f"{side}_wrench") for side in Side}


class TorqueController:
    """What both grounds have in common: the tick, and what is remembered of it.

    Attributes:
        problem: Of the last tick.
        desired_velocity: ν to which the commanded accelerations lead until the end of the tick, (6 + n,).
        desired_joint_positions: Where that velocity leads until then, [rad], (n,).
    """

    def __init__(
        self,
        problem: TorqueProblem,
        search_speed: float,
        torque_rate: float,
        posture: RobotPosture,
    ) -> None:
        """Take what does not change.

        Args:
            problem: Solved in each tick.
            search_speed: At which a foot that should stand and does not touch looks for the ground, [m/s].
            torque_rate: By which a torque may change, [N·m/s].
            posture: Where the robot begins.
        """
        self.problem = problem
        self._search_speed = search_speed
        self._rate = torque_rate
        self.reset(posture)

    def reset(self, posture: RobotPosture) -> None:
        """See ``WholeBodyController.reset``; the first torques are free: who sends them leads the joints there."""
        self.problem.reset()
        self._posture: RobotPosture | None = posture
        self._start: RobotPosture | RobotState = posture
        self._period = 0.0
        self.desired_velocity = np.zeros(6 + len(posture.joint_positions))
        self.desired_joint_positions = posture.joint_positions
        self._torques: NDArray | None = None

    @property
    def desired_posture(self) -> RobotPosture:
        """See ``WholeBodyController.desired_posture``; it is computed once, when somebody asks."""
        if self._posture is None:
            self._posture = integrate(self._start, self.desired_velocity, self._period)
        return self._posture

    def command(
        self, state: RobotState, reference: WholeBodyReference, period: float, relaxed: bool = False
    ) -> JointCommand:
        """See ``WholeBodyController.command``."""
        values = self._values(state, reference, period)
        acceleration, torques = self.problem.command(values, relaxed)
        self._torques = sealed(torques)
        velocity = np.concatenate((state.base_twist, state.joint_velocities))
        self.desired_velocity = sealed(velocity + period * acceleration)
        self.desired_joint_positions = sealed(state.joint_positions + period * self.desired_velocity[6:])
        self._posture, self._start, self._period = None, state, period
        return JointCommand(ControlMode.TORQUE, self._torques)

    def _values(self, state: RobotState, reference: WholeBodyReference, period: float) -> Values:
        values = tick_values(state, reference, self._search_speed)
        values["last_torques"] = 0.0 if self._torques is None else self._torques
        values["torque_step"] = UNBOUNDED if self._torques is None else period * self._rate
        return values


class RigidTorqueController(TorqueController):
    """For rigid ground; the problem stands in ``rigid_problem``."""

    def __init__(
        self,
        model: IdynTreeModel,
        config: RigidTorqueControlConfig,
        torque_rate: float,
        posture: RobotPosture,
        compiler: Compiler = interpreted,
    ) -> None:
        """Build the problem.

        Args:
            model: The robot.
            config: Tasks and limits.
            torque_rate: By which a torque may change, [N·m/s].
            posture: Where the robot begins.
            compiler: How the problem's function becomes fast.

        Raises:
            ConfigError: A joint group of the posture is missing or unknown.
        """
        draft = RigidProblem(SymbolicDynamics(model), config)
        problem = TorqueProblem("rigid torque control", draft, config.solver, compiler)
        super().__init__(problem, config.search_speed, torque_rate, posture)


class CompliantTorqueController(TorqueController):
    """For soft ground; the problem stands in ``compliant_problem``."""

    def __init__(
        self,
        model: IdynTreeModel,
        config: CompliantTorqueControlConfig,
        torque_rate: float,
        posture: RobotPosture,
        compiler: Compiler = interpreted,
    ) -> None:
        """Build the problem; see ``RigidTorqueController``.

        Raises:
            ConfigError: A joint group of the posture is missing or unknown.
        """
        draft = CompliantProblem(SymbolicDynamics(model), config)
        problem = TorqueProblem("compliant torque control", draft, SolverName.DAQP, compiler)
        self._wrench_age = config.wrench_age
        self._wrench_time_constant = config.wrench_time_constant
        super().__init__(problem, config.search_speed, torque_rate, posture)

    def reset(self, posture: RobotPosture) -> None:
        """See ``WholeBodyController.reset``."""
        super().reset(posture)
        self._regressors: dict[Side, NDArray] = {}
        self._wrenches: dict[Side, NDArray] = {}

    def command(
        self, state: RobotState, reference: WholeBodyReference, period: float, relaxed: bool = False
    ) -> JointCommand:
        """See ``WholeBodyController.command``."""
        command = super().command(state, reference, period, relaxed)
        outputs = self.problem.outputs
        self._regressors, self._wrenches = {}, {}
        for side, (regressor, wrench) in _REMEMBERED.items():
            if _stands(state, side):
                self._regressors[side] = outputs[regressor].copy()
                self._wrenches[side] = outputs[wrench].copy()
        return command

    def _values(self, state: RobotState, reference: WholeBodyReference, period: float) -> Values:
        values = super()._values(state, reference, period)
        values["period"] = period
        for side in Side:
            values |= contact_values(side, state)
            values |= self._wrench_values(side, state, period)
        return values

    def _wrench_values(self, side: Side, state: RobotState, period: float) -> Values:
        """Return the values that make the present wrench of a foot; see ``SoftSole``."""
        measured, last = state.foot_wrench(side), self._wrenches.get(side)
        if last is None:  # the foot did not stand: nothing is known of a change, and no last wrench counts
            return dict(zip(_WRENCH[side], (measured, 0.0, 1.0, 0.0, 0.0), strict=True))
        share = low_pass_gain(self._wrench_time_constant, period)
        known = measured, self._wrench_age / period, share, self._regressors[side], last
        return dict(zip(_WRENCH[side], known, strict=True))


def _stands(state: RobotState, side: Side) -> bool:
    contact = state.foot_contact(side)
    return contact is not None and contact.is_active
