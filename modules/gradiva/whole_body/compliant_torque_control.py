r"""Control torques on soft ground, "TSID-Compliant" (thesis section 8.2).

On visco-elastic ground a wrench is a state: the controller chooses its rate, :math:`\dot f_k = h_k + g_k (J_k \dot\nu +
\dot J_k \nu)`, which leaves the accelerations as the only unknowns.

Variables
    :math:`\dot\nu`.
Objective
    second derivative of the centroidal momentum, :math:`G \ddot h^* - G \ddot h`, its angular part towards that of the
    legs as planned and that by which pelvis, arms and torso return to their posture (not in the thesis); wrenches
    towards the expected ones, :math:`k_f (f_r - f) - \dot f`; attitude of the feet that stand, all the more the less
    they carry, for a ground that only pushes does not hold them (not in the thesis); poses of the feet that swing;
    orientations of torso and pelvis; posture.
Constraints
    base dynamics with the measured wrenches; wrench cones a horizon ahead, :math:`A (f + \dot f t) \le b`, torques and
    joint positions within their limits.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as cs

from gradiva.common import ConfigError, JointCommand, NDArray, RobotPosture, RobotState, Side, low_pass_gain
from gradiva.robot_model import Compiler, IdynTreeModel, SymbolicDynamics, SymbolicFrame, interpreted
from gradiva.whole_body import tasks
from gradiva.whole_body.limits import JointLimitConfig, TorqueLimitConfig, WrenchConeConfig
from gradiva.whole_body.qp_solver import SolverName
from gradiva.whole_body.soft_sole import ContactSymbols, SoftSole, SoleFace, contact_values
from gradiva.whole_body.tasks import (
    OrientationTaskConfig,
    PoseTaskConfig,
    PostureTaskConfig,
    refuse_negative,
    rotation_error,
)
from gradiva.whole_body.torque_control import ProblemDraft, TorqueController, TorqueProblem, compliant_unknowns
from gradiva.whole_body.whole_body_reference import Parameters, ReferenceSymbols, Values, WholeBodyReference


@dataclass(frozen=True, slots=True)
class LinearMomentumConfig:
    """Of the linear momentum, by its second derivative; its integral is the position of the centre of mass.

    Attributes:
        weight: Of each (N/s)² that is missing, [-].
        damping: k_d, of the acceleration of the centre of mass, [1/s].
        stiffness: k_p, of its velocity, [1/s²].
        integral: k_i, of its position, [1/s³].
    """

    weight: float
    damping: float
    stiffness: float
    integral: float

    def __post_init__(self) -> None:
        for name in ("weight", "damping", "stiffness", "integral"):
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")
        if self.damping * self.stiffness <= self.integral:
            raise ConfigError(
                f"integral={self.integral}, must be below damping · stiffness = {self.damping * self.stiffness:g}: "
                "the centre of mass would swing up"
            )


@dataclass(frozen=True, slots=True)
class AngularMomentumConfig:
    """Of the centroidal angular momentum, by its second derivative.

    It is asked to be that of the legs as planned, and what brings the upper body back. Asked to be zero, it has arms
    and torso swing against the legs, and turn a little farther with each step.

    Attributes:
        weight: Of each (N·m/s)² that is missing about the horizontal axes, [-].
        vertical_weight: The same about the vertical, where it takes no part in the balance, [-].
        damping: k_d, of its first derivative, [1/s].
        stiffness: k_p, of itself, [1/s²].
        legs_share: Of the planned angular momentum of the legs about the horizontal axes that they are left, [-]; arms
            and trunk swing against the rest, and about the vertical against all of it.
        pelvis_recovery: Share of the pelvis' tilt by which the body may come upright in a second, [1/s].
        recovery: Share of what a joint is away from its posture by which it may come back in a second, by joint group,
            [1/s].
    """

    weight: float
    vertical_weight: float
    damping: float
    stiffness: float
    legs_share: float
    pelvis_recovery: float
    recovery: dict[str, float]

    def __post_init__(self) -> None:
        refuse_negative(self)
        for group, value in self.recovery.items():
            if value < 0.0:
                raise ConfigError(f"recovery.{group}={value}, must not be negative")


@dataclass(frozen=True, slots=True)
class StandingFootConfig:
    """Of a foot that stands.

    Attributes:
        attitude_weight: Of each (rad/s²)² that is missing to its orientation, on ground of the reference damping and
            stiffness, [-]: a sole turns as its moment changes, so it goes with the root of the weights of wrench rates,
            and tilts the less, the stiffer the ground.
        reference_stiffness: [N/m³].
        unloaded_weight: Added to it, and given to its place, [-], where the foot carries next to nothing.
        unloaded_force: Normal force at which half of that is left, [N].
        stiffness: [1/s²].
        damping: [1/s].
    """

    attitude_weight: float
    reference_stiffness: float
    unloaded_weight: float
    unloaded_force: float
    stiffness: float
    damping: float

    def __post_init__(self) -> None:
        refuse_negative(self)
        for name in ("unloaded_force", "reference_stiffness"):
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")


@dataclass(frozen=True, slots=True)
class WrenchRateConfig:
    """Of the wrenches towards the expected ones.

    Attributes:
        bandwidth: k_f, [1/s].
        force_weight: Of each (N/s)² that is missing, [-].
        moment_weight: Of each (N·m/s)², [-].
    """

    bandwidth: float
    force_weight: float
    moment_weight: float

    def __post_init__(self) -> None:
        refuse_negative(self)


@dataclass(frozen=True, slots=True)
class CompliantTorqueControlConfig:
    """Of TSID-Compliant; its parts are documented at their classes.

    Attributes:
        linear_momentum: Centre of mass.
        angular_momentum: About the centre of mass.
        wrench_rate: Wrenches.
        standing_foot: Of a foot with load.
        swing_foot: Of a foot without.
        torso: Orientation of the torso frame.
        pelvis: Orientation of the base link.
        posture: Joints.
        wrench_cone: What the ground can exert.
        wrench_age: Of the measured wrenches, [s].
        wrench_time_constant: Of the low pass on what the model of the ground misses of them, 0 for none, [s].
        cone_horizon: After which a wrench has to be within the cone, [s]; at once nothing can change it.
        joint_limits: Positions.
        torque_limits: Torques.
        reference_damping: b + k Δt / 2 of the ground for which the weights of wrench rates are meant, [N·s/m³]; on
            other ground they change with its inverse square, for the rates that an acceleration makes change with it.
        search_speed: At which a foot that should stand and does not touch looks for the ground, [m/s].
    """

    linear_momentum: LinearMomentumConfig
    angular_momentum: AngularMomentumConfig
    wrench_rate: WrenchRateConfig
    standing_foot: StandingFootConfig
    swing_foot: PoseTaskConfig
    torso: OrientationTaskConfig
    pelvis: OrientationTaskConfig
    posture: PostureTaskConfig
    wrench_cone: WrenchConeConfig
    wrench_age: float
    wrench_time_constant: float
    cone_horizon: float
    joint_limits: JointLimitConfig
    torque_limits: TorqueLimitConfig
    reference_damping: float
    search_speed: float

    def __post_init__(self) -> None:
        refuse_negative(self)
        for name in ("reference_damping", "cone_horizon"):
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")


_WRENCH = {
    side: tuple(
        f"{side}_{name}" for name in ("measured_wrench", "wrench_age", "wrench_share", "last_regressor", "last_wrench")
    )
    for side in Side
}
_REMEMBERED = {side: (f"{side}_regressor", f"{side}_wrench") for side in Side}


class CompliantProblem(ProblemDraft):
    """The draft of TSID-Compliant.

    Attributes:
        contacts: What each foot feels, symbols.
        soles: What follows from them.
        wrench_rates: ḟ of each foot, [N/s, N·m/s], (6, 1).
    """

    def __init__(self, dynamics: SymbolicDynamics, config: CompliantTorqueControlConfig) -> None:
        """Put the problem together."""
        parameters = Parameters()
        description = dynamics.model.description
        references = ReferenceSymbols(dynamics.joints, parameters)
        feet = {side: dynamics.frame(description.foot_frame(side)) for side in Side}
        self.contacts = {side: ContactSymbols.of(side, parameters) for side in Side}
        faces = {side: SoleFace.of(description.sole, side) for side in Side}
        self.soles = {
            side: SoftSole(feet[side], faces[side], contact, references.feet[side].is_loaded)
            for side, contact in self.contacts.items()
        }
        wrenches = {side: sole.wrench for side, sole in self.soles.items()}
        super().__init__(dynamics, feet, parameters, references, compliant_unknowns(dynamics, feet, wrenches))
        period = parameters.symbol("period")
        acceleration = self.unknowns.acceleration
        self.wrench_rates = {side: sole.wrench_rate(acceleration, period) for side, sole in self.soles.items()}
        self._rate_scale = self._scale_of_rates(config.reference_damping, period)
        self._softness = cs.sqrt(self._rate_scale) * self._stiffness_ratio(config.standing_foot)
        self.outputs = {f"{side}_regressor": sole.regressor for side, sole in self.soles.items()}
        self.outputs |= {f"{side}_wrench": wrench for side, wrench in wrenches.items()}
        self._linear_momentum(config.linear_momentum)
        self._angular_momentum(config.angular_momentum)
        for side in Side:
            self._wrench(side, config)
            self._standing(side, config.standing_foot)
            self.foot("swinging", side, config.swing_foot, 1.0 - references.feet[side].is_loaded)
        self.trunk(config.torso, config.pelvis)
        self.posture(config.posture)
        self.joint_limits(config.joint_limits)
        self.torque_limits(config.torque_limits)

    def _scale_of_rates(self, reference_damping: float, period: cs.SX) -> cs.SX:
        """Return what weights of wrench rates are multiplied by on this ground, the mean of both feet's."""
        dampings = [contact.damping + 0.5 * period * contact.stiffness for contact in self.contacts.values()]
        reference = self.parameters.constant("reference_damping", reference_damping)
        return (reference / (0.5 * (dampings[0] + dampings[1]))) ** 2

    def _stiffness_ratio(self, config: StandingFootConfig) -> cs.SX:
        """Return the stiffness for which attitudes are weighed over this ground's, the mean of both feet's."""
        left, right = (contact.stiffness for contact in self.contacts.values())
        reference = self.parameters.constant("standing_foot.reference_stiffness", config.reference_stiffness)
        return reference / (0.5 * (left + right))

    def _linear_momentum(self, config: LinearMomentumConfig) -> None:
        """m x⃛ = Σ ḟ, with the jerk k_d, k_p and k_i away from its reference."""
        dynamics, wanted = self.dynamics, self.references
        damping, stiffness, integral = self._constants(
            "linear_momentum", damping=config.damping, stiffness=config.stiffness, integral=config.integral
        )
        acceleration = tasks.linear_momentum_rate(dynamics, self.unknowns.wrenches) / dynamics.mass
        jerk = wanted.com_jerk + damping * (wanted.com_acceleration - acceleration)
        jerk += stiffness * (wanted.com_velocity - dynamics.com_velocity)
        jerk += integral * (wanted.com_position - dynamics.com_position)
        reached = self.wrench_rates[Side.LEFT][:3] + self.wrench_rates[Side.RIGHT][:3]
        self._cost("linear_momentum", reached - dynamics.mass * jerk, config.weight)

    def _angular_momentum(self, config: AngularMomentumConfig) -> None:
        """Σ S(ṗ - ẋ) f + S(p - x) ḟ + μ̇, asked for -k_d of the error of its integral and -k_p of the momentum's."""
        dynamics, wrenches = self.dynamics, self.unknowns.wrenches
        reached = tasks.angular_momentum_rate(dynamics, self.feet, self.wrench_rates)
        for side in Side:
            velocity = self.feet[side].twist[:3] - dynamics.com_velocity
            reached += cs.cross(velocity, wrenches[side][:3])
        damping, stiffness = self._constants("angular_momentum", damping=config.damping, stiffness=config.stiffness)
        rate = tasks.angular_momentum_rate(dynamics, self.feet, wrenches)
        (share,) = self._constants("angular_momentum.legs", share=config.legs_share)
        legs = share * cs.vertcat(1.0, 1.0, 0.0)  # about the vertical the arms swing against the legs
        missing = reached + damping * (rate - legs * self.references.angular_momentum_rate)
        too_much = tasks.angular_momentum(dynamics) - legs * self.references.angular_momentum
        missing += stiffness * (too_much - self._recovering_momentum(config))
        self._cost("angular_momentum", missing[:2], config.weight)
        self._cost("vertical_angular_momentum", missing[2], config.vertical_weight)

    def _recovering_momentum(self, config: AngularMomentumConfig) -> cs.SX:
        """Return the angular momentum of a pelvis and joints that come back to where they belong, [N·m·s], (3, 1)."""
        dynamics = self.dynamics
        shares = dynamics.model.description.spread(config.recovery, "[angular_momentum.recovery]")
        missing = self.references.posture - dynamics.joint_positions
        velocities = self.parameters.constant("angular_momentum.recovery", shares) * missing
        (upright,) = self._constants("angular_momentum.pelvis", recovery=config.pelvis_recovery)
        pelvis = dynamics.frame(dynamics.model.description.base_link)
        turn = upright * rotation_error(pelvis, self.references.pelvis_rotation)
        return dynamics.centroidal_momentum_matrix[3:, 3:] @ cs.vertcat(turn, velocities)

    def _wrench(self, side: Side, config: CompliantTorqueControlConfig) -> None:
        """Towards the expected wrench, and within the cone a horizon ahead."""
        foot, rate, wrench = self.references.feet[side], self.wrench_rates[side], self.unknowns.wrenches[side]
        bandwidth, force, moment = self._constants(
            f"{side}_wrench_rate",
            bandwidth=config.wrench_rate.bandwidth,
            force_weight=config.wrench_rate.force_weight,
            moment_weight=config.wrench_rate.moment_weight,
        )
        wanted = bandwidth * (tasks.expected_wrench(self.feet[side], foot) - wrench)
        self.composer.cost(f"{side} force rate", rate[:3] - wanted[:3], foot.is_loaded * self._rate_scale * force)
        self.composer.cost(f"{side} moment rate", rate[3:] - wanted[3:], foot.is_loaded * self._rate_scale * moment)
        (horizon,) = self._constants(f"{side}_cone", horizon=config.cone_horizon)
        self.cone(side, wrench + horizon * rate, config.wrench_cone)

    def _standing(self, side: Side, config: StandingFootConfig) -> None:
        """Attitude as the ground's; place and attitude all the more, the less the foot carries."""
        frame, contact = self.feet[side], self.contacts[side]
        attitude, unloaded, force, stiffness, damping = self._constants(
            f"{side}_standing_foot",
            attitude_weight=config.attitude_weight,
            unloaded_weight=config.unloaded_weight,
            unloaded_force=config.unloaded_force,
            stiffness=config.stiffness,
            damping=config.damping,
        )
        loaded = self.references.feet[side].is_loaded
        alone = loaded * unloaded / (1.0 + (self.unknowns.wrenches[side][2] / force) ** 2)
        missing = contact.rest_position - frame.position
        missing[2] = 0.0  # how deep the sole sinks follows from the load
        linear = stiffness * missing - damping * frame.twist[:3]
        angular = stiffness * rotation_error(frame, contact.rest_rotation) - damping * frame.twist[3:]
        reached = self._acceleration_of(frame)
        self.composer.cost(f"{side} standing foot", reached[:3] - linear, alone)
        self.composer.cost(f"{side} standing foot", reached[3:] - angular, alone + loaded * self._softness * attitude)

    def _acceleration_of(self, frame: SymbolicFrame) -> cs.SX:
        return tasks.frame_acceleration(frame, self.unknowns.acceleration)

    def _cost(self, name: str, residual: cs.SX, weight: float) -> None:
        """Ask for rates of wrenches."""
        weights = self._rate_scale * self.parameters.constant(f"{name}.weight", weight)
        self.composer.cost(name.replace("_", " "), residual, weights)

    def _constants(self, name: str, **values: float) -> list[cs.SX]:
        return [self.parameters.constant(f"{name}.{key}", value) for key, value in values.items()]


class CompliantTorqueController(TorqueController):
    """Command torques on soft ground."""

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
