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

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import casadi as cs

from gradiva.common import ConfigError, JointCommand, NDArray, RobotPosture, RobotState, Side, low_pass_gain
from gradiva.robot_model import Compiler, IdynTreeModel, RobotDescription, SymbolicDynamics, built_once, interpreted
from gradiva.whole_body.limits import (
    LIMIT_HORIZON,
    JointLimitConfig,
    TorqueLimitConfig,
    WrenchConeConfig,
    limit_joint_positions,
    limit_torques,
    limit_wrench,
)
from gradiva.whole_body.qp_composer import Priority, QpComposer
from gradiva.whole_body.qp_solver import SolverName
from gradiva.whole_body.reference_symbols import Values
from gradiva.whole_body.soft_sole import ContactSymbols, SoftSole, SoleFace, contact_values
from gradiva.whole_body.tasks import (
    SoftTaskConfig,
    Task,
    refuse_negative,
)
from gradiva.whole_body.torque_control import (
    GroundSearchConfig,
    TorqueActuation,
    TorqueBody,
    TorqueController,
    TorqueProblem,
    compose,
    trunk_tasks,
)
from gradiva.whole_body.torque_control_config import TorqueControlConfig
from gradiva.whole_body.walking_tasks import (
    FootTask,
    OrientationTaskConfig,
    PoseTaskConfig,
    PostureTaskConfig,
    WalkingPostureTask,
    angular_momentum,
    angular_momentum_rate,
    excess_acceleration,
    expected_wrench,
    frame_acceleration,
    linear_momentum_rate,
    rotation_error,
)
from gradiva.whole_body.whole_body_reference import WholeBodyReference


@dataclass(frozen=True, slots=True)
class LinearMomentumConfig:
    """Configure the task of the linear momentum, by its second derivative; its integral is the position of the CoM.

    Attributes:
        weight: Of each (N/s)² of the residual, [-].
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
    """Configure the task of the centroidal angular momentum, by its second derivative.

    It is asked to be that of the legs as planned, and what brings the upper body back. Asked to be zero, it has arms
    and torso swing against the legs, and turn a little farther with each step.

    Attributes:
        weight: Of each (N·m/s)² of the residual about the horizontal axes, [-].
        vertical_weight: The same about the vertical, where it takes no part in the balance, [-].
        damping: k_d, of its first derivative, [1/s].
        stiffness: k_p, of itself, [1/s²].
        legs_fraction: Part of the legs' planned angular momentum about the horizontal axes that stays, [-]; arms
            and trunk swing against the rest, and about the vertical against all of it.
        pelvis_recovery: Fraction of the pelvis' tilt by which the body may come upright in a second, [1/s].
        recovery: Fraction of a joint's posture error by which it may return in a second, by joint group,
            [1/s].
    """

    weight: float
    vertical_weight: float
    damping: float
    stiffness: float
    legs_fraction: float
    pelvis_recovery: float
    recovery: dict[str, float]

    def __post_init__(self) -> None:
        refuse_negative(self)
        for group, value in self.recovery.items():
            if value < 0.0:
                raise ConfigError(f"recovery.{group}={value}, must not be negative")


@dataclass(frozen=True, slots=True)
class StandingFootConfig:
    """Configure the task of a foot that stands.

    Attributes:
        attitude_weight: Of each (rad/s²)² of the residual of its orientation, on ground of the reference damping and
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
    """Configure the task that leads the wrenches to the expected ones.

    Attributes:
        bandwidth: k_f, [1/s].
        force_weight: Of each (N/s)² of the residual, [-].
        moment_weight: Of each (N·m/s)², [-].
    """

    bandwidth: float
    force_weight: float
    moment_weight: float

    def __post_init__(self) -> None:
        refuse_negative(self)


@dataclass(frozen=True, slots=True)
class CompliantTorqueControlConfig:
    """Configure TSID-Compliant; its parts are documented at their classes.

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
        response_delay: From a motion of a sole to the torques that answer it, tolerated on any ground, [s]; see
            `SoftSole.wrench_rate`.
        cone_horizon: After which a wrench has to be within the cone, [s]; at once nothing can change it.
        joint_limits: Positions.
        torque_limits: Torques.
        reference_damping: b + k Δt / 2 of the ground for which the weights of wrench rates are meant, [N·s/m³]; on
            other ground they change with its inverse square, for the rates that an acceleration makes change with it.
        search: For the ground, of a foot that should stand and does not touch.
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
    response_delay: float
    cone_horizon: float
    joint_limits: JointLimitConfig
    torque_limits: TorqueLimitConfig
    reference_damping: float
    search: GroundSearchConfig

    def __post_init__(self) -> None:
        refuse_negative(self)
        for name in ("reference_damping", "cone_horizon"):
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")

    @classmethod
    def of(cls, config: TorqueControlConfig) -> CompliantTorqueControlConfig:
        """Return what the tables of torque control and the constants of this law make."""
        priorities, own = config.priorities, config.compliant
        limits = priorities.joint_limits, _LIMIT_WEIGHT, LIMIT_HORIZON, _LIMIT_MARGIN, config.narrowed
        return cls(
            linear_momentum=_LINEAR_MOMENTUM,
            angular_momentum=_ANGULAR_MOMENTUM(recovery=own.recovery),
            wrench_rate=_WRENCH_RATE,
            standing_foot=_STANDING_FOOT(attitude_weight=own.attitude_weight),
            swing_foot=_SWING_FOOT,
            torso=_TORSO,
            pelvis=_PELVIS,
            posture=PostureTaskConfig(config.posture_stiffness, own.posture_weights),
            wrench_cone=WrenchConeConfig(priorities.wrench_cone, _LIMIT_WEIGHT),
            wrench_age=_WRENCH_AGE,
            wrench_time_constant=own.wrench_time_constant,
            response_delay=_RESPONSE_DELAY,
            cone_horizon=_CONE_HORIZON,
            joint_limits=JointLimitConfig(*limits),
            torque_limits=TorqueLimitConfig(priorities.torque_limits),
            reference_damping=_REFERENCE_DAMPING,
            search=_SEARCH,
        )


_LINEAR_MOMENTUM = LinearMomentumConfig(  # triple pole at 12 rad/s; 6 to 25 walk alike
    weight=1e3,  # [-] an (N/s)²: rates grow with the ground's damping; 100 falls where that is low
    damping=36.0,  # [1/s]
    stiffness=432.0,  # [1/s²]
    integral=1728.0,  # [1/s³]
)
_ANGULAR_MOMENTUM = partial(  # recovery is a key
    AngularMomentumConfig,
    weight=200.0,  # [-] at 100 ground that softens makes the robot fall, at 1000 the arms swing at 8 rad/s
    vertical_weight=100.0,  # [-]
    damping=30.0,  # [1/s]
    stiffness=200.0,  # [1/s²]
    legs_fraction=1.0,  # [-] where the plan does not know them, feet tilt less at 0.7, and at 0 arms reach their limits
    pelvis_recovery=4.0,  # [1/s] at 0 the pelvis rolls by 5°, at 2 by as much on iCub's own soles
)
_WRENCH_RATE = WrenchRateConfig(bandwidth=10.0, force_weight=1.0, moment_weight=100.0)  # [1/s], [-], [-]
_STANDING_FOOT = partial(  # a ground that only pushes lets a foot with little load tip over; attitude_weight is a key
    StandingFootConfig,
    reference_stiffness=1e6,  # [N/m³] as much weight on 8e6 tolerates half of the noise
    unloaded_weight=100.0,  # [-]
    unloaded_force=20.0,  # [N] a sixteenth of iCub's weight
    stiffness=100.0,  # [1/s²]
    damping=20.0,  # [1/s] critical
)
_SWING_FOOT = PoseTaskConfig(  # hard, a foot that joint limits hold back leaves no answer
    Priority.SOFT,
    weight=1e4,  # [-] above the angular momentum, or the foot lands elsewhere
    linear_stiffness=300.0,  # [1/s²]
    linear_damping=34.6,  # [1/s] critical
    angular_stiffness=200.0,  # [1/s²]
    angular_damping=28.3,  # [1/s] critical
)
_TORSO = OrientationTaskConfig(Priority.SOFT, 60.0, 100.0, 20.0)  # [-], [1/s²], [1/s] critical
"""At a weight of 30 the pelvis rolls by 6°, at 100 the arms swing by 1.5 rad, at 300 the robot falls."""
_PELVIS = OrientationTaskConfig(Priority.SOFT, 200.0, 100.0, 20.0)  # [-], [1/s²], [1/s] critical
"""At a weight of 60 it rolls by 7° on iCub's own soles and 1e6 N/m³, instead of 5°."""
_WRENCH_AGE = 0.00075  # [s] mean of the two physics steps of a tick; ignored, damping of 1e4 makes the robot fall
_RESPONSE_DELAY = 0.004  # [s] of sensors and motors; at 0 joints that are 4 ms old make iCub v2.7 fall on 2e6 N/m³
_CONE_HORIZON = 0.01  # [s] after which a wrench is back within its cone; one tick asks for violent rates
_LIMIT_WEIGHT = 1e6  # [-] an N², (N·m)² or (rad/s²)² beyond cones and joint limits
_LIMIT_MARGIN = 0.006  # [rad] a joint that runs into its limit at 4 rad/s overshoots by 5 mrad
_REFERENCE_DAMPING = 1.0e4  # [N·s/m³] weights of wrench rates that are not scaled let the robot fall on 1e3
_SEARCH = GroundSearchConfig(speed=0.1, jerk=8.0)  # [m/s], [m/s³] at 30 torques change by a quarter more a tick


class SoftGroundBody(TorqueBody):
    """On soft ground: unknown are s̈ and the acceleration of the base; the wrenches are measured.

    Attributes:
        contacts: State of the ground below each foot, symbols.
        wrench_rates: ḟ of each foot, [N/s, N·m/s], (6, 1).
        rate_scale: Factor of the weights of wrench rates on this ground, [-].
        softness: Factor of the weights of attitudes of feet that stand, [-].
    """

    def __init__(self, dynamics: SymbolicDynamics, config: CompliantTorqueControlConfig) -> None:
        super().__init__(dynamics)
        sole, feet = dynamics.model.description.sole, self.reference.feet
        self.contacts = {side: ContactSymbols.of(side, self.parameters) for side in Side}
        soles = {
            side: SoftSole(self.feet[side], SoleFace.of(sole, side), contact, feet[side].is_loaded)
            for side, contact in self.contacts.items()
        }
        self._close({side: sole.wrench for side, sole in soles.items()})
        delay = self.parameters.constant("response_delay", config.response_delay)
        held = self.parameters.symbol("period") + 2.0 * delay
        self.wrench_rates: dict[str, cs.SX] = {
            side: sole.wrench_rate(self.acceleration, held) for side, sole in soles.items()
        }
        self.rate_scale = self._scale_of_rates(config.reference_damping, held)
        self.softness = cs.sqrt(self.rate_scale) * self._stiffness_ratio(config.standing_foot)
        self.outputs = {f"{side}_regressor": sole.regressor for side, sole in soles.items()}
        self.outputs |= {f"{side}_wrench": wrench for side, wrench in self.wrenches.items()}

    def _scale_of_rates(self, reference_damping: float, held: cs.SX) -> cs.SX:
        """Return the factor, with the mean damping of both feet."""
        dampings = [contact.damping + 0.5 * held * contact.stiffness for contact in self.contacts.values()]
        reference = self.parameters.constant("reference_damping", reference_damping)
        return (reference / (0.5 * (dampings[0] + dampings[1]))) ** 2

    def _stiffness_ratio(self, config: StandingFootConfig) -> cs.SX:
        """Return the stiffness for which attitudes are weighed over this ground's, the mean of both feet's."""
        left, right = (contact.stiffness for contact in self.contacts.values())
        reference = self.parameters.constant("standing_foot.reference_stiffness", config.reference_stiffness)
        return reference / (0.5 * (left + right))


class LinearMomentumTask(Task):
    """Give the centre of mass the jerk that leads it to its reference."""

    def __init__(self, config: LinearMomentumConfig) -> None:
        super().__init__("linear momentum", SoftTaskConfig(config.weight))
        self._config = config

    def acceleration(self, body: SoftGroundBody) -> cs.SX:
        """Return Σ ḟ - m x⃛*, with x⃛* = x⃛_r + k_d (ẍ* - ẍ), ẍ* = ẍ_r + (k_p (ẋ_r - ẋ) + k_i (x_r - x)) / k_d.

        ẍ* is less `excess_acceleration`, as by `WalkingComTask`.
        """
        dynamics, reference, config = body.dynamics, body.reference, self._config
        damping = self.constant(body, "damping", config.damping)
        stiffness = self.constant(body, "stiffness", config.stiffness)
        integral = self.constant(body, "integral", config.integral)
        acceleration = linear_momentum_rate(dynamics, body.wrenches) / dynamics.mass
        feedback = stiffness * (reference.com_velocity - dynamics.com_velocity)
        feedback += integral * (reference.com_position - dynamics.com_position)
        wanted = reference.com_acceleration + feedback / damping
        wanted[:2] -= excess_acceleration(body, wanted)
        jerk = reference.com_jerk + damping * (wanted - acceleration)
        return body.wrench_rates[Side.LEFT][:3] + body.wrench_rates[Side.RIGHT][:3] - dynamics.mass * jerk

    def activity(self, body: SoftGroundBody) -> cs.SX:
        """Return the factor of wrench rates."""
        return body.rate_scale


class AngularMomentumRateTask(Task):
    """Lead the angular momentum to that of the legs as planned and of an upper body that returns to its posture."""

    def __init__(self, name: str, axes: slice, weight: float, config: AngularMomentumConfig) -> None:
        """Take the axes that this part of the task is about, and their weight."""
        super().__init__(name, SoftTaskConfig(weight))
        self._axes = axes
        self._config = config

    def acceleration(self, body: SoftGroundBody) -> cs.SX:
        """Return Σ S(ṗ - ẋ) f + S(p - x) ḟ + μ̇ + k_d of the error of its integral + k_p of the momentum's."""
        dynamics, wrenches, config = body.dynamics, body.wrenches, self._config
        reached = angular_momentum_rate(dynamics, body.feet, body.wrench_rates)
        for side in Side:
            velocity = body.feet[side].twist[:3] - dynamics.com_velocity
            reached += cs.cross(velocity, wrenches[side][:3])
        stiffness, damping = self.gains(body, "", config.stiffness, config.damping)
        rate = angular_momentum_rate(dynamics, body.feet, wrenches)
        fraction = self.constant(body, "legs_fraction", config.legs_fraction)
        legs = fraction * cs.vertcat(1.0, 1.0, 0.0)  # about the vertical the arms swing against the legs
        residual = reached + damping * (rate - legs * body.reference.angular_momentum_rate)
        excess = angular_momentum(dynamics) - legs * body.reference.angular_momentum
        residual += stiffness * (excess - self._recovering_momentum(body))
        return residual[self._axes]

    def activity(self, body: SoftGroundBody) -> cs.SX:
        """Return the factor of wrench rates."""
        return body.rate_scale

    def _recovering_momentum(self, body: SoftGroundBody) -> cs.SX:
        """Return the angular momentum of a pelvis and joints that return to their references, [N·m·s], (3, 1)."""
        dynamics, config = body.dynamics, self._config
        description = dynamics.model.description
        rates = description.spread(config.recovery, "[angular_momentum.recovery]")
        error = body.reference.posture - dynamics.joint_positions
        velocities = self.constant(body, "recovery", rates) * error
        upright = self.constant(body, "pelvis_recovery", config.pelvis_recovery)
        pelvis = dynamics.frame(description.base_link)
        turn = upright * rotation_error(pelvis, body.reference.pelvis_rotation)
        return dynamics.centroidal_momentum_matrix[3:, 3:] @ cs.vertcat(turn, velocities)


class WrenchRateTask(Task):
    """Lead the force or the moment of a loaded foot to the expected one."""

    def __init__(self, side: Side, part: str, config: WrenchRateConfig) -> None:
        """Take the foot, and ``force`` or ``moment``."""
        super().__init__(f"{side} {part} rate", SoftTaskConfig(getattr(config, f"{part}_weight")))
        self._side = side
        self._rows = slice(0, 3) if part == "force" else slice(3, 6)
        self._bandwidth = config.bandwidth

    def acceleration(self, body: SoftGroundBody) -> cs.SX:
        """Return ḟ - k_f (f_r - f)."""
        side, bandwidth = self._side, self.constant(body, "bandwidth", self._bandwidth)
        wanted = bandwidth * (expected_wrench(body.feet[side], body.reference.feet[side]) - body.wrenches[side])
        return body.wrench_rates[side][self._rows] - wanted[self._rows]

    def activity(self, body: SoftGroundBody) -> cs.SX:
        """Return the factor of wrench rates while the foot is loaded."""
        return body.reference.feet[self._side].is_loaded * body.rate_scale


class StandingFootTask(Task):
    """Keep the place or the attitude of a foot that stands, all the more the less it carries."""

    def __init__(self, side: Side, part: str, config: StandingFootConfig) -> None:
        """Take the foot, and ``place`` or ``attitude``."""
        super().__init__(f"{side} standing foot's {part}", SoftTaskConfig(config.unloaded_weight))
        self._side = side
        self._is_place = part == "place"
        self._config = config

    def acceleration(self, body: SoftGroundBody) -> cs.SX:
        """Return the acceleration of the sole less that of a spring and a damper to its rest pose."""
        frame, contact = body.feet[self._side], body.contacts[self._side]
        stiffness, damping = self.gains(body, "", self._config.stiffness, self._config.damping)
        reached = frame_acceleration(frame, body.acceleration)
        if not self._is_place:
            return reached[3:] - (stiffness * rotation_error(frame, contact.rest_rotation) - damping * frame.twist[3:])
        error = contact.rest_position - frame.position
        error[2] = 0.0  # how deep the sole sinks follows from the load
        return reached[:3] - (stiffness * error - damping * frame.twist[:3])

    def weights(self, body: SoftGroundBody) -> cs.SX:
        """Return the weight of a foot with next to no load, for its attitude plus that on this ground."""
        config, loaded = self._config, body.reference.feet[self._side].is_loaded
        unloaded = self.constant(body, "unloaded_weight", config.unloaded_weight)
        force = self.constant(body, "unloaded_force", config.unloaded_force)
        alone = loaded * unloaded / (1.0 + (body.wrenches[self._side][2] / force) ** 2)
        if self._is_place:
            return alone
        return alone + loaded * body.softness * self.constant(body, "attitude_weight", config.attitude_weight)


def compliant_tasks(config: CompliantTorqueControlConfig, description: RobotDescription) -> list[Task]:
    """Return the tasks of walking on soft ground."""
    momentum = config.angular_momentum
    tasks: list[Task] = [
        LinearMomentumTask(config.linear_momentum),
        AngularMomentumRateTask("angular momentum", slice(0, 2), momentum.weight, momentum),
        AngularMomentumRateTask("vertical angular momentum", slice(2, 3), momentum.vertical_weight, momentum),
    ]
    for side in Side:
        tasks += [WrenchRateTask(side, part, config.wrench_rate) for part in ("force", "moment")]
        tasks += [StandingFootTask(side, part, config.standing_foot) for part in ("place", "attitude")]
        tasks.append(FootTask(f"{side} swinging foot", side, config.swing_foot, when_loaded=False))
    tasks += trunk_tasks(description, config.torso, config.pelvis)
    return [*tasks, WalkingPostureTask(config.posture, config.posture.weights, "[posture.weights]")]


def compliant_problem(
    dynamics: SymbolicDynamics, config: CompliantTorqueControlConfig, tasks: Iterable[Task] = ()
) -> tuple[TorqueBody, QpComposer]:
    """Compose the problem: dynamics, tasks of walking, ``tasks`` from outside, limits."""
    body = SoftGroundBody(dynamics, config)
    composer = compose(body, [*compliant_tasks(config, dynamics.model.description), *tasks])
    horizon = body.parameters.constant("cone_horizon", config.cone_horizon)
    for side in Side:
        ahead = body.wrenches[side] + horizon * body.wrench_rates[side]
        limit_wrench(composer, body, side, ahead, config.wrench_cone)
    limit_joint_positions(composer, body, config.joint_limits)
    limit_torques(composer, body, config.torque_limits)
    return body, composer


_WRENCH = {
    side: tuple(
        f"{side}_{name}" for name in ("measured_wrench", "wrench_age", "wrench_gain", "last_regressor", "last_wrench")
    )
    for side in Side
}
_REMEMBERED = {side: (f"{side}_regressor", f"{side}_wrench") for side in Side}


class CompliantTorqueController(TorqueController):
    """Command torques on soft ground."""

    def __init__(
        self,
        model: IdynTreeModel,
        config: CompliantTorqueControlConfig,
        actuation: TorqueActuation,
        posture: RobotPosture,
        compiler: Compiler = interpreted,
        tasks: Sequence[Task] = (),
    ) -> None:
        """Build the problem; see ``RigidTorqueController``.

        Raises:
            ConfigError: A joint group of the posture is missing or unknown, or a task states no acceleration.
        """

        def problem() -> TorqueProblem:
            body, composer = compliant_problem(SymbolicDynamics.of(model), config, tasks)
            return TorqueProblem("compliant torque control", body, composer, SolverName.DAQP, compiler)

        key = None if tasks else (TorqueProblem, model.fingerprint, repr(config), compiler)
        self._wrench_age = config.wrench_age
        self._wrench_time_constant = config.wrench_time_constant
        super().__init__(built_once(key, problem), config.search, actuation, posture)

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

    def _values(
        self, state: RobotState, reference: WholeBodyReference, loaded: Collection[Side], period: float
    ) -> Values:
        values = super()._values(state, reference, loaded, period)
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
        gain = low_pass_gain(self._wrench_time_constant, period)
        known = measured, self._wrench_age / period, gain, self._regressors[side], last
        return dict(zip(_WRENCH[side], known, strict=True))


def _stands(state: RobotState, side: Side) -> bool:
    contact = state.foot_contact(side)
    return contact is not None and contact.is_active
