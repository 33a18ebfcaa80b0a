"""Whole-body controllers that command joint torques."""

from __future__ import annotations

import numpy as np

from gradiva.common import ControlMode, JointCommand, NDArray, RobotPosture, RobotState, Side
from gradiva.robot_model import Compiler, IdynTreeModel, SymbolicDynamics, interpreted
from gradiva.whole_body.inverse_kinematics import integrate
from gradiva.whole_body.reference_symbols import is_loaded, reference_values, state_values
from gradiva.whole_body.rigid_problem import RigidTorqueControlConfig, draft_rigid_problem
from gradiva.whole_body.torque_problem import TorqueProblem
from gradiva.whole_body.whole_body_reference import WholeBodyReference


class RigidTorqueController:
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
        draft = draft_rigid_problem(SymbolicDynamics(model), config)
        self._problem = TorqueProblem("rigid torque control", draft, config.solver, compiler)
        self._limits = model.torque_limits()
        self._rate = torque_rate
        self.reset(posture)

    def reset(self, posture: RobotPosture) -> None:
        """See ``WholeBodyController.reset``."""
        self.desired_posture = posture
        self.desired_velocity = np.zeros(6 + len(posture.joint_positions))
        self._torques: NDArray | None = None

    def command(
        self, state: RobotState, reference: WholeBodyReference, period: float, relaxed: bool = False
    ) -> JointCommand:
        """See ``WholeBodyController.command``."""
        values = state_values(state) | reference_values(reference)
        for side in Side:
            values[f"{side}_foot_is_loaded"] = float(is_loaded(state, reference, side))
        values["lowest_torques"], values["highest_torques"] = self._torque_range(period)
        solution = self._problem.solve(values, relaxed)
        acceleration = self._problem.acceleration(solution)
        self._torques = self._problem.torques(solution)
        measured = RobotPosture(state.base_position, state.base_rotation, state.joint_positions)
        velocity = np.concatenate((state.base_twist, state.joint_velocities))
        self.desired_velocity = velocity + period * acceleration
        self.desired_posture = integrate(measured, self.desired_velocity, period)
        return JointCommand(ControlMode.TORQUE, self._torques)

    def _torque_range(self, period: float) -> tuple[NDArray, NDArray]:
        if self._torques is None:
            return -self._limits, self._limits
        step = period * self._rate
        lowest = np.clip(self._torques - step, -self._limits, self._limits)
        return lowest, np.clip(self._torques + step, -self._limits, self._limits)
