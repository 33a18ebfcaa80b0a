r"""Control joint torques: the variables, the problem and the tick that rigid and soft ground have in common.

The equations of motion, :math:`M \dot\nu + h = [0; \tau] + \sum_k J_k^\top f_k`, leave a choice of what a problem is
solved for. Joints come first, for they have bounds; wrenches and torques are counted in larger units, which keeps the
problem well conditioned. (The acceleration of the base can be eliminated too. That makes the QP a third cheaper and
the function that states it three times as long: nothing is won.)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter

import casadi as cs
import numpy as np
import numpy.typing as npt

from gradiva.common import (
    TIME_ROUNDING,
    ConfigError,
    ControlMode,
    FootReference,
    JointCommand,
    NDArray,
    RobotPosture,
    RobotState,
    Side,
    altered,
    low_pass_gain,
    minimum_jerk,
    plugin_errors,
    sealed,
    so3,
    unchecked,
)
from gradiva.robot_model import Compiler, RobotDescription, SymbolicDynamics
from gradiva.whole_body.composed_problem import ComposedProblem
from gradiva.whole_body.drives import CommandedMotion, FrictionCompensator
from gradiva.whole_body.inverse_kinematics import integrate
from gradiva.whole_body.limits import KEPT_LOAD
from gradiva.whole_body.qp_composer import UNBOUNDED, QpComposer, affine
from gradiva.whole_body.qp_solver import SolverName
from gradiva.whole_body.reference_symbols import FootSymbols, Values
from gradiva.whole_body.tasks import Body, Task, Wrenches, distinct
from gradiva.whole_body.walking_tasks import ZMP_EXCESS, OrientationTaskConfig, TrunkTask
from gradiva.whole_body.whole_body_reference import WholeBodyReference

_FORCE_UNIT = 30.0  # [N, N·m] so that wrenches count as much as accelerations
_STATE = ("base_position", "base_rotation", "base_twist", "joint_positions", "joint_velocities")
_of_state = attrgetter(*_STATE)
_FOOT = {side: tuple(f"{side}_foot_{name}" for name in FootSymbols.PARTS) for side in Side}
_REST = np.zeros(6)
_VERTICAL = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
UP = np.array([0.0, 0.0, 1.0])


class Form(StrEnum):
    """The variables of the problem of the rigid controller."""

    FULL = "full"
    """Accelerations, wrenches and torques."""
    REDUCED = "reduced"
    """Accelerations and wrenches; torques follow from the joints' rows of the dynamics."""


class TorqueBody(Body):
    """A body whose accelerations and torques are chosen.

    Attributes:
        spring_horizon: After which the torques of springs and dampers count, [s]; see `_spring_torques`.
        variables: x, in the solver's order: joints first, the base last.
        bounded: How many of the first may have bounds.
        laws: Residuals of the dynamics, by name.
        first_wrench: Where in the variables the wrench of each contact begins, when it is unknown.
        outputs: Expressions wanted beside the problem, by name.
    """

    def __init__(
        self, dynamics: SymbolicDynamics, spring_horizon: float = 0.0, contacts: Mapping[str, str] | None = None
    ) -> None:
        """Make the accelerations; a subclass adds wrenches, then calls `_close`; ``contacts`` are as of `Body`."""
        super().__init__(dynamics, contacts)
        self.spring_horizon = spring_horizon
        if contacts is None:
            for foot in self.reference.feet.values():
                foot.declare()
        self._joints, self._base = (
            cs.SX.sym("joint_accelerations", dynamics.joints),
            cs.SX.sym("base_acceleration", 6),
        )
        self.acceleration = cs.vertcat(self._base, self._joints)
        self.laws: dict[str, cs.SX] = {}
        self.first_wrench: dict[str, int] = {}
        self.outputs: dict[str, cs.SX] = {}

    def _close(self, wrenches: Wrenches, unknown: Iterable[cs.SX] = ()) -> None:
        r"""Take the wrenches, and variables beside the accelerations.

        What :math:`M \dot\nu + h - \sum_k J_k^\top f_k` leaves is zero for the base, the spring's torque for passive
        joints and the motor's for actuated ones.
        """
        description = self.dynamics.model.description
        free = [self._joints, *unknown]
        self.wrenches = wrenches
        self.bounded = sum(part.numel() for part in free)
        self.variables = cs.vertcat(*free, self._base)
        forces = self.dynamics.mass_matrix @ self.acceleration + self.dynamics.bias_forces
        for name, wrench in wrenches.items():
            forces -= self.feet[name].jacobian.T @ wrench
        self.laws["base dynamics"] = forces[:6]
        self.torques = forces[6:][list(description.actuated)]
        if description.passive:
            self.laws["passive joints"] = forces[6:][list(description.passive)] - self._spring_torques()

    def _spring_torques(self) -> cs.SX:
        r"""Return the torques of springs and dampers of passive joints after the horizon h, [N·m], (p, 1).

        .. math:: \tau = k (s_0 - s - h \dot s - \tfrac12 h^2 \ddot s) - d (\dot s + h \ddot s)

        At h = 0 they are those of now, which no acceleration changes. Then the problem cannot choose the moments that
        soft joints pass on, and moves the legs instead; after some milliseconds it can.
        """
        description, constant = self.dynamics.model.description, self.parameters.constant
        passive = list(description.passive)
        stiffness = constant("passive_stiffness", description.per_joint("stiffness")[passive])
        damping = constant("passive_damping", description.per_joint("damping")[passive])
        horizon = constant("spring_horizon", self.spring_horizon)
        speeds, accelerations = self.dynamics.joint_velocities[passive], self._joints[passive]
        stretch = cs.DM(description.posture[passive]) - self.dynamics.joint_positions[passive]
        stretch -= horizon * speeds + 0.5 * horizon**2 * accelerations
        return stiffness * stretch - damping * (speeds + horizon * accelerations)


class RigidGroundBody(TorqueBody):
    """On rigid ground: unknown are s̈, the wrenches, τ in the full form, and the acceleration of the base."""

    def __init__(
        self,
        dynamics: SymbolicDynamics,
        form: Form,
        spring_horizon: float = 0.0,
        contacts: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(dynamics, spring_horizon, contacts)
        size, n = 6 * len(self.feet), dynamics.joints
        scaled, starts = cs.SX.sym("wrenches", size), range(0, size, 6)
        wrenches = {name: _FORCE_UNIT * scaled[k : k + 6] for name, k in zip(self.feet, starts, strict=True)}
        self.first_wrench = {name: n + k for name, k in zip(self.feet, starts, strict=True)}
        if form is Form.REDUCED:
            self._close(wrenches, [scaled])
            return
        scaled_torques = cs.SX.sym("torques", len(dynamics.model.description.actuated))
        self._close(wrenches, [scaled, scaled_torques])
        self.bounded = n + size
        self.laws["joint dynamics"] = self.torques - _FORCE_UNIT * scaled_torques
        self.torques = _FORCE_UNIT * scaled_torques


def compose(body: TorqueBody, tasks: Iterable[Task]) -> QpComposer:
    """Return the problem of the dynamics and the tasks, without limits.

    Raises:
        ConfigError: Two tasks have one name, or one states no acceleration.
    """
    composer = QpComposer(body.variables, body.bounded)
    for name, residual in body.laws.items():
        composer.law(name, residual)
    for task in distinct(tasks):
        with plugin_errors(f"[tasks.{task.name}]", task):
            task.demand(composer, body, task.acceleration(body))
    return composer


def trunk_tasks(
    description: RobotDescription, torso: OrientationTaskConfig, pelvis: OrientationTaskConfig
) -> list[Task]:
    """Return the orientation tasks of torso and pelvis."""
    return [
        TrunkTask("torso", description.torso_frame, "torso_rotation", torso),
        TrunkTask("pelvis", description.base_link, "pelvis_rotation", pelvis),
    ]


class TorqueProblem(ComposedProblem):
    """Accelerations and torques of one tick; ``outputs`` has those of the body, and how torques follow."""

    def __init__(
        self, name: str, body: TorqueBody, composer: QpComposer, solver: SolverName, compiler: Compiler
    ) -> None:
        """Build, and compile, the function; ``name`` appears in errors."""
        dynamics = body.dynamics
        body.parameters.add(
            base_position=dynamics.base_position,
            base_rotation=dynamics.base_rotation,
            base_twist=dynamics.base_twist,
            joint_positions=dynamics.joint_positions,
            joint_velocities=dynamics.joint_velocities,
        )
        rows, offset = affine(body.torques, body.variables)
        outputs = {"torque_rows": rows, "torque_offset": offset, **body.outputs}
        super().__init__(name, body, composer, solver, compiler, outputs)
        self._motion = np.r_[-6:0, 0 : dynamics.joints]  # places of ν̇ in the solution

    def command(self, values: Mapping[str, npt.ArrayLike], relaxed: bool) -> tuple[NDArray, NDArray]:
        """Return ν̇, shape (6 + n,), and τ, [N·m], shape (a,), at the optimum; see `solve`."""
        solution, out = self.solve(values, relaxed), self.outputs
        return solution[self._motion], out["torque_rows"].dot(solution) + out["torque_offset"]


@dataclass(frozen=True, slots=True)
class GroundSearchConfig:
    """Motion of a foot that should stand and does not touch.

    Attributes:
        speed: At which it sinks at most, [m/s].
        jerk: With which it begins to sink, [m/s³]; with a step of the speed, legs with rotors jerk and stamp.
    """

    speed: float
    jerk: float

    def __post_init__(self) -> None:
        for name in ("speed", "jerk"):
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")


class GroundSearch:
    """Lowers a foot that should stand and does not touch: from rest with constant jerk, up to a constant speed."""

    def __init__(self, config: GroundSearchConfig) -> None:
        """Begin with a foot that does not search."""
        self._config = config
        self._rest = np.zeros(2)
        self.reset()

    def reset(self) -> None:
        """Begin again from rest."""
        self._duration = 0.0

    def update(self, searches: bool, period: float) -> NDArray:
        """Return the vertical velocity and acceleration after a tick of ``period`` [s], [m/s, m/s²], shape (2,)."""
        if not searches:
            self._duration = 0.0
            return self._rest
        self._duration += period
        acceleration = self._config.jerk * self._duration
        speed = 0.5 * acceleration * self._duration
        if speed < self._config.speed:
            return np.array([-speed, -acceleration])
        return np.array([-self._config.speed, 0.0])


class TouchDown:
    """Detects from when on a landing foot carries load: no earlier than it touches, and until the plan lifts it.

    A foot that comes down late, or on lower ground, and is taken to carry load is pushed into the air, and the robot
    falls to its side.
    """

    def __init__(self, force: float, timeout: float) -> None:
        """Take the normal force of a touch [N], and the time after which a touch is taken for granted [s]."""
        self._force = force
        self._timeout = timeout
        self.reset()

    def reset(self) -> None:
        """Begin again with a foot on the ground."""
        self._stands, self._waited = True, 0.0

    def update(self, foot: FootReference, normal_force: float, period: float) -> bool:
        """Return whether the foot carries load.

        Args:
            foot: As planned.
            normal_force: As measured, [N].
            period: Since the last update, [s].
        """
        touches = normal_force > self._force
        if not foot.in_contact:
            self._stands, self._waited = False, 0.0
            return bool(touches and foot.twist[2] < 0.0)
        self._waited += period
        self._stands = self._stands or touches or self._waited > self._timeout
        return self._stands


class LandingMemory:
    r"""Learns how high and how tilted each foot meets the floor, and lets its swings end so.

    Offsets of encoders and inertial unit, and slopes of the floor, let a foot come down some millimetres early or late
    and tilted by a degree, in each step alike: it hits the floor, then stands on an edge until it slams flat. While a
    foot carries load its sole rests on the floor: there its estimated rotation R, beside the planned :math:`R_r`, and
    its estimated height z above the other foot, beside the planned one, are those of the next landing,

    .. math::
        \dot \theta &= (Log(R_r^\top R) - \theta) / T, & \dot h &= (z - z^o - (z_r - z_r^o) - h) / T, \\
        R_r' &= R_r Exp(\theta), & z_r' &= z_r + s(t / t_s) h,

    of θ roll and pitch, h of the foot that landed last, s of minimum jerk over the time t since the foot lost its load.
    The foot that landed last carries at least 6 % of the weight until the other one lands, or both have stood for 1 s,
    after which it may be the next one to lift.
    """

    def __init__(self, weight: float) -> None:
        """Take the weight of the robot, [N]."""
        self._weight = weight
        self.reset()

    def reset(self) -> None:
        """Begin again: feet land as planned."""
        self._tilts = dict.fromkeys(Side, (0.0, 0.0))  # θ, roll and pitch
        self._heights = dict.fromkeys(Side, 0.0)  # h
        self._rotations = dict.fromkeys(Side, np.eye(3))  # Exp(θ) of a foot in the air
        self._air_times = dict.fromkeys(Side, 0.0)  # t
        self._last_landed: Side | None = None  # None: both at once, or both stand as the robot began
        self._standing_time = 0.0  # [s] with load on both feet
        self._since_learning = 0.0  # [s]

    def update(self, state: RobotState, reference: WholeBodyReference, loaded: Collection[Side], period: float) -> None:
        """Learn from the feet that are ``loaded`` after a tick of ``period`` [s]."""
        self._note_landings(loaded, period)
        self._since_learning += period
        if self._since_learning > _LEARNING_PERIOD - TIME_ROUNDING:
            self._learn(state, reference, loaded, low_pass_gain(_LANDING_TIME, self._since_learning))
            self._since_learning = 0.0

    def _learn(self, state: RobotState, reference: WholeBodyReference, loaded: Collection[Side], gain: float) -> None:
        is_shared = len(loaded) == len(Side)
        for side, foot in ((Side.LEFT, reference.left_foot), (Side.RIGHT, reference.right_foot)):
            if side not in loaded:
                continue
            load = state.foot_wrench(side).item(2) / self._weight
            is_shared = is_shared and load > _SHARED_LOAD
            if load > RESTING_LOAD:
                seen = so3.vee(foot.rotation.T.dot(state.foot_rotation(side))).tolist()  # sines: of small angles
                (roll, pitch), (seen_roll, seen_pitch, _) = self._tilts[side], seen
                self._tilts[side] = (
                    _learned(roll, seen_roll, _LARGEST_TILT, gain),
                    _learned(pitch, seen_pitch, _LARGEST_TILT, gain),
                )
        if is_shared:
            self._learn_heights(state, reference, gain)

    def kept_load(self, side: Side) -> float:
        """Return the least normal force of a foot as a fraction of the weight, [-]."""
        keeps = side is self._last_landed and self._standing_time < _LONGEST_SHIFT
        return _KEPT_LOAD if keeps else 0.0

    def _note_landings(self, loaded: Collection[Side], period: float) -> None:
        """Note which foot landed last, and of each one in the air its duration and the tilt with which it lands."""
        landed = [side for side in loaded if self._air_times[side] > 0.0]
        if landed:
            self._last_landed = landed[0] if len(landed) == 1 else None
        for side, air_time in self._air_times.items():
            if side not in loaded and air_time == 0.0:
                self._rotations[side] = so3.exp(np.array((*self._tilts[side], 0.0)))
            self._air_times[side] = 0.0 if side in loaded else air_time + period
        self._standing_time = self._standing_time + period if len(loaded) == len(Side) else 0.0

    def _learn_heights(self, state: RobotState, reference: WholeBodyReference, gain: float) -> None:
        seen = float(state.foot_position(Side.LEFT)[2] - state.foot_position(Side.RIGHT)[2])
        error = seen - float(reference.left_foot.position[2] - reference.right_foot.position[2])
        for side, higher in ((Side.LEFT, error), (Side.RIGHT, -error)):
            if self._last_landed in (None, side):
                self._heights[side] = _learned(self._heights[side], higher, _LARGEST_HEIGHT, gain)

    def expected(self, side: Side, foot: FootReference) -> FootReference:
        """Return the reference of a foot in the air as it is to land."""
        s, rate, acceleration = minimum_jerk(self._air_times[side] / _LANDING_BLEND)
        height, rotation = self._heights[side], foot.rotation.dot(self._rotations[side])
        position = foot.position + (s * height) * UP
        if rate == acceleration == 0.0:  # at lift-off, and once all of it is blended in
            return altered(foot, position=position, rotation=rotation)
        return altered(
            foot,
            position=position,
            rotation=rotation,
            twist=foot.twist + (rate / _LANDING_BLEND * height) * _VERTICAL,
            acceleration=foot.acceleration + (acceleration / _LANDING_BLEND**2 * height) * _VERTICAL,
        )


def _learned(last: float, seen: float, largest: float, gain: float) -> float:
    """Return what is learned after a tick, of what is seen within ± ``largest``."""
    return last + gain * (min(max(seen, -largest), largest) - last)


_LEARNING_PERIOD = 0.005  # [s] a thirtieth of T: ticks of 1 ms would learn no more of it
_LANDING_TIME = 0.15  # [s] T: four fifths of an error in a double support
_LANDING_BLEND = 0.2  # [s] t_s, shorter than any swing
RESTING_LOAD, _SHARED_LOAD = 0.3, 0.15  # [-] of the weight, above which a sole rests flat, and both feet on the floor
_LARGEST_TILT, _LARGEST_HEIGHT = 0.05, 0.006  # [rad], [m] of what is learned; robot plants have up to 0.02 and 0.004
_KEPT_LOAD = 0.06  # [-] of the weight, on the foot that landed last: light, it bounces and rocks on a stiff floor
_LONGEST_SHIFT = 1.0  # [s] of the load from foot to foot, longer than any double support


@dataclass(frozen=True, slots=True)
class TorqueActuation:
    """Bundle what all laws of torque control share beside their problems.

    Attributes:
        torque_rate: By which a torque may change, [N·m/s].
        friction: Of the drives, compensated beside the problem; None: the drives have none.
        motion: Completes the measured velocities of all joints; None: they are of the present.
        zmp_excess: Beyond the loaded soles, of the ZMP that is asked for, and while a step catches a push, [m]: what
            no sole exerts is left to the trunk, which otherwise tips over before the foot lands.
    """

    torque_rate: float
    friction: FrictionCompensator | None = None
    motion: CommandedMotion | None = None
    zmp_excess: tuple[float, float] = (UNBOUNDED, UNBOUNDED)


class TorqueController:
    """Command torques: the tick that both grounds have in common, and what it remembers.

    Attributes:
        problem: Of the last tick.
        desired_velocity: ν to which the commanded accelerations lead until the end of the tick, (6 + n,).
        desired_joint_positions: Where that velocity leads until then, [rad], (n,).
    """

    def __init__(
        self,
        problem: TorqueProblem,
        search: GroundSearchConfig,
        actuation: TorqueActuation,
        posture: RobotPosture,
        touch_downs: Mapping[Side, TouchDown] | None = None,
        landings: LandingMemory | None = None,
    ) -> None:
        """Take what does not change.

        Args:
            problem: Solved in each tick.
            search: For the ground, of a foot that should stand and does not touch.
            actuation: Of the robot.
            posture: Where the robot begins.
            touch_downs: Of the feet, where contacts are not estimated; None: feet carry load as planned.
            landings: Learned where the floor does not yield; None: feet land as planned.
        """
        self.problem, friction = problem, actuation.friction
        self._friction = None if friction is None or friction.is_off else friction
        self._motion = actuation.motion or CommandedMotion(6 + len(posture.joint_positions))
        self._searches = {side: GroundSearch(search) for side in Side}
        self._touch_downs, self._landings = touch_downs or {}, landings
        self._rate, self._zmp_excess = actuation.torque_rate, actuation.zmp_excess
        self.reset(posture)

    def reset(self, posture: RobotPosture) -> None:
        """See ``WholeBodyController.reset``; the first torques are free: who sends them leads the joints there."""
        self.problem.reset()
        self._motion.reset()
        for search in self._searches.values():
            search.reset()
        for touch_down in self._touch_downs.values():
            touch_down.reset()
        if self._landings is not None:
            self._landings.reset()
        if self._friction is not None:
            self._friction.reset()
        self._posture: RobotPosture | None = posture
        self._start: RobotPosture | RobotState = posture
        self._period = 0.0
        self.desired_velocity = np.zeros(6 + len(posture.joint_positions))
        self.desired_joint_positions = posture.joint_positions
        self._torques: NDArray | None = None
        self._resting: dict[Side, FootReference | None] = dict.fromkeys(Side)

    @property
    def desired_posture(self) -> RobotPosture:
        """See ``WholeBodyController.desired_posture``; computed when it is first asked for."""
        if self._posture is None:
            self._posture = integrate(self._start, self.desired_velocity, self._period)
        return self._posture

    def command(
        self, state: RobotState, reference: WholeBodyReference, period: float, relaxed: bool = False
    ) -> JointCommand:
        """See ``WholeBodyController.command``."""
        measured = np.concatenate((state.base_twist, state.joint_velocities))
        velocity = self._motion.completed(measured, state.velocity_lag, period)
        loaded = self._loaded_feet(state, reference, period)
        values = self._values(state, reference, loaded, period)
        values["base_twist"], values["joint_velocities"] = velocity[:6], velocity[6:]
        acceleration, torques = self.problem.command(values, relaxed)
        self._torques = sealed(torques)
        change = period * acceleration
        self.desired_velocity = sealed(velocity + change)
        self.desired_joint_positions = sealed(state.joint_positions + period * self.desired_velocity[6:])
        self._posture, self._start, self._period = None, state, period
        self._motion.add(change)
        if self._friction is None:
            return unchecked(JointCommand, mode=ControlMode.TORQUE, values=self._torques)
        known = measured[6:], self._motion.measured[6:]
        forces = state.foot_wrench(Side.LEFT).item(2), state.foot_wrench(Side.RIGHT).item(2)
        commanded = self._friction.added_to(
            self._torques, velocity[6:], acceleration[6:], known, loaded, forces, period
        )
        return unchecked(JointCommand, mode=ControlMode.TORQUE, values=commanded)

    def _loaded_feet(self, state: RobotState, reference: WholeBodyReference, period: float) -> set[Side]:
        """Return the feet that carry load from this tick on."""
        feet = (Side.LEFT, reference.left_foot), (Side.RIGHT, reference.right_foot)
        return {side for side, foot in feet if self._is_loaded(side, state, foot, period)}

    def _is_loaded(self, side: Side, state: RobotState, foot: FootReference, period: float) -> bool:
        """Return whether a foot carries load: as estimated, else from its touch on, else as planned."""
        contact = state.foot_contact(side)
        if contact is not None:
            return contact.is_active
        touch_down = self._touch_downs.get(side)
        if touch_down is None:
            return foot.in_contact
        return touch_down.update(foot, state.foot_wrench(side).item(2), period)

    def _values(
        self, state: RobotState, reference: WholeBodyReference, loaded: Collection[Side], period: float
    ) -> Values:
        values = self.problem.reference_values(reference)
        values.update(zip(_STATE, _of_state(state), strict=True))
        if self._landings is not None:
            self._landings.update(state, reference, loaded, period)
        landings = None if reference.step_catches else self._landings
        for side, foot in ((Side.LEFT, reference.left_foot), (Side.RIGHT, reference.right_foot)):
            is_loaded = side in loaded
            values[KEPT_LOAD[side]] = 0.0 if landings is None else landings.kept_load(side)
            if is_loaded and foot is self._resting[side]:
                continue  # one that rests keeps the values of the last tick
            self._resting[side] = foot if is_loaded else None
            if self._landings is not None and not is_loaded:
                foot = self._landings.expected(side, foot)
            search = self._searches[side].update(foot.in_contact and not is_loaded, period)
            values.update(foot_values(side, state, foot, is_loaded, search))
        values[ZMP_EXCESS] = self._zmp_excess[reference.step_catches]
        values["last_torques"] = 0.0 if self._torques is None else self._torques
        values["torque_step"] = UNBOUNDED if self._torques is None else period * self._rate
        return values


def foot_values(
    side: Side, state: RobotState, foot: FootReference, loaded: bool, search: NDArray
) -> Iterable[tuple[str, npt.ArrayLike]]:
    """Return the values of one foot by name.

    A foot that carries load rests, whatever the plan says. One that should and does not searches the ground: it sinks
    with velocity and acceleration ``search``, [m/s, m/s²], shape (2,).
    """
    position, twist, acceleration = foot.position, foot.twist, foot.acceleration
    if loaded:
        twist = acceleration = _REST
    elif foot.in_contact:
        position = np.array([position[0], position[1], state.foot_position(side)[2]])
        twist, acceleration = np.outer(search, _VERTICAL)
    return zip(_FOOT[side], (position, foot.rotation, twist, acceleration, float(loaded)), strict=True)
