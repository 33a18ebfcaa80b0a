"""Reactive stepping: the running step follows the measured DCM, in place and time."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gradiva.common import (
    TIME_ROUNDING,
    FootReference,
    NDArray,
    PlanarPose,
    RobotState,
    Side,
    SoleRectangle,
    WalkingReference,
    altered,
    so3,
)
from gradiva.planner import Foothold, FootPose, PlannedStep, PlannerConfig, Retarget, WalkingPlan
from gradiva.robot_model import Compiler, interpreted
from gradiva.simplified_model import AdaptedStep, RunningStep, StepAdaptationConfig, StepAdapter, SteppingMode
from gradiva.whole_body import WholeBodyReference

_LARGEST_JUMP = 0.06  # [m] of the DCM from tick to tick; a larger one is an error of the estimate
_CAUGHT = 0.02  # [m] of the DCM beside its offset from a landing that stops it
_TOWARDS = 0.5  # [-] cosine of the angle between the DCM error and the way to a foot onto which the robot tilts
_NEGLIGIBLE = 1e-5  # [m, rad] offset of a sole


@dataclass(frozen=True, slots=True)
class SteppingLog:
    """State of reactive stepping in one tick.

    Attributes:
        mode: What it may change.
        is_active: Whether the DCM error has triggered it and is not released yet.
        side: Foot that swings; None in double support.
        nominal: Foothold of that foot before the first change of its step (world); None in double support.
        adapted: Foothold of that foot now (world); None in double support.
        delay: Touch-down less the one before the first change of its step, [s].
        changes: Number of changes since the robot was prepared.
    """

    mode: SteppingMode
    is_active: bool = False
    side: Side | None = None
    nominal: PlanarPose | None = None
    adapted: PlanarPose | None = None
    delay: float = 0.0
    changes: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class _NominalStep:
    """The running step as it was planned before its first change.

    Attributes:
        step: With its times.
        running: What the law takes of it; the rest is written in each tick.
    """

    step: PlannedStep
    running: RunningStep


class ReactiveStepping:
    r"""Moves the landing of the running step, in place and time, when the DCM leaves its reference.

    The error of the DCM triggers it in single support, and keeps it active until a double support in which the error
    is small. The faster a healthy robot walks the farther it is off, most of it late: both limits grow with the speed.
    While it is active, each tick chooses a landing (``StepAdapter``), and one that moves by more than the dead band
    changes the plan, whose DCM and CoM references then restart where the robot is. In between they do not: a reference
    that follows the robot forgets the error. The velocity of the CoM, and so the DCM, is older than the tick by a
    filter and the sensors; the error is predicted over that time.

    All steps after the moved one are translated and delayed with it, so that the DCM's offset from the landing foot,
    which the walk needs, stays as it was planned. Nothing changes shortly before touch-down, nor while the stance foot
    carries less than ``stance_load`` (a robot that tips on the other heel is carried by it), nor while the sole comes
    down within ``clearance`` of the ground, where a robot that tilts would drag it along, nor, with
    ``ankle_strategy``, while a push over the foot that stands alone leaves the DCM within its sole: no step gets there,
    and the ankle brings it back. A foot that comes down onto which the robot tilts lands earlier but never later,
    another one does up to ``last_free_delay`` of its step. In double support a foot lifts off later, by at most
    ``longest_wait``, while the other one does not carry the robot and the DCM lags behind its way there.

    Attributes:
        mode: What it may change; may be set between ticks.
        log: Of the last tick.
        catches: Whether the landing that it chose last stops the DCM, from then to the end of the double support. It
            does not where the push goes over the foot that stands alone, now or next: no step gets there.
        falls_away: Whether the DCM error triggers it in this tick, away from a sole that comes down: the robot tilts,
            the sole hangs in the air, and its landing can hardly move any more.
    """

    def __init__(
        self,
        config: StepAdaptationConfig,
        planner: PlannerConfig,
        sole: SoleRectangle,
        compiler: Compiler = interpreted,
    ) -> None:
        """Take the settings.

        Args:
            config: Its own.
            planner: Limits of steps.
            sole: Of the left foot.
            compiler: How the equations become fast.
        """
        self._config, self._planner, self._sole = config, planner, sole
        self._adapter = step_adapter(config, planner, sole, compiler)
        self._shortest = shortest_support(config, planner)
        self.mode = config.mode
        self.reset()

    def reset(self) -> None:
        """Forget the past: the robot is prepared anew."""
        self.log = SteppingLog(self.mode)
        self._is_active = self._is_catching = self.catches = self.falls_away = False
        self._nominal: _NominalStep | None = None
        self._changes = 0
        self._waited = self._late = 0.0  # lift-off of the next step, touch-down of the running one
        self._last_dcm: tuple[float, float] | None = None
        self._logged: tuple[object, ...] = ()

    def retarget(self, state: RobotState, reference: WalkingReference, plan: WalkingPlan) -> Retarget | None:
        """Return the change of the plan, or None; see ``StepAdaptation``."""
        config, is_believed, self.falls_away = self._config, self._is_believed(state), False
        index, error = plan.landings.after(reference.time), state.dcm_position - reference.dcm.position
        distance, speed = math.hypot(*error.tolist()), _speed(plan, index)
        is_pushed = is_believed and distance > max(config.trigger, config.trigger_time * speed)
        if not reference.is_double_support and index < len(plan.landings):
            side = plan.landings[index].footstep.side
            self.falls_away = is_pushed and not self._is_active and _falls_away(reference, side, error)
            self._is_active = self._is_active or is_pushed
            return self._move_landing(state, reference, plan, index, is_believed)
        self._is_active = self._is_active and distance > max(config.release, config.release_time * speed)
        return self._delay_lift_off(state, reference, plan, index, is_pushed)

    def _move_landing(
        self, state: RobotState, reference: WalkingReference, plan: WalkingPlan, index: int, is_believed: bool
    ) -> Retarget | None:
        """Return the change of the running step, that of an index; None: it stays."""
        step, change = plan.landings[index], None
        self._is_catching, self._late, self._waited = self._is_active, self._late + self._waited, 0.0
        self.catches = self.catches and self._is_active
        if self._is_active and is_believed:
            self._nominal = self._nominal or self._planned(plan, index)
            change = self._change(state, reference, step, self._nominal)
        self._log(step if change is None else _changed(step, change))
        return change

    def _delay_lift_off(
        self, state: RobotState, reference: WalkingReference, plan: WalkingPlan, index: int, is_pushed: bool
    ) -> Retarget | None:
        """Return the delay of the lift-off of the next step, that of an index, in double support; None: it stays."""
        change, self._nominal, self._late = None, None, 0.0
        self._is_catching, self.catches = self._is_catching or is_pushed, self._is_active or is_pushed
        if index == len(plan.landings):  # it stands: the next walk begins without a past
            self._is_catching, self._waited, self.catches = False, 0.0, False
        else:
            step = plan.landings[index]
            self.catches = self.catches and not self._goes_over_stance(state, reference, step.footstep.side.other)
            if self._is_catching and self.mode is SteppingMode.PLACE_AND_TIME:
                change = self._wait_for_load(state, reference, step)
        self._log(None)
        return change

    def _goes_over_stance(self, state: RobotState, reference: WalkingReference, side: Side) -> bool:
        """Return whether the DCM is outside of a stance sole, or its error points mainly there."""
        stance = reference.foot(side)
        ahead, outward = stance.rotation[:2, 0], side.sign * stance.rotation[:2, 1]
        error, offset = state.dcm_position - reference.dcm.position, state.dcm_position - stance.position[:2]
        edge = (side.sign * self._sole.corners(side)[:, 1]).max()
        return bool(outward @ offset > edge or outward @ error > abs(ahead @ error))

    def _is_over_sole(self, state: RobotState, reference: WalkingReference, side: Side) -> bool:
        """Return whether the DCM is where a ZMP in a stance sole, less its margin, can hold it."""
        stance = reference.foot(side)
        offset = stance.rotation[:2, :2].T @ (state.dcm_position - stance.position[:2])
        corners = self._sole.corners(side, self._config.sole_margin)
        return bool(np.all((corners.min(axis=0) <= offset) & (offset <= corners.max(axis=0))))

    def _wait_for_load(self, state: RobotState, reference: WalkingReference, step: PlannedStep) -> Retarget | None:
        """Return the delay of a lift-off that comes before the other foot carries the robot; None: it does."""
        config, left, swing = self._config, step.lift_off - reference.time, step.footstep.side
        is_imminent = TIME_ROUNDING < left <= config.wait + TIME_ROUNDING
        if not is_imminent or self._waited >= config.longest_wait or not state.zmp_is_measured:
            return None
        way = (reference.foot(swing.other).position - reference.foot(swing).position)[:2]
        behind = float((reference.dcm.position - state.dcm_position) @ way) / math.hypot(*way)
        if self._carries(state, swing.other) or behind < config.lagging_dcm:
            return None
        self._waited += config.wait
        self._changes += 1
        return Retarget((Foothold(None, step.touch_down + config.wait, step.lift_off + config.wait),))

    def _carries(self, state: RobotState, side: Side) -> bool:
        """Return whether a foot carries its part of the load, ``stance_load``, or more."""
        loads = {each: max(0.0, float(state.foot_wrench(each)[2])) for each in Side}
        return loads[side] >= self._config.stance_load * sum(loads.values())

    def _change(
        self, state: RobotState, reference: WalkingReference, step: PlannedStep, nominal: _NominalStep
    ) -> Retarget | None:
        """Return the change that the landing of least cost makes; None where it is too small or too late."""
        stance = step.footstep.side.other
        if self._is_too_late(state, reference, step) or (state.zmp_is_measured and not self._carries(state, stance)):
            return None
        is_over_stance = self._goes_over_stance(state, reference, stance)
        if self._config.ankle_strategy and is_over_stance and self._is_over_sole(state, reference, stance):
            self.catches = False
            return None
        self._write_tick(nominal, state, reference, step)
        adapted = self._adapter.adapt(nominal.running)
        self.catches = not is_over_stance and math.hypot(*adapted.offset_error.tolist()) < _CAUGHT
        foothold = self._foothold(adapted, step, reference.time)
        if foothold is None:
            return None
        self._changes += 1
        return Retarget((foothold,), state.dcm_position, state.com_position)

    def _write_tick(
        self, nominal: _NominalStep, state: RobotState, reference: WalkingReference, step: PlannedStep
    ) -> None:
        """Write into the nominal step what changes from tick to tick."""
        running, swing = nominal.running, reference.foot(step.footstep.side)
        error = state.dcm_position - reference.dcm.position
        tilts_onto_it = _part_towards(reference, step.footstep.side, error) > _TOWARDS
        running.shortest, running.longest = self._times(step, nominal, reference.time, tilts_onto_it)
        running.time_left = max(nominal.step.touch_down - reference.time, running.shortest)
        running.dcm_position, running.zmp_position = state.dcm_position, state.zmp_position
        running.planned_dcm, running.planned_velocity = reference.dcm.position, reference.dcm.velocity
        running.swing_position, running.swing_velocity = swing.position[:2], swing.twist[:2]

    def _is_too_late(self, state: RobotState, reference: WalkingReference, step: PlannedStep) -> bool:
        """Return whether the sole lands so soon, or is so near to the ground, that it cannot land elsewhere."""
        left = step.touch_down - reference.time
        return left < self._config.frozen + TIME_ROUNDING or self._is_landing(state, reference, step)

    def _is_landing(self, state: RobotState, reference: WalkingReference, step: PlannedStep) -> bool:
        """Return whether the sole comes down and is so near to the ground that it would be dragged along it."""
        side, clearance = step.footstep.side, self._config.clearance
        if clearance == 0.0 or float(reference.foot(side).twist[2]) >= 0.0:
            return False
        return float(state.foot_position(side)[2]) - step.footstep.pose.z < clearance

    def _planned(self, plan: WalkingPlan, index: int) -> _NominalStep:
        """Return the step of an index, which runs, with what follows it."""
        step, planner = plan.landings[index], self._planner
        if index + 1 < len(plan.landings):
            double_support = plan.landings[index + 1].lift_off - step.touch_down
        else:
            double_support = step.footstep.duration - planner.single_support(step.footstep.duration)
        side, pose = step.footstep.side, step.footstep.pose
        stance = plan.phase_at(step.lift_off).foot(side.other).pose
        zmp, landing = stance.zmp_point(side.other, planner.zmp_offset), pose.zmp_point(side, planner.zmp_offset)
        dcm, _, _ = plan.dcm_at(step.touch_down)
        zeta, left = planner.natural_frequency, step.touch_down - step.lift_off
        offset = zmp + math.exp(0.5 * zeta * double_support) * (dcm.position - zmp) - landing
        rest = np.zeros(2)
        running = RunningStep(
            dcm_position=dcm.position,
            zmp_position=zmp,
            dcm_offset=offset,
            natural_frequency=zeta,
            side=side,
            stance=stance.planar,
            landing=pose.planar,
            time_left=left,
            shortest=left,
            longest=left,
            double_support=double_support,
            swing_position=rest,
            swing_velocity=rest,
            dcm_age=self._config.prediction,
        )
        return _NominalStep(step, running)

    def _times(self, step: PlannedStep, nominal: _NominalStep, time: float, tilts_onto_it: bool) -> tuple[float, float]:
        """Return the least and the largest time to touch-down, [s]."""
        config, left, elapsed = self._config, step.touch_down - time, time - step.lift_off
        if self.mode is SteppingMode.PLACE:
            return left, left
        planned = nominal.step.touch_down - nominal.step.lift_off
        shortest = min(left, max(self._shortest - elapsed, config.shortest_fall))
        last_delay = config.last_delay if tilts_onto_it else config.last_free_delay
        is_falling = elapsed > last_delay * planned + TIME_ROUNDING
        return shortest, left if is_falling else max(left, config.longest_support * planned - elapsed)

    def _foothold(self, adapted: AdaptedStep, step: PlannedStep, time: float) -> Foothold | None:
        """Return the adapted landing where it differs from that of the plan by more than the dead band."""
        config, old = self._config, step.footstep.pose
        touch_down = time + adapted.time_left - TIME_ROUNDING  # a tick at that very time finds the foot on the ground
        is_moved = math.hypot(adapted.x - old.x, adapted.y - old.y) > config.minimum_move
        if not is_moved and abs(touch_down - step.touch_down) <= config.minimum_delay + TIME_ROUNDING:
            return None
        pose = FootPose(adapted.x, adapted.y, old.yaw).on(old.plane)
        return Foothold(pose, None if self.mode is SteppingMode.PLACE else touch_down)

    def _is_believed(self, state: RobotState) -> bool:
        """Return whether the DCM has not jumped since the last tick, as after an error of the estimate."""
        x, y = state.dcm_position.tolist()
        last, self._last_dcm = self._last_dcm, (x, y)
        return last is None or math.hypot(x - last[0], y - last[1]) <= _LARGEST_JUMP

    def _log(self, step: PlannedStep | None) -> None:
        """Log the running step; None: both feet stand. The log of the last tick stays where nothing has changed."""
        nominal = step if self._nominal is None else self._nominal.step
        logged = self.mode, self._is_active, step, nominal, self._changes
        if logged == self._logged:
            return
        self._logged = logged
        if step is None or nominal is None:
            self.log = SteppingLog(self.mode, self._is_active, changes=self._changes)
            return
        poses = nominal.footstep.pose.planar, step.footstep.pose.planar
        delay = step.touch_down - nominal.touch_down + self._late
        self.log = SteppingLog(self.mode, self._is_active, step.footstep.side, *poses, delay, self._changes)


def step_adapter(
    config: StepAdaptationConfig, planner: PlannerConfig, sole: SoleRectangle, compiler: Compiler = interpreted
) -> StepAdapter:
    """Return the law with the limits that the planner has for its own steps; ``sole`` is the left one."""
    width = max(planner.min_step_width, planner.min_feet_distance)
    return StepAdapter(config, sole, planner.zmp_offset, config.reach * planner.max_feet_distance, width, compiler)


def shortest_support(config: StepAdaptationConfig, planner: PlannerConfig) -> float:
    """Return the shortest single support of an adapted step, [s]."""
    return max(config.shortest_support, planner.single_support(planner.min_step_duration))


class SoleLevelling:
    r"""Keeps the soles level, and those in the air at their height, while the robot itself tilts.

    Servos of position and velocity move the swinging foot relative to the body. Where the stance sole tips about an
    edge, the body tilts and the foot comes down early and on an edge, or hangs in the air when it should stand. Height
    and tilt of a sole without load are therefore fed back, with :math:`e` the planned pose less the measured one,

    .. math:: o = k_P e_z e_3 + k_I \int e \, dt, \qquad p = p_r + o_{z}, \quad R = Exp(o_{x,y}) R_r

    A stance sole that tips about an edge lifts its own frame, from which the state estimator counts: the ground is
    lower than measured by that rise, of which ``rise_gain`` counts, ``landed_rise_gain`` for a foot that has just
    landed and hangs in the air where it should take the load. A sole that carries load gives its offset back with a
    time constant. Under a robot that stands and is pushed it tips on an edge, which the ZMP cannot leave then, and
    the robot rocks back farther than it came: its tilt is integrated as well, so that it lies flat under the tilted
    robot (of a robot that walks, that costs a twentieth of the pushes). Torque control, which feeds the poses of
    the feet back itself, needs none of this.

    Attributes:
        offsets: Of each sole: tilt about x and y [rad] and height [m], shape (3,); empty while there are none.
    """

    def __init__(self, config: StepAdaptationConfig, weight: float, sole: SoleRectangle) -> None:
        """Take the gains, the robot's weight [N] and its left sole."""
        self._config, self._sole = config, sole
        self._load = config.airborne_load * weight
        self._limit = np.array((config.steepest, config.steepest, config.highest))
        self.reset()

    def reset(self) -> None:
        """Forget the past: the soles are as planned."""
        self.offsets: dict[Side, NDArray] = {}
        self._integrals: dict[Side, NDArray] = {}

    def levelled(
        self,
        reference: WholeBodyReference,
        state: RobotState,
        is_active: bool,
        stands: bool,
        period: float,
        landed: Side | None = None,
    ) -> WholeBodyReference:
        """Return the reference of layer 3 with the feet where they come to their planned poses.

        Args:
            reference: With the planned feet.
            state: With the measured ones.
            is_active: Whether a push is being caught; otherwise offsets are given back.
            stands: Whether a robot that stands is pushed: its soles with load are laid flat as well.
            period: [s].
            landed: Foot that landed last in a walk, and should take the load or carry the robot; None: there is none.
        """
        config, rise = self._config, self._rise_of_support(reference, state) if is_active else 0.0
        rises = {side: rise * (config.landed_rise_gain if side is landed else config.rise_gain) for side in Side}
        feet = {side: self._corrected(side, reference, state, is_active, stands, rises[side], period) for side in Side}
        if not is_active and all(np.abs(offset).max() < _NEGLIGIBLE for offset in self.offsets.values()):
            self.reset()
        return altered(reference, left_foot=feet[Side.LEFT], right_foot=feet[Side.RIGHT])

    def _rise_of_support(self, reference: WholeBodyReference, state: RobotState) -> float:
        """Return how far the frame of the sole that carries the robot rises above the ground by tipping, [m]."""
        side = max(Side, key=lambda side: float(state.foot_wrench(side)[2]))
        foot = reference.left_foot if side is Side.LEFT else reference.right_foot
        slope = foot.rotation[:, 2] @ state.foot_rotation(side)[:, :2]
        return -float((self._sole.corners(side) @ slope).min())

    def _corrected(
        self,
        side: Side,
        reference: WholeBodyReference,
        state: RobotState,
        is_active: bool,
        stands: bool,
        rise: float,
        period: float,
    ) -> FootReference:
        config = self._config
        foot = reference.left_foot if side is Side.LEFT else reference.right_foot
        last = self.offsets.get(side, np.zeros(3))
        tilt = so3.log(foot.rotation @ state.foot_rotation(side).T)[:2]
        if is_active and state.foot_wrench(side)[2] < self._load:
            height = float(foot.position[2] - state.foot_position(side)[2]) - rise
            integral = self._integrals.get(side, last) + period * config.sole_integral_gain * np.array([*tilt, height])
            offset = integral + np.array((0.0, 0.0, config.sole_height_gain * height))
        else:
            integral = offset = last - min(1.0, period / config.sole_leak_time) * last
            if stands and foot.in_contact:
                integral = offset = offset + period * config.stance_tilt_gain * np.array([*tilt, 0.0])
        self._integrals[side] = integral.clip(-self._limit, self._limit)
        offset = offset.clip(-self._limit, self._limit)
        offset[2] = last[2] + np.clip(offset[2] - last[2], -config.sole_speed * period, config.sole_speed * period)
        self.offsets[side] = offset
        return _moved(foot, offset, (offset - last) / period)


def landed_last(reference: WalkingReference) -> Side:
    """Return the foot of a walk that landed last: it carries the robot or takes the load."""
    return reference.stance_foot.other if reference.is_double_support else reference.stance_foot


def _moved(foot: FootReference, offset: NDArray, rate: NDArray) -> FootReference:
    """Return a foot that is tilted about x and y [rad] and lifted [m] by an offset, shape (3,), and its rate."""
    tilt, rise = np.array((offset[0], offset[1], 0.0)), np.array((0.0, 0.0, offset[2]))
    twist = foot.twist.copy()
    twist[2:5] += rate[2], rate[0], rate[1]
    return altered(foot, position=foot.position + rise, rotation=so3.exp(tilt) @ foot.rotation, twist=twist)


def _falls_away(reference: WalkingReference, side: Side, error: NDArray) -> bool:
    """Return whether the DCM error points from a swinging sole, which comes down, to the one that stands."""
    return bool(reference.foot(side).twist[2] < 0.0 and _part_towards(reference, side, error) < 0.0)


def _part_towards(reference: WalkingReference, side: Side, error: NDArray) -> float:
    """Return the cosine of the angle between the DCM error and the way from the stance foot to the swinging one."""
    way = (reference.foot(side).position - reference.foot(side.other).position)[:2]
    return float(error @ way) / (math.hypot(*error) * math.hypot(*way) or 1.0)


def _speed(plan: WalkingPlan, index: int) -> float:
    """Return the larger one of the commanded speeds at the step of an index and at the one before, [m/s]."""
    steps = [plan.landings[i].footstep.unicycle for i in (index - 1, index) if 0 <= i < len(plan.landings)]
    return max((math.hypot(unicycle.forward, unicycle.lateral) for unicycle in steps), default=0.0)


def _changed(step: PlannedStep, change: Retarget) -> PlannedStep:
    """Return the step as the change has it."""
    foothold = change.footholds[0]
    pose = foothold.pose or step.footstep.pose
    touch_down = step.touch_down if foothold.touch_down is None else foothold.touch_down
    return replace(step, footstep=replace(step.footstep, pose=pose), touch_down=touch_down)
