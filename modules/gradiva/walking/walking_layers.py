"""The layers of one robot and their configuration."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np

from gradiva.blf import TICK_LIMIT, Backend, BlfConfig
from gradiva.common import (
    GRAVITY,
    ConfigError,
    ControlMode,
    NDArray,
    Side,
    configuration,
    plugin_errors,
    setting,
)
from gradiva.estimation import (
    ESTIMATORS,
    ContactEstimator,
    ContactEstimatorConfig,
    Estimator,
    ExternalWrenchConfig,
    ExternalWrenchObserver,
    FlexibleJointObserver,
    FlexibleJointObserverConfig,
    StateEstimator,
    StateEstimatorConfig,
)
from gradiva.planner import PLANNERS, PlannerConfig, WalkingPlanner
from gradiva.push_recovery import (
    STEP_ADAPTATIONS,
    HipStrategy,
    HipStrategyConfig,
    MovedSoles,
    PushCompensation,
    PushRecovery,
    SidewaysCompensation,
    SlopedSoles,
    SoleLevelling,
    StepAdaptation,
    StepAdaptationConfig,
    Trunk,
    step_adaptation,
)
from gradiva.robot_model import Compiler, IdynTreeModel, RobotDescription, ServoLaw, interpreted
from gradiva.safety import JointBounds, SafetyConfig, SafetySupervisor
from gradiva.simplified_model import (
    BalanceConfig,
    BalanceLayer,
    DcmControllerConfig,
    DcmLaw,
    LinearInvertedPendulum,
    ZmpComControllerConfig,
    balance_law,
    balance_layer,
)
from gradiva.walking.body_references import BodyReferences, SwingMomentum, SwingMomentumConfig
from gradiva.walking.start import Preparation, StandingStart, standing_start
from gradiva.walking.walking_log import OWN
from gradiva.whole_body import (
    CONTROLLERS,
    RESTING_LOAD,
    TASKS,
    BlfController,
    BlfKinematics,
    CommandedMotion,
    CompliantTorqueControlConfig,
    CompliantTorqueController,
    DrivesConfig,
    ExternalJointsController,
    ExternalKinematics,
    FlexibleTorqueControlConfig,
    FlexibleTorqueController,
    FootAdmittance,
    FootAdmittanceConfig,
    FrictionCompensator,
    FrictionFeedforward,
    GroundModel,
    InverseKinematicsConfig,
    OwnController,
    PositionController,
    RigidTorqueControlConfig,
    RigidTorqueController,
    ServoFeedforward,
    ServoFeedforwardConfig,
    ServoInverse,
    Task,
    TorqueActuation,
    TorqueControlConfig,
    TorqueLaw,
    VelocityController,
    WalkingKinematics,
    WholeBodyConfig,
    WholeBodyController,
    backed_controller,
    backed_torque_controller,
    check_backed_torque,
    described_posture,
    external_joints,
    solve_start_posture,
    standing_reference,
    task_list,
    torso_rotation,
    upright_torso,
)

_NO_FIELD = re.compile(r"\W")  # what MATLAB takes for no part of the name of a field


class WalkingLayers:
    """Builds the layers of one robot from their configuration.

    Attributes:
        robot: The robot's description.
        config: Of the layers.
        mass: Of the robot, [kg].
        joint_limits: Lower and upper joint positions, [rad], each of shape (n,).
        torque_limits: Of the joints, [N·m], shape (n,).
        joint_bounds: Limits of the joints.
        torso_rotation: Reference of the torso when facing x, shape (3, 3).
        start_posture: Posture in which walking begins.
        reference_lead: Lead of the references of layer 3 over the measurement, [s]: a command of motion is for the
            end of the period, a command of forces for now.
        standing_offset: Offset of the position servos to stand there, [rad], shape (n,).
        planner: Layer 1.
        model_control: Layer 2; another one, behind ports, may take its place.
        inverse_kinematics: Of layer 3; in torque control it solves the start posture alone.
        velocity_limits: Of the joints, [rad/s], shape (n,).
        whole_body: Layer 3.
        estimator: From sensors to state.
        flexible_joint_observer: Of the links that bend; None: they do not, or the controller takes them to be rigid.
        swing_momentum: Shift of the ZMP by the swinging foot.
        body_references: From layer 2 to layer 3.
        push_recovery: Answers pushes between the layers: steps, trunk, soles.
        safety: Checks of each tick.
    """

    def __init__(
        self,
        robot: RobotDescription,
        config: WalkingConfig,
        compiler: Compiler = interpreted,
        tasks: Sequence[Task] = (),
        dcm_law: DcmLaw | BalanceLayer | None = None,
    ) -> None:
        """Build everything.

        Args:
            robot: The robot's description.
            config: Of the layers.
            compiler: How the functions of layer 3 and of the estimator become fast.
            tasks: Of layer 3, beside those of walking and those that the configuration names.
            dcm_law: Of layer 2, or a whole layer 2, in place of the configured one.

        Raises:
            ModelError: The model does not fit the description, or the start posture cannot be reached.
            ConfigError: The parts of the configuration contradict each other, or a joint has no motor or no encoder.
        """
        _check_actuation(robot)
        self.robot = robot
        self.config = config
        self._model = self._flexible_model = IdynTreeModel(robot, config.drives.rotor_inertia)
        if self.knows_flexible_joints:
            self._flexible_model = IdynTreeModel(robot.with_flexible_joints(), config.drives.rotor_inertia)
        self._tasks = [*TASKS.make_all(config.tasks), *task_list(tasks)]
        self._take_limits()
        self._stand(compiler)
        self.planner = config.make_planner()
        self.model_control: BalanceLayer = balance_layer(config.balance, robot, dcm_law, compiler)
        self._estimate(compiler)  # refuses links whose deflection no foot shows before layer 3 is compiled
        self._control_whole_body(compiler)
        self._refer(compiler)
        self.push_recovery = self._push_recovery(compiler)
        self.safety = SafetySupervisor(config.safety, robot, self.joint_bounds, self.start_posture)

    def _take_limits(self) -> None:
        """Take mass and limits of the model."""
        model = self._model
        self.mass = model.mass
        self.joint_limits = model.joint_limits()
        self.torque_limits = model.torque_limits()
        self.velocity_limits = model.velocity_limits()
        self.joint_bounds = self._joint_bounds(model)

    def _stand(self, compiler: Compiler) -> None:
        """Solve the start posture by the inverse kinematics of layer 3."""
        config, model = self.config, self._model
        self._external = external_joints(config.whole_body.external_joints, model.description)
        if self._external and (self._by_torque or config.whole_body.backend is not Backend.GRADIVA):
            raise ConfigError(
                "whole_body.external_joints: position and velocity control with backend=gradiva alone know them",
                ["whole_body.external_joints"],
            )
        kind = ExternalKinematics if self._external else WalkingKinematics
        self.inverse_kinematics = kind(model, config.inverse_kinematics, compiler, self._kinematic_tasks())
        com_offset = np.array([config.planner.zmp_offset[0], 0.0])
        upright = upright_torso(model)
        self._ask_own_tasks(upright)
        self.start_posture = solve_start_posture(model, self.inverse_kinematics, com_offset, upright)
        self.torso_rotation = torso_rotation(model, self.start_posture)

    def _ask_own_tasks(self, upright: NDArray) -> None:
        """Give the user's tasks targets where they have none, and ask once for what they are asked in each tick.

        Raises:
            ConfigError: One of them fails; the message has its file and line.
        """
        posture = described_posture(self._model)
        reference = standing_reference(self._model, posture, upright)
        for task in self._tasks:
            with plugin_errors(f"[tasks.{task.name}]", task):
                task.hold(self._model, posture)
                task.reference(reference)

    def _control_whole_body(self, compiler: Compiler) -> None:
        """Build layer 3 and what leads the servos."""
        config, model = self.config, self._model
        friction = FrictionFeedforward(model, config.drives)
        feedforward = ServoFeedforward(model, config.servo_feedforward, compiler, friction)
        self.reference_lead = 0.0 if self._by_torque else config.walking.period
        self.standing_offset = self._standing_offset(feedforward)
        solves = self._whole_body if config.whole_body.backend is Backend.GRADIVA else self._backed_whole_body
        shipped = solves(self.inverse_kinematics, feedforward, compiler)
        self.whole_body: WholeBodyController = shipped
        if own := config.walking.whole_body:
            self.whole_body = CONTROLLERS.make(own, config.whole_body_controllers, shipped)

    def _estimate(self, compiler: Compiler) -> None:
        """Build the estimators."""
        config = self.config
        contacts, external_wrench, flexible_joints = self._contact_estimator(compiler), None, None
        if config.external_wrench.is_estimated:
            external_wrench = ExternalWrenchObserver(self._flexible_model, config.external_wrench, compiler)
        if self.knows_flexible_joints:
            flexible_joints = FlexibleJointObserver(self._flexible_model, config.flexible_joint_observer, compiler)
        observers = contacts, external_wrench, flexible_joints
        shipped = StateEstimator(
            self._flexible_model, config.state_estimator, compiler, *observers, follows_joints=self._by_torque
        )
        self.estimator: Estimator = ESTIMATORS.make(config.walking.estimator, config.estimators, shipped)
        self.flexible_joint_observer = flexible_joints

    def _refer(self, compiler: Compiler) -> None:
        """Build the references from layer 2 to layer 3."""
        config = self.config
        self.swing_momentum = SwingMomentum(
            config.swing_momentum, self._model, self.inverse_kinematics, self.start_posture, self.torso_rotation
        )
        config.planner.leg_momentum.check(self.swing_momentum.zmp_gains(Side.LEFT))
        self.body_references = BodyReferences(
            self.mass,
            self.start_posture,
            self.torso_rotation,
            config.planner.zmp_offset,
            self.swing_momentum,
            config.planner.inverse_frequency_offset,
            compiler,
        )

    def _push_recovery(self, compiler: Compiler) -> PushRecovery:
        """Build what answers pushes."""
        config, tick = self.config, self.config.walking
        steps = self._with_legs(step_adaptation(config.step_adaptation, self.planner, self.robot, compiler))
        trunk = self._hip_strategy() if self._tilts_trunk else Trunk()
        return PushRecovery(steps, trunk, self._soles(compiler), self._compensation(), tick.period)

    def _with_legs(self, steps: StepAdaptation) -> StepAdaptation:
        steps.leg_momentum = self.swing_momentum.zmp_gains(Side.LEFT).diagonal()
        steps.reset()
        return steps

    def adapt_steps(self, steps: StepAdaptation) -> None:
        """Let another step adaptation move the footholds, from the next tick on."""
        self.push_recovery.steps = self._with_legs(steps)

    def _compensation(self) -> PushCompensation:
        wrench = self.config.external_wrench
        known = LinearInvertedPendulum(self.config.planner.com_height), self.mass, wrench.dead_band
        sideways = self.config.balance.takes_wrench
        return SidewaysCompensation(*known, wrench.push_offset) if sideways else PushCompensation(*known)

    def _soles(self, compiler: Compiler) -> SlopedSoles:
        weight = self.mass * GRAVITY
        if self._by_torque:
            return SlopedSoles(RESTING_LOAD * weight if self.config.torque_control.learns_landings else math.inf)
        return MovedSoles(FootAdmittance(self.config.foot_admittance, compiler), SoleLevelling(weight, self.robot.sole))

    def _hip_strategy(self) -> HipStrategy:
        config, posture = self.config, self.start_posture
        robot = self._model, self.inverse_kinematics, posture, self.torso_rotation
        return HipStrategy(config.hip_strategy, *robot, config.planner.com_height, config.inverse_kinematics.torso_gain)

    def answer_in_time(self) -> None:
        """Have the layers answer within a tick, as a robot needs it; until then they wait, as a simulation may."""
        self.model_control.time_limit = self.config.walking.period
        if (backed := backed_controller(self.whole_body)) is not None:
            backed.time_limit = TICK_LIMIT

    @property
    def knows_flexible_joints(self) -> bool:
        """Whether estimation, and layer 3 in torque control, take the robot's flexible joints into account."""
        return self.config.knows_flexible_joints and bool(self.robot.flexible_joints)

    @property
    def _tilts_trunk(self) -> bool:
        """Whether the trunk may tilt: neither in torque control nor where the external wrench is estimated.

        A tilt holds no push that lasts.
        """
        is_estimated = self.config.external_wrench.is_estimated
        return self.config.hip_strategy.is_used and not self._by_torque and not is_estimated

    @property
    def _by_torque(self) -> bool:
        return self.config.walking.control is ControlMode.TORQUE

    @cached_property
    def own_signal_sources(self) -> list[tuple[str, Any]]:
        """What has signals of the user's own, with the beginnings of their names in the log; found in the first tick.

        Names and sizes of signals are the same in all ticks, see ``DcmLaw.signals``.
        """
        sources: list[tuple[str, Any]] = [("planner", self.planner), ("law", self.model_control)]
        sources += [("estimator", self.estimator), *((task.name, task) for task in self._tasks)]
        sources += [("whole_body", self.whole_body)] if isinstance(self.whole_body, OwnController) else []
        sources += [(type(check).__name__, check) for check in self.safety.own_checks if hasattr(check, "signals")]
        named = [(f"{OWN}{_NO_FIELD.sub('_', name)}::", source) for name, source in sources]
        return [(name, source) for name, source in named if source.signals()]

    def preparation(self, time: float, start: NDArray) -> Preparation:
        """Return the move from joint positions ``start`` [rad] at ``time`` [s] to the start posture."""
        goal, tick = self.start_posture.joint_positions + self.standing_offset, self.config.walking
        goal[self._external] = start[self._external]
        return Preparation(time, start, goal, tick.prepare_duration, tick.prepare_speed)

    def standing_start(self, joint_positions: NDArray) -> StandingStart:
        """Return the stand of a robot on the ground with its joints at ``joint_positions`` [rad].

        Raises:
            StateError: It cannot walk from there.
        """
        usual = self.start_posture.joint_positions.copy()
        usual[self._external] = joint_positions[self._external]
        return standing_start(self._model, self.config.planner, usual, joint_positions)

    def joint_axes(self) -> dict[str, str]:
        """Return the axis about which each joint of legs and torso turns in the start posture: roll, pitch or yaw."""
        frames = (*map(self.robot.foot_frame, Side), self.robot.torso_frame)
        turns = np.abs([self._model.frame_jacobian(self.start_posture, frame)[3:, 6:] for frame in frames]).max(axis=0)
        axes = zip(self.robot.joints, turns.T, strict=True)
        return {joint: ("roll", "pitch", "yaw")[axis.argmax()] for joint, axis in axes if axis.any()}

    def _joint_bounds(self, model: IdynTreeModel) -> JointBounds:
        law, speeds = ServoLaw.of(self.robot), model.velocity_limits()
        leads = speeds * (law.lag + self.config.walking.period)
        torques = self.robot.per_joint("torque_limit")
        return JointBounds(*self.joint_limits, speeds, torques, law.stiffness, leads, law.integral_gain > 0.0)

    def _standing_offset(self, feedforward: ServoFeedforward) -> NDArray:
        half_load = 0.5 * self.mass * GRAVITY
        lever = self.config.planner.zmp_offset[0]
        wrench = np.array([0.0, 0.0, half_load, 0.0, -lever * half_load, 0.0])
        rest = np.zeros(6 + len(self.robot.joints))
        torques = feedforward.servo_torques(self.start_posture, rest, rest, wrench, wrench)
        return ServoInverse(self.robot).offset(torques, self.config.walking.period)

    @property
    def has_own_tasks(self) -> bool:
        """Whether layer 3 has tasks beside those of walking."""
        return bool(self._tasks)

    def _kinematic_tasks(self) -> list[Task]:
        """Return the tasks of the inverse kinematics, which in torque control solves the start posture alone."""
        return [task for task in self._tasks if task.states_velocity or not self._by_torque]

    def _whole_body(
        self, inverse_kinematics: WalkingKinematics, feedforward: ServoFeedforward, compiler: Compiler
    ) -> WholeBodyController:
        if self._by_torque:
            return self._torque_controller(compiler)
        if self.config.walking.control is ControlMode.VELOCITY:
            shipped: PositionController | VelocityController
            shipped = VelocityController(inverse_kinematics, self.start_posture)
        else:
            shipped = PositionController(inverse_kinematics, feedforward, self.start_posture)
        if not isinstance(inverse_kinematics, ExternalKinematics):
            return shipped
        return ExternalJointsController(shipped, inverse_kinematics, self._external)

    def _backed_whole_body(
        self, inverse_kinematics: WalkingKinematics, feedforward: ServoFeedforward, compiler: Compiler
    ) -> WholeBodyController:
        """Return the shipped controller with its problem solved by bipedal-locomotion-framework.

        Raises:
            ConfigError: It is not installed, or does not know tasks of one's own, soft ground or links that bend.
        """
        config, model, python = self.config, self._model, self.config.blf.python
        if self._tasks:
            raise ConfigError("whole_body.backend=blf has no tasks of one's own", ["whole_body.backend"])
        if self._by_torque:
            is_rigid = not (self.knows_flexible_joints or config.knows_soft_ground)
            check_backed_torque(is_rigid, self._flexible_model)  # before seconds of compilation
            rigid = cast(RigidTorqueController, self._torque_controller(compiler))
            return backed_torque_controller(rigid, self._flexible_model, config.rigid_torque_control, python)
        kinematics = BlfKinematics(inverse_kinematics, model, config.inverse_kinematics, config.walking.period, python)
        shipped = self._whole_body(cast(WalkingKinematics, kinematics), feedforward, compiler)
        return BlfController(shipped, kinematics)

    def _contact_estimator(self, compiler: Compiler) -> ContactEstimator | None:
        """Return the contact estimator, which only the controller for soft ground needs."""
        config = self.config
        if not config.knows_soft_ground:
            return None
        age = config.compliant_torque_control.wrench_age
        return ContactEstimator(self.robot.sole, config.contact_estimator, age, compiler)

    def _torque_controller(self, compiler: Compiler) -> WholeBodyController:
        config, model, posture = self.config, self._flexible_model, self.start_posture
        rate, time_constant = config.torque_control.torque_rate, config.state_estimator.velocity_time_constant
        motion = CommandedMotion(6 + len(model.description.joints), self.robot.torque_latency, time_constant)
        actuation = TorqueActuation(
            rate, FrictionCompensator(model, config.drives, compiler), motion, config.torque_control.zmp_excess
        )
        common = actuation, posture, compiler, self._tasks
        if config.torque_control.ground is GroundModel.COMPLIANT:
            return CompliantTorqueController(model, config.compliant_torque_control, *common)
        rigid = config.rigid_torque_control
        if self.knows_flexible_joints:
            return FlexibleTorqueController(model, rigid, config.flexible_torque_control, *common)
        return RigidTorqueController(model, rigid, *common)


def _check_actuation(robot: RobotDescription) -> None:
    """Refuse passive and unmeasured joints: layer 3 knows them, estimation and safety expect all joints."""
    for kind, joints in (("motor", robot.actuated_joints), ("encoder", robot.measured_joints)):
        without = [joint for joint in robot.joints if joint not in joints]
        if without:
            raise ConfigError(
                f"{robot.name}: joint '{without[0]}' has no {kind}; estimation and safety need one at each joint: "
                "leave it out of joint_groups, which locks it at zero"
            )


@dataclass(frozen=True, slots=True)
class WalkingConfig:
    """Configuration of a walk: one attribute for each table of the files.

    Attributes:
        walking: The tick.
        planner: Layer 1.
        dcm_controller: Layer 2, instantaneous.
        zmp_com_controller: Layer 2, towards the body.
        step_adaptation: Between layers 2 and 1: footholds that follow the DCM.
        hip_strategy: Between layers 2 and 3: tilt of the trunk while a push is caught.
        inverse_kinematics: Layer 3.
        servo_feedforward: Layer 3, position control.
        drives: Layer 3: rotors and friction.
        foot_admittance: Before layer 3 where it commands motion.
        torque_control: Layer 3, torque control.
        state_estimator: Estimation.
        flexible_joint_observer: Of the links that bend.
        contact_estimator: The contacts with soft ground.
        external_wrench: Estimation of pushes.
        swing_momentum: Between layers 2 and 3: shift of the ZMP by the swinging foot.
        safety: Tolerated limits, and the responses beyond them.
        balance_laws: Of layer 2, by name of the law: the tables of the shipped laws and of the chosen one.
        tasks: Of layer 3, beside those of walking: name to table, see ``Task``.
        planners: Tables of planners of the user's own, by name, see ``WalkingPlanner``.
        estimators: Tables of estimators of the user's own, by name, see ``Estimator``.
        whole_body_controllers: Tables of controllers of layer 3 of the user's own, by name, see ``OwnController``.
        whole_body: Who solves the problem of layer 3.
        blf: Where bipedal-locomotion-framework is installed.
    """

    walking: TickConfig
    planner: PlannerConfig
    dcm_controller: DcmControllerConfig
    zmp_com_controller: ZmpComControllerConfig
    step_adaptation: StepAdaptationConfig
    hip_strategy: HipStrategyConfig
    inverse_kinematics: InverseKinematicsConfig
    servo_feedforward: ServoFeedforwardConfig
    drives: DrivesConfig
    foot_admittance: FootAdmittanceConfig
    torque_control: TorqueControlConfig
    state_estimator: StateEstimatorConfig
    flexible_joint_observer: FlexibleJointObserverConfig
    contact_estimator: ContactEstimatorConfig
    external_wrench: ExternalWrenchConfig
    swing_momentum: SwingMomentumConfig
    safety: SafetyConfig
    balance_laws: Mapping[str, Any]
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)
    planners: dict[str, dict[str, Any]] = field(default_factory=dict)
    estimators: dict[str, dict[str, Any]] = field(default_factory=dict)
    whole_body_controllers: dict[str, dict[str, Any]] = field(default_factory=dict)
    whole_body: WholeBodyConfig = field(default_factory=WholeBodyConfig)
    blf: BlfConfig = field(default_factory=BlfConfig)

    @property
    def balance(self) -> BalanceConfig:
        """Configuration of layer 2."""
        model, planner = self.walking.model, self.planner
        narrowest = max(planner.min_step_width, planner.min_feet_distance)
        laws, steps = (self.dcm_controller, self.zmp_com_controller), (planner.max_feet_distance, narrowest)
        return BalanceConfig(model, self.balance_laws.get(model), *laws, *steps, self.blf.python)

    @property
    def rigid_torque_control(self) -> RigidTorqueControlConfig:
        """Configuration of TSID-Rigid."""
        return RigidTorqueControlConfig.of(self.torque_control)

    @property
    def compliant_torque_control(self) -> CompliantTorqueControlConfig:
        """Configuration of TSID-Compliant."""
        return CompliantTorqueControlConfig.of(self.torque_control)

    @property
    def flexible_torque_control(self) -> FlexibleTorqueControlConfig:
        """Configuration of TSID-Flex."""
        return FlexibleTorqueControlConfig.of(self.torque_control)

    @property
    def knows_flexible_joints(self) -> bool:
        """Whether estimation, and layer 3 in torque control, are those of a robot whose links bend."""
        return self.torque_control.law is TorqueLaw.FLEXIBLE and not self.knows_soft_ground

    @property
    def knows_soft_ground(self) -> bool:
        """Whether layer 3 assumes soft ground."""
        return self.walking.control is ControlMode.TORQUE and self.torque_control.ground is GroundModel.COMPLIANT

    def make_planner(self) -> WalkingPlanner:
        """Return layer 1, the planner that ``walking.planner`` names.

        Raises:
            ConfigError: It cannot be built.
        """
        planner: WalkingPlanner = PLANNERS.make(self.walking.planner, self.planners, self.planner)
        return planner

    def __post_init__(self) -> None:
        if self.walking.control is not ControlMode.TORQUE:
            try:
                self.zmp_com_controller.check_for_motion_servos()
            except ConfigError as error:
                raise ConfigError(f"zmp_com_controller {error}", ["zmp_com_controller.walking"]) from None
        try:
            STEP_ADAPTATIONS.kind(law := self.step_adaptation.law)
        except ConfigError as error:
            raise ConfigError(f"[step_adaptation] law={law}: {error}", ["step_adaptation.law"]) from None


_LONGEST_PERIOD = 0.05  # [s] in which an error of the DCM grows by a fifth, exp(ω T), on the shipped robots


@configuration
class TickConfig:
    """Settings of the tick, which belong to no single layer.

    Attributes:
        period: Of the controller, [s].
        planner: Layer 1: its name in the registry, or ``package.module:Class``.
        model: Law of layer 2, likewise.
        estimator: From sensors to state, likewise.
        whole_body: Layer 3 of the user's own, likewise; empty: the shipped one.
        control: Layer 3 that is shipped, and the mode of the servos.
        prepare_duration: Least duration of the move to the start posture, [s].
        prepare_speed: Highest joint speed of that move, [rad/s].
    """

    period: float = setting("s", above=0.0, most=_LONGEST_PERIOD, why="the DCM falls away between two ticks")
    planner: str
    model: str
    estimator: str
    whole_body: str
    control: ControlMode
    prepare_duration: float = setting("s", above=0.0)
    prepare_speed: float = setting("rad/s", above=0.0)

    def __post_init__(self) -> None:
        try:
            balance_law(self.model)
        except ConfigError as error:
            raise ConfigError(f"model={self.model}: {error}") from None
        for name, registry in (("planner", PLANNERS), ("estimator", ESTIMATORS), ("whole_body", CONTROLLERS)):
            try:
                if getattr(self, name):
                    registry.kind(getattr(self, name))
            except ConfigError as error:
                raise ConfigError(f"{name}={getattr(self, name)}: {error}") from None
