"""Checks before a walk: can the robot stand on its slope or soft ground, can floor and joints follow the plan?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gradiva.common import ConfigError, ControlMode, NDArray, NoSolutionFound, Side, SoleRectangle
from gradiva.contacts import static_sinkage
from gradiva.planner import WalkingPlan
from gradiva.setup import Setup
from gradiva.setup.soft_floors import is_too_soft
from gradiva.setup.stability_margins import known_margins, soft_floor_warning
from gradiva.simplified_model import BalanceReference
from gradiva.simulated_walk.fall_evidence import FEW, needed_friction, spares_joints
from gradiva.simulation import GroundKind
from gradiva.simulation.model_errors import ModelErrors
from gradiva.walking import WalkingLayers
from gradiva.whole_body import integrate

_STIFFNESS = "simulation.viscoelastic.stiffness"
_DEEPEST = 0.2  # [-] of the CoM's height; on the thesis' sole iCub v2.7 walks at 0.12, steps at 0.18, falls at 0.24
_LEAST_MARGIN = 0.8  # [-] of resisting over toppling; iCub v2.7 walks by position at 0.87, 1.0 and 1.2, falls at 0.72
_LONGEST_RESPONSE = 0.01  # [s] age of joints and delay of torques together; torques of 10 ms alone walk on soft ground
_TILTING = math.radians(1.0) / 1e-3  # [rad/m] from which on it is worth a word that soles roll


# -- soft ground -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SoftFooting:
    r"""A robot on one foot, on springs of stiffness k per area (thesis, corollary 1).

    .. math:: d = \frac{m g}{k l w}, \qquad K = \frac{k l w^3}{12}, \qquad T = m g h, \qquad c = \frac{m g}{K}

    ==============================  ==========================================================
    Symbol                          Field
    ==============================  ==========================================================
    m g                             ``weight``, [N]
    h                               ``com_height``, [m]
    k                               ``stiffness``, of the softest place, [N/m³]
    l, w                            length and width of ``sole``, the longer first, [m]
    d, K, T, c                      the properties
    ==============================  ==========================================================
    """

    weight: float
    com_height: float
    stiffness: float
    sole: SoleRectangle

    @classmethod
    def of(cls, setup: Setup) -> SoftFooting:
        """Return the footing of a configuration, whatever kind of ground it chooses."""
        simulation = setup.simulation
        return cls(
            weight=setup.robot.mass * simulation.plant.mass_scale * simulation.ground.gravity,
            com_height=setup.walking.planner.com_height,
            stiffness=simulation.viscoelastic.softest,
            sole=setup.robot.sole,
        )

    @property
    def sinkage(self) -> float:
        """Depth to which the foot sinks, [m]."""
        return static_sinkage(self.weight, self.sole, self.stiffness)

    @property
    def resistance(self) -> float:
        """Moment with which the ground resists the sole's rolling about its longer axis, [N·m/rad]."""
        length, width = sorted((self.sole.length, self.sole.width), reverse=True)
        return self.stiffness * length * width**3 / 12.0

    @property
    def toppling(self) -> float:
        """Moment with which the weight topples a robot of stiff joints, [N·m/rad]."""
        return self.weight * self.com_height

    @property
    def compliance(self) -> float:
        """Angle by which the sole rolls for each metre that the ZMP is off its middle, [rad/m]."""
        return self.weight / self.resistance


def check_footing(setup: Setup) -> None:
    """Pass when the robot may stand on its ground; what is near the bounds may still fall.

    Raises:
        ConfigError: It sinks deeper than its gait can take, or servos that hold joints topple it.
    """
    if setup.simulation.ground.kind != GroundKind.VISCOELASTIC:
        return
    footing, control = SoftFooting.of(setup), setup.walking.walking.control
    deepest = _DEEPEST * footing.com_height
    if footing.sinkage > deepest:
        raise ConfigError(
            f"{_STIFFNESS}={footing.stiffness:g} N/m³: on one foot {setup.robot.title} sinks by m g / (k A) ="
            f" {1e3 * footing.sinkage:.0f} mm, its gait takes {1e3 * deepest:.0f} mm, a fifth of the CoM's height:"
            f" the ground has to have {_rounded_up(footing.stiffness * footing.sinkage / deepest)} N/m³",
            [_STIFFNESS],
        )
    least = _LEAST_MARGIN * footing.toppling
    if control is not ControlMode.TORQUE and footing.resistance < least:
        raise ConfigError(
            f"{_STIFFNESS}={footing.stiffness:g} N/m³: a robot whose joints are held by {control} control topples, as"
            f" its sole resists rolling by k l w³/12 = {footing.resistance:.3g} N·m/rad alone, and its weight m g h ="
            f" {footing.toppling:.3g} N·m/rad takes {least:.3g}: walk with --control torque, or on"
            f" {_rounded_up(footing.stiffness * least / footing.resistance)} N/m³",
            [_STIFFNESS],
        )


def footing_note(setup: Setup) -> str | None:
    """Return one line on how much the soles are going to roll; None where that is not worth a word."""
    if setup.simulation.ground.kind != GroundKind.VISCOELASTIC:
        return None
    footing = SoftFooting.of(setup)
    if footing.compliance < _TILTING:
        return None
    return (
        f"on this ground one foot sinks by {1e3 * footing.sinkage:.0f} mm and rolls by"
        f" {math.degrees(1e-3 * footing.compliance):.1f}° for each millimetre that the ZMP is off the sole's middle"
    )


def response_note(setup: Setup) -> str | None:
    """Return one line on sensors and motors that are too slow for torque control on soft ground; None otherwise."""
    simulation, walking = setup.simulation, setup.walking
    is_soft = simulation.ground.kind == GroundKind.VISCOELASTIC
    if not is_soft or walking.walking.control is not ControlMode.TORQUE:
        return None
    sensed, motors = simulation.sensors.joints.delay, simulation.motors
    torques = simulation.servo.delay + motors.torque_delay + motors.torque_time_constant
    if sensed + torques < 1.001 * _LONGEST_RESPONSE:
        return None
    return (
        f"torques answer joints that are {1e3 * sensed:.3g} ms old after {1e3 * torques:.3g} ms more: on soft ground"
        f" robots fall beyond {1e3 * _LONGEST_RESPONSE:.3g} ms in all, within some steps; --plant ideal walks"
    )


def _rounded_up(stiffness: float) -> str:
    """Return a stiffness with two digits that is not below the given one."""
    unit = 10.0 ** (math.floor(math.log10(stiffness)) - 1)
    return f"{math.ceil(stiffness / unit - 1e-9) * unit:.2g}"


# -- slopes ------------------------------------------------------------------------------------------------------------

_WALKED = {ControlMode.POSITION: "max_slope_deg", ControlMode.TORQUE: "max_torque_slope_deg"}  # of the robot's facts
_WORTH_A_WORD = math.radians(0.5)
_MOST_ROOM = 0.7  # [-] of the way to the edge; iCub v2.7 topples at 0.5 aside (torque), 0.6 ahead (velocity control)
_EIGHTH, _QUARTER = math.radians(45.0), math.radians(90.0)
_DIRECTIONS = (
    "ahead",
    "ahead and to the left",
    "to the left",
    "behind and to the left",
    "behind",
    "behind and to the right",
    "to the right",
    "ahead and to the right",
)


@dataclass(frozen=True, slots=True, eq=False)
class SlopeFooting:
    r"""A robot that stands perpendicular to its ground, as its plan has it.

    .. math:: c = -h \tan\theta \, (\cos\phi, \sin\phi)

    ==============================  ==========================================================
    Symbol                          Field
    ==============================  ==========================================================
    :math:`\theta`, :math:`\phi`      ``steepness`` and ``uphill``, [rad]
    h                               ``com_height``, [m]
    c                               ``com_shift``
    ==============================  ==========================================================

    Attributes:
        steepness: Of the ground, [rad].
        uphill: Heading in which it rises most, counter-clockwise from where the robot faces, [rad].
        com_height: Above the ground, [m].
        room: From the ZMP of standing to the edges of the soles in front, at the left, behind, at the right, [m].
        friction: Of the ground, [-].
        walked: How steep ground has been seen to be walked ahead or back and to the sides by this control, [rad]; None:
            not known.
    """

    steepness: float
    uphill: float
    com_height: float
    room: tuple[float, float, float, float]
    friction: float
    walked: tuple[float, float] | None

    @classmethod
    def of(cls, setup: Setup) -> SlopeFooting:
        """Return the footing of a configuration."""
        ground, planner, robot = setup.simulation.ground, setup.walking.planner, setup.robot
        corners = robot.sole.corners(Side.LEFT)
        front, aside = corners.max(axis=0) - [planner.zmp_offset[0], -0.5 * planner.step_width]
        behind = planner.zmp_offset[0] - corners[:, 0].min()
        limits = getattr(robot, _WALKED.get(setup.walking.walking.control, ""), None)
        return cls(
            steepness=ground.steepness,
            uphill=ground.uphill,
            com_height=planner.com_height - robot.sole.z,
            room=(float(front), float(aside), float(behind), float(aside)),
            friction=ground.friction,
            walked=None if limits is None else (math.radians(limits[0]), math.radians(limits[1])),
        )

    @property
    def com_shift(self) -> NDArray:
        """Point of the ground below the CoM, from where the plan has it, [m], shape (2,)."""
        up = np.array([math.cos(self.uphill), math.sin(self.uphill)])
        return -self.com_height * math.tan(self.steepness) * up

    @property
    def most_room(self) -> float:
        """Part of the way to the edge that the CoM may go, [-]: all of it where walked slopes are known."""
        return _MOST_ROOM if self.walked is None else 1.0

    @property
    def topples_at_rest(self) -> bool:
        """Whether the CoM is beyond the edge of the soles, or near to it where no slope was seen to be walked."""
        return self.steepness >= self.steepest_at_rest

    @property
    def steepest_at_rest(self) -> float:
        """Slope that rises alike, beyond which it topples at rest, [rad]."""
        downhill = -self.com_height * np.array([math.cos(self.uphill), math.sin(self.uphill)])  # for a slope of 45°
        front, at_left, behind, at_right = self.room
        reached = np.maximum(downhill / (front, at_left), -downhill / (behind, at_right)).max()
        return math.atan(self.most_room / float(reached))

    @property
    def topples_walking(self) -> bool:
        """Whether the slope is steeper than what has been seen to be walked, an ellipse over the headings."""
        if self.walked is None:
            return False
        ahead, aside = self.steepness * math.cos(self.uphill), self.steepness * math.sin(self.uphill)
        return math.hypot(ahead / self.walked[0], aside / self.walked[1]) > 1.0 + 1e-9

    @property
    def slips(self) -> bool:
        """Whether friction does not hold the soles."""
        return math.tan(self.steepness) >= self.friction

    def __str__(self) -> str:
        """Return steepness and direction, as in "a slope of 3.0° that rises ahead"."""
        direction = _DIRECTIONS[round(self.uphill / _EIGHTH) % 8]
        return f"a slope of {math.degrees(self.steepness):.1f}° that rises {direction}"


def check_slope(setup: Setup) -> None:
    """Pass when the robot may stand on its slope.

    Raises:
        ConfigError: It slips, topples at rest, or the slope is steeper than what the robot was seen to walk.
    """
    footing, title = SlopeFooting.of(setup), setup.robot.title
    if footing.steepness == 0.0:
        return
    if footing.slips:
        holds = math.degrees(math.atan(footing.friction))
        raise ConfigError(f"{footing}: the soles slip, friction={footing.friction:g} holds up to {holds:.1f}°")
    if footing.topples_at_rest:
        raise ConfigError(
            f"{footing}: {title} topples, as its plan is for level ground: {_numbers(footing, setup)}; up to"
            f" {math.degrees(footing.steepest_at_rest):.1f}° it stands"
        )
    if footing.topples_walking:
        raise ConfigError(
            f"{footing}: steeper than {title} has been seen to walk, as its plan is for level ground:"
            f" {_numbers(footing, setup)}; a larger {_WALKED[setup.walking.walking.control]} there lets it try"
        )


def slope_note(setup: Setup) -> str | None:
    """Return one line on what the slope does to the robot; None on level ground."""
    footing = SlopeFooting.of(setup)
    if footing.steepness < _WORTH_A_WORD:
        return None
    return f"{footing}, and a plan for level ground: {_numbers(footing, setup)}"


def _numbers(footing: SlopeFooting, setup: Setup) -> str:
    """Return how far the CoM is off, how much room there is for it, and how steep is walked."""
    shift = footing.com_shift
    nearest = footing.room[round(math.atan2(shift[1], shift[0]) / _QUARTER) % 4]
    text = (
        f"the CoM is h tan θ = {1e3 * float(np.linalg.norm(shift)):.0f} mm downhill of where it is planned, the edge of"
        f" the soles {1e3 * nearest:.0f} mm"
    )
    control = setup.walking.walking.control
    if footing.walked is None:
        return text if control is ControlMode.POSITION else f"{text}; how steep it walks by {control} is not known"
    ahead, aside = (f"{math.degrees(limit):.1f}°" for limit in footing.walked)
    return (
        f"{text}; {control} control has been seen to walk up to {ahead} ahead or back and {aside} to the sides"
        f" ({_WALKED[control]} in robots/{setup.robot.name}/robot.toml)"
    )


# -- soft and slippery floors ------------------------------------------------------------------------------------------

_FLOOR_LOOK = 10.0  # [s] of a plan: its start and many steps at full speed
_SAMPLE = 0.02  # [s]


def floor_note(setup: Setup, plan: WalkingPlan, seed: int) -> str | None:
    """Return one line on a simulated floor that is softer or more slippery than gains and plan take; None otherwise."""
    soft = soft_floor_warning(setup, known_margins(setup)[0]) if is_too_soft(setup) else None
    return "; ".join(filter(None, (soft, slippery_note(setup, plan, seed)))) or None


def slippery_note(setup: Setup, plan: WalkingPlan, seed: int) -> str | None:
    """Return one line on a rigid floor of less friction than a plan and the slope need; None where it has enough.

    Args:
        setup: Of the robot and its floor.
        plan: Of the walk.
        seed: By which friction and slope are drawn.
    """
    configured = setup.simulation.ground
    if configured.kind != GroundKind.RIGID:
        return None
    floor = ModelErrors(setup.simulation.model_errors, seed).of_floor(configured, setup.simulation.timestep)
    slope, needed = math.tan(floor.steepness), planned_friction(plan)
    if floor.friction >= slope + needed:
        return None
    has = f"{floor.friction:.2g}" + f" (drawn, {configured.friction:.2g} is set)" * (
        floor.friction != configured.friction
    )
    return (
        f"the simulated floor is more slippery than the plan takes: friction {has}, the planned CoM needs {needed:.2f}"
        f" (nine tenths of its horizontal acceleration over gravity are below that){_of_slope(slope)}:"
        " the feet may slip"
    )


def _of_slope(slope: float) -> str:
    return f", the slope {slope:.2f} more" if slope > math.radians(0.5) else ""


def planned_friction(plan: WalkingPlan) -> float:
    """Return the friction that a plan needs in its first ten seconds, see `needed_friction`; zero where it stands."""
    times = np.arange(plan.start_time, min(plan.end_time, plan.start_time + _FLOOR_LOOK), _SAMPLE)
    references = [plan.at(time) for time in times.tolist()]
    walks = np.array([reference.is_walking for reference in references], dtype=bool)
    if np.count_nonzero(walks) < FEW:
        return 0.0
    velocities = np.array([reference.com_velocity[:2] for reference in references])
    return needed_friction(np.gradient(velocities, times, axis=0)[walks])


# -- joint speeds ------------------------------------------------------------------------------------------------------

_TICK = 0.01  # [s]
_LOOK = 10.0  # [s] of a plan: its start and many steps at full speed
_AT_THE_LIMIT = 0.99  # [-] of a velocity limit
_BENT = math.radians(0.1)  # from a position limit, at 0.06° from which the inverse kinematics stops


@dataclass(frozen=True, slots=True, eq=False)
class PlannedJoints:
    """Extremes of the joints over a plan.

    Attributes:
        speeds: Highest ones, [rad/s], shape (n,).
        margins: Least distances of positions to their limits, [rad], shape (n,).
    """

    speeds: NDArray
    margins: NDArray


def planned_joints(layers: WalkingLayers, plan: WalkingPlan) -> PlannedJoints:
    """Return the extremes of the joints where the inverse kinematics follows a plan exactly.

    Limits of positions and velocities count; what they leave no exact answer for is followed as nearly as possible.

    Args:
        layers: Of the robot, before its walk.
        plan: That begins with both feet side by side at the origin; its first ten seconds count.
    """
    kinematics, state = layers.inverse_kinematics, layers.start_posture
    kinematics.problem.reset()
    highest, least = np.zeros_like(state.joint_positions), np.full_like(state.joint_positions, np.inf)
    lower, upper = layers.joint_limits
    for time in np.arange(plan.start_time + _TICK, min(plan.end_time, plan.start_time + _LOOK), _TICK).tolist():
        sample = plan.at(time)
        pendulum = BalanceReference(sample.com_position, sample.com_velocity, np.zeros(3), sample.dcm.zmp_position)
        reference = layers.body_references.reference(sample, pendulum)
        try:
            velocity = kinematics.solve(state, reference, _TICK)
        except NoSolutionFound:
            velocity = kinematics.solve(state, reference, _TICK, relaxed=True)
        state = integrate(state, velocity, _TICK)
        highest = np.maximum(highest, np.abs(velocity[6:]))
        least = np.minimum(least, np.minimum(state.joint_positions - lower, upper - state.joint_positions))
    kinematics.problem.reset()
    return PlannedJoints(highest, least)


def joint_notes(layers: WalkingLayers, plan: WalkingPlan) -> list[str]:
    """Return a line on the legs' joints that a plan drives to limits of velocity, and one to those of position."""
    robot, planned = layers.robot, planned_joints(layers, plan)
    legs = [robot.joints.index(joint) for joint in robot.leg_joints]
    fast = planned.speeds / layers.velocity_limits >= _AT_THE_LIMIT
    bent = planned.margins < _BENT
    too_fast, too_far = ([robot.joints[leg] for leg in legs if limited[leg]] for limited in (fast, bent))
    notes = []
    if too_fast:
        notes.append(
            f"the plan drives {', '.join(too_fast)} to the velocity limits of their motors"
            f" (robots/{robot.name}/robot.toml): a lower speed, planner.swing_height,"
            " planner.footsteps.double_support_ratio or planner.com_height spares them"
        )
    if too_far:
        spares = spares_joints(too_far, layers.joint_axes())
        notes.append(f"the plan drives {', '.join(too_far)} to position limits: {spares}")
    return notes
