"""The configured layers of one robot: what the walking controller is made of."""

from __future__ import annotations

import numpy as np

from gradiva.common import GRAVITY, ControlMode, NDArray
from gradiva.estimation import ContactEstimator, StateEstimator
from gradiva.planner import WalkingPlanner
from gradiva.robot_model import Compiler, IdynTreeModel, RobotDescription, interpreted
from gradiva.safety import JointBounds, LastCommand, SafetySupervisor
from gradiva.simplified_model import BalanceLayer, balance_layer
from gradiva.walking.body_references import BodyReferences
from gradiva.walking.leg_check import check_planned_legs
from gradiva.walking.preparation import Preparation
from gradiva.walking.standing_start import StandingStart, standing_start
from gradiva.walking.walking_config import GroundModel, WalkingConfig
from gradiva.walking.zmp_without_foot import ZmpWithoutFoot
from gradiva.whole_body import (
    CompliantTorqueController,
    InverseKinematics,
    PositionController,
    RigidTorqueController,
    ServoFeedforward,
    SwingMomentum,
    VelocityController,
    WholeBodyController,
    solve_start_posture,
    torso_rotation,
    upright_torso,
)


class WalkingLayers:
    """Builds each layer from its configuration.

    Attributes:
        robot: The robot's description.
        config: What the layers were built from.
        mass: Of the robot, [kg].
        joint_limits: Lower and upper joint positions, [rad], each of shape (n,).
        torque_limits: Of the joints, [N·m], shape (n,).
        joint_bounds: What the joints are made for.
        torso_rotation: Reference of the torso when facing x, shape (3, 3).
        start_posture: Where walking begins.
        reference_lead: How far ahead of the measurement layer 3 wants its references, [s]: a command of motion is meant
            for the end of the period, a command of forces for now.
        standing_offset: What the position servos need on top of it to stand there, [rad], shape (n,).
        planner: Layer 1.
        model_control: Layer 2; another one, behind ports, may take its place.
        whole_body: Layer 3.
        estimator: From sensors to state.
        swing_momentum: How the swinging foot moves the ZMP.
        body_references: From layer 2 to layer 3.
        zmp_without_foot: The ZMP by the feet that are trusted.
        safety: Watches all of it.
    """

    def __init__(self, robot: RobotDescription, config: WalkingConfig, compiler: Compiler = interpreted) -> None:
        """Build everything.

        Raises:
            ModelError: The model does not fit the description, or the start posture cannot be reached.
            ConfigError: The parts of the configuration contradict each other.
        """
        self._model = model = IdynTreeModel(robot)
        inverse_kinematics = InverseKinematics(model, config.inverse_kinematics, compiler)
        feedforward = ServoFeedforward(model, config.servo_feedforward, compiler)
        self.robot = robot
        self.config = config
        self.mass = model.mass
        self.joint_limits = model.joint_limits()
        self.torque_limits = model.torque_limits()
        self.reference_lead = 0.0 if config.walking.control is ControlMode.TORQUE else config.walking.period
        com_offset = np.array([config.planner.zmp_offset[0], 0.0])
        upright = upright_torso(model, config.walking.torso_lean)
        self.start_posture = solve_start_posture(model, inverse_kinematics, com_offset, upright)
        self.torso_rotation = torso_rotation(model, self.start_posture)
        self.standing_offset = self._standing_offset(feedforward)
        self.planner = WalkingPlanner(config.planner)
        self.model_control: BalanceLayer = balance_layer(config.balance, robot)
        self.whole_body = self._whole_body(inverse_kinematics, feedforward, compiler)
        self.estimator = StateEstimator(model, config.state_estimator, compiler, self._contact_estimator(compiler))
        self.swing_momentum = SwingMomentum(
            config.swing_momentum, model, inverse_kinematics, self.start_posture, self.torso_rotation
        )
        check_planned_legs(config.planner.leg_momentum, self.swing_momentum)
        self.body_references = BodyReferences(
            model.mass,
            self.start_posture,
            self.torso_rotation,
            config.planner.zmp_offset,
            self.swing_momentum,
            config.planner.inverse_frequency_offset,
        )
        self.joint_bounds = JointBounds(
            *self.joint_limits, model.velocity_limits(), robot.per_joint("torque_limit"), robot.per_joint("stiffness")
        )
        self.zmp_without_foot = ZmpWithoutFoot(
            model.mass * GRAVITY, config.planner.zmp_offset, config.state_estimator.minimum_load
        )
        self.safety = SafetySupervisor(config.safety, robot, self.joint_bounds, self.start_posture)

    def preparation(self, time: float, start: NDArray) -> Preparation:
        """Return the move from joint positions ``start`` [rad] at ``time`` [s] to where the robot can balance."""
        goal, tick = self.start_posture.joint_positions + self.standing_offset, self.config.walking
        return Preparation(time, start, goal, tick.prepare_duration, tick.prepare_speed)

    def standing_start(self, joint_positions: NDArray) -> StandingStart:
        """Return where a robot begins that stands on the ground with its joints at ``joint_positions`` [rad].

        Raises:
            StateError: It cannot walk from there.
        """
        usual = self.start_posture.joint_positions
        return standing_start(self._model, self.config.planner, usual, joint_positions)

    def last_command(self) -> LastCommand:
        """Return what layer 3 told the joints in the last tick."""
        return LastCommand(self.whole_body.desired_joint_positions, self.whole_body.desired_velocity[6:])

    def _standing_offset(self, feedforward: ServoFeedforward) -> NDArray:
        half_load = 0.5 * self.mass * GRAVITY
        lever = self.config.planner.zmp_offset[0]
        wrench = np.array([0.0, 0.0, half_load, 0.0, -lever * half_load, 0.0])
        rest = np.zeros(6 + len(self.robot.joints))
        return feedforward.offset(self.start_posture, rest, rest, wrench, wrench)

    def _whole_body(
        self, inverse_kinematics: InverseKinematics, feedforward: ServoFeedforward, compiler: Compiler
    ) -> WholeBodyController:
        if self.config.walking.control is ControlMode.TORQUE:
            return self._torque_controller(compiler)
        if self.config.walking.control is ControlMode.VELOCITY:
            return VelocityController(inverse_kinematics, self.start_posture)
        return PositionController(inverse_kinematics, feedforward, self.start_posture)

    def _contact_estimator(self, compiler: Compiler) -> ContactEstimator | None:
        """What the controller for soft ground needs, and no other."""
        config = self.config
        if not config.knows_soft_ground:
            return None
        age = config.compliant_torque_control.wrench_age
        return ContactEstimator(self.robot.sole, config.contact_estimator, age, compiler)

    def _torque_controller(self, compiler: Compiler) -> WholeBodyController:
        config, model, posture = self.config, self._model, self.start_posture
        rate = config.torque_control.torque_rate
        if config.torque_control.ground is GroundModel.COMPLIANT:
            return CompliantTorqueController(model, config.compliant_torque_control, rate, posture, compiler)
        return RigidTorqueController(model, config.rigid_torque_control, rate, posture, compiler)
