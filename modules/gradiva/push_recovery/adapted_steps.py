"""Adapted steps: the running step follows the measured DCM, in place and time; a robot that stands steps if it must."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, replace
from typing import Self

from gradiva.common import GRAVITY, TIME_ROUNDING, FootReference, NDArray, RobotState, Side, WalkingReference
from gradiva.planner import (
    CATCHING_STEPS,
    FROZEN_TIME,
    Foothold,
    FootPose,
    PlannedStep,
    Retarget,
    WalkingPlan,
    WalkingPlanner,
)
from gradiva.push_recovery.capture_steps import CaptureStepping
from gradiva.push_recovery.step_adaptations import StepAdaptation, StepChange, SteppingLog
from gradiva.push_recovery.step_adapter import (
    LONGEST_SUPPORT,
    RELEASE_ERROR,
    AdaptedStep,
    RunningStep,
    StepAdaptationConfig,
    StepAdapter,
    SteppingMode,
    legs_of,
    predicted_dcm,
)
from gradiva.robot_model import Compiler, RobotDescription, interpreted
from gradiva.whole_body import RESTING_LOAD

TRIGGER_TIME, RELEASE_TIME = 0.13, 0.07  # [s] times the speed is the error that triggers, or releases, where it is more
LAST_DELAY = 0.6  # [-] of the planned single support, after which a foot onto which the robot tilts lands no later
_WITHOUT_ZMP = 2.0  # [-] of the trigger, while no sensor measures the ZMP: 45 mm of DCM error are usual then
_LARGEST_JUMP = 0.06  # [m] of the DCM from tick to tick; a larger one is an error of the estimate
_CAUGHT = 0.02  # [m] of the DCM beside its offset from a landing that is enough
_MISSED = 0.08  # [m] likewise, of one that no ankle makes up for: the steps after it come at once
_SHORTEST_FALL = 0.15  # [s] of a foot in the air to the ground: 30 mm at 0.35 m/s at most; it strikes in a shorter one
_TOWARDS = 0.5  # [-] cosine of the angle between the DCM error and the way to a foot onto which the robot tilts
MINIMUM_MOVE, MINIMUM_DELAY = 0.01, 0.03  # [m], [s] of a foothold and its touch-down, which else stay
STANCE_LOAD = 0.5  # [-] of the load, on the foot that stands alone before the landing of the other one moves
_REFUSED = 0.05  # [s] after which a change of the last step that the planner refused is asked for again
_DCM_AGE = 0.02  # [s] of the estimated DCM after a push, 12.5 to 17.5 ms


@dataclass(frozen=True, slots=True, eq=False)
class NominalStep:
    """The running step as it was planned before its first change.

    Attributes:
        step: With its times.
        running: What the law takes of it; the rest is written in each tick.
        standing: Of the last step: DCM at which the robot then stands, [m], shape (2,); None: others follow.
        is_quick: Whether the steps after it come as soon as they can, since its landing misses the offset by far.
    """

    step: PlannedStep
    running: RunningStep
    standing: NDArray | None = None
    is_quick: bool = False


class AdaptedSteps(StepAdaptation):
    r"""Moves the landing of the running step, in place and time, when the DCM leaves its reference.

    The error of the DCM triggers it in single support, and keeps it active until a double support in which it is small,
    or until a step is over in which none triggers and nothing is changed. Where servos follow late, it counts from
    where the reference has been for ``lateness``. The faster a healthy robot walks the farther it is off: both limits
    grow with the speed, and the first one doubles on a foot without a sensor.
    While it is active, each tick chooses a landing (``StepAdapter``), and one that moves by more than the dead band
    changes the plan, whose DCM and CoM then restart where the robot is, with the error predicted over the DCM's age.
    All later steps are translated and delayed with it, so that the DCM's offset from the landing foot stays as planned.
    Where no landing of the step in which it triggers comes within ``_MISSED`` of it, two steps follow at once.
    Nothing changes shortly before touch-down, nor while the stance foot carries less than ``STANCE_LOAD``. If then the
    other one rests on the ground for two ticks, in the second half of a swing that is not the last, it has landed: it
    stands where its swing is. A foot onto which the robot tilts lands earlier but never later.

    A landing does not catch the robot where the push goes over the foot that stands alone, now or next: no step gets
    there. Where the error that triggers points away from a sole that comes down, the robot tilts, the sole hangs in the
    air, and its landing can hardly move any more: it falls away. A robot that stands steps by ``CaptureStepping``.

    Attributes:
        adapter: The law of a landing, also of the steps that follow.
        standing: Steps from standing.
    """

    def __init__(
        self,
        config: StepAdaptationConfig,
        planner: WalkingPlanner,
        robot: RobotDescription,
        compiler: Compiler = interpreted,
    ) -> None:
        """Take the settings, layer 1 with the limits of steps, and the robot; ``compiler`` makes equations fast."""
        legs, zmp = [legs_of(config, planner.config, stands) for stands in (False, True)], planner.config.zmp_offset
        self._adapters = walks, stands = [StepAdapter(config, robot.sole, zmp, limits, compiler) for limits in legs]
        self._config, self._planner, self._weight = config, planner, GRAVITY * robot.mass
        self._edge = {side: float((side.sign * robot.sole.corners(side)[:, 1]).max()) for side in Side}  # outer, [m]
        self.adapter, self.standing, self.mode = walks, CaptureStepping(stands, planner), config.mode
        self.reset()

    @classmethod
    def built(
        cls,
        config: StepAdaptationConfig,
        planner: WalkingPlanner,
        robot: RobotDescription,
        compiler: Compiler = interpreted,
    ) -> Self:
        """Return it; it has no table of its own."""
        return cls(config, planner, robot, compiler)

    def reset(self) -> None:
        """Forget the past; see ``StepAdaptation``."""
        self._adapters[0].set_leg_momentum(self.leg_momentum)
        self.standing.reset()
        self.log = SteppingLog(self.mode)
        self._is_active = self._rests = self.catches = False
        self._nominal: NominalStep | None = None
        self._asked_again = -math.inf  # [s] from when on, where the planner has refused a change of the last step
        self._changes = 0
        self._is_calm = self._stood = False  # since the last touch-down nothing triggered or changed; both feet stood
        self._is_new = False  # triggered in this step
        self._last_dcm: tuple[float, float] | None = None
        self._way: deque[tuple[float, float, float]] = deque()  # time [s], x and y of the DCM reference, latest first
        self._logged: tuple[object, ...] = ()

    def is_recovering(self, time: float) -> bool:
        """Return whether the robot stands and its DCM is, or was shortly before ``time`` [s], far off its reference."""
        return self.standing.is_recovering(time)

    def update(self, pendulum: RobotState, reference: WalkingReference, plan: WalkingPlan) -> StepChange | None:
        """Return the change of the running step, or the step of a robot that stands; see ``StepAdaptation``."""
        index = plan.landings.after(reference.time)
        x, y = pendulum.dcm_position.tolist()
        is_believed, falls_away = self._is_believed(x, y), False
        distance, factor = self._distance_from_way(x, y, reference), 1.0 if pendulum.zmp_is_measured else _WITHOUT_ZMP
        step = plan.landings[index] if index < len(plan.landings.times) else None
        is_pushed = is_believed and _is_far(distance / factor, self._config.trigger, TRIGGER_TIME, plan, index)
        self._is_calm = self._is_calm and not is_pushed
        stood, self._stood = self._stood, reference.is_double_support
        if self._stood and not stood:  # a touch-down; the limit that releases may never be met
            self._is_active, self._is_calm, self._is_new = self._is_active and not self._is_calm, True, False
        if self._stood or step is None:
            self._is_active = self._is_active and _is_far(distance, RELEASE_ERROR, RELEASE_TIME, plan, index)
            self._stand(pendulum, reference, step, is_pushed)
            return self._capture(pendulum, reference, plan) if step is None else None
        if is_pushed and not self._is_active:
            self._is_active, self._is_new, falls_away = True, True, _falls_away(pendulum, reference, step)
        change, self.catches = None, self.catches and self._is_active
        if self._is_active and is_believed:
            left, nominal = len(plan.landings.times) - 1 - index, self._nominal
            if nominal is None or (nominal.standing is not None and left > CATCHING_STEPS):  # of another command
                nominal = self._nominal = self._planned(plan, index)
            is_refused = not left and reference.time < self._asked_again
            change = None if is_refused else self._change(pendulum, reference, plan, index, nominal)
        if change is not None:
            self._changes, self._is_calm = self._changes + 1, False
        self._log(step if change is None else _changed(step, change))
        return StepChange(change, falls_away=falls_away) if falls_away or change is not None else None

    def _capture(self, state: RobotState, reference: WalkingReference, plan: WalkingPlan) -> StepChange | None:
        """Return the step of a robot that stands, after which legs are those of one that stood."""
        capture = self.standing.capture(state, reference, plan)
        self.adapter = self._adapters[capture is not None]
        return None if capture is None else StepChange(capture=capture)

    def _stand(self, state: RobotState, reference: WalkingReference, step: PlannedStep | None, is_pushed: bool) -> None:
        """Begin a double support anew; a walk that has ended leaves no past."""
        self._nominal, self.catches, self._rests = None, False, False
        if step is not None and (self._is_active or is_pushed):
            self.catches = not self._goes_over_stance(state, reference, step.footstep.side.other)
        self._log(None)

    def _goes_over_stance(self, state: RobotState, reference: WalkingReference, side: Side) -> bool:
        """Return whether the DCM is outside of a stance sole, or its error points mainly there."""
        stance = reference.foot(side)
        (ahead_x, left_x, _), (ahead_y, left_y, _), _ = stance.rotation.tolist()
        x, y = (state.dcm_position - stance.position[:2]).tolist()
        error_x, error_y = (state.dcm_position - reference.dcm.position).tolist()
        offset, outward = side.sign * (left_x * x + left_y * y), side.sign * (left_x * error_x + left_y * error_y)
        return offset > self._edge[side] or outward > abs(ahead_x * error_x + ahead_y * error_y)

    def _change(
        self, state: RobotState, reference: WalkingReference, plan: WalkingPlan, index: int, nominal: NominalStep
    ) -> Retarget | None:
        """Return the change that the landing of least cost makes; None where it is too small or too late.

        As many steps as are ``left`` follow it where it brings the DCM to its planned offset, else ``CATCHING_STEPS``
        at least. The last step stays as it is where the ankles can stop the DCM after it.
        """
        step, left = plan.landings[index], len(plan.landings.times) - 1 - index
        stance, early = step.footstep.side.other, step.touch_down - reference.time
        if state.zmp_is_measured and state.part_of_load(stance) < STANCE_LOAD:
            rested, self._rests = self._rests, state.foot_wrench(stance.other)[2] > RESTING_LOAD * self._weight
            has_landed = rested and self._rests and MINIMUM_DELAY < early < 0.5 * (step.touch_down - step.lift_off)
            if not left or not has_landed:
                return None
            foothold = Foothold(touch_down=reference.time)
            return Retarget((foothold,), state.dcm_position, state.com_position, left, nominal.is_quick)
        self._rests = False
        if early < FROZEN_TIME + TIME_ROUNDING:
            return None
        self._write_tick(nominal, state, reference, step)
        if not left and nominal.standing is not None and self.adapter.comes_to_stand(nominal.running, nominal.standing):
            return None
        adapted = self.adapter.adapt(nominal.running)
        may_hurry = self._is_new and not nominal.is_quick and self.mode is SteppingMode.PLACE_AND_TIME
        if may_hurry and _left(adapted) > _MISSED:
            offset, double_support = self._planner.catching_offset(plan, index, is_quick=True)
            running = replace(nominal.running, dcm_offset=offset, double_support=double_support)
            nominal = self._nominal = replace(nominal, running=running, is_quick=True)
            adapted = self.adapter.adapt(running)
        is_enough = _left(adapted) < _CAUGHT
        self.catches = is_enough and not self._goes_over_stance(state, reference, stance)
        moved = self._foothold(adapted, step, reference.time)
        if moved is None and left:
            return None
        self._asked_again = -math.inf if left else reference.time + _REFUSED
        foothold, following = moved or Foothold(), left if left and is_enough else max(left, CATCHING_STEPS)
        return Retarget((foothold,), state.dcm_position, state.com_position, following, nominal.is_quick)

    def _write_tick(
        self, nominal: NominalStep, state: RobotState, reference: WalkingReference, step: PlannedStep
    ) -> None:
        """Write into the nominal step what changes from tick to tick."""
        side, running = step.footstep.side, nominal.running
        swing, error = reference.foot(side), state.dcm_position - reference.dcm.position
        tilts_onto_it = _part_towards(swing, reference.foot(side.other), error) > _TOWARDS
        running.shortest, running.longest = self._times(step, nominal, reference.time, tilts_onto_it)
        running.time_left = max(nominal.step.touch_down - reference.time, running.shortest)
        dcm, zmp, zeta = state.dcm_position, state.zmp_position, running.natural_frequency
        running.dcm_position, running.zmp_position = predicted_dcm(dcm, zmp, reference.dcm, zeta, _DCM_AGE), zmp
        running.swing_position, running.swing_velocity = swing.position[:2], swing.twist[:2]

    def _planned(self, plan: WalkingPlan, index: int) -> NominalStep:
        """Return the step of an index, which runs, with what follows it."""
        step, planner, is_last = plan.landings[index], self._planner.config, index + 1 == len(plan.landings.times)
        side, pose = step.footstep.side, step.footstep.pose
        stance = plan.phase_at(step.lift_off).foot(side.other).pose
        zmp, dcm = stance.zmp_point(side.other, planner.zmp_offset), plan.dcm_at(step.touch_down)[0].position
        offset, double_support = self._planner.catching_offset(plan, index, is_quick=False)
        running = RunningStep(
            dcm_position=dcm,
            zmp_position=zmp,
            dcm_offset=offset,
            natural_frequency=planner.natural_frequency,
            side=side,
            stance=stance.planar,
            landing=pose.planar,
            double_support=double_support,
        )
        growth = math.exp(0.5 * planner.natural_frequency * double_support)
        return NominalStep(step, running, zmp + growth * (dcm - zmp) if is_last else None)

    def _times(self, step: PlannedStep, nominal: NominalStep, time: float, tilts_onto_it: bool) -> tuple[float, float]:
        """Return the least and the largest time to touch-down, [s]."""
        left, elapsed = step.touch_down - time, time - step.lift_off
        if self.mode is SteppingMode.PLACE:
            return left, left
        planned = nominal.step.touch_down - nominal.step.lift_off
        shortest = min(left, max(self.adapter.legs.shortest - elapsed, _SHORTEST_FALL))
        is_falling = elapsed > (LAST_DELAY if tilts_onto_it else 1.0) * planned + TIME_ROUNDING
        return shortest, left if is_falling else max(left, LONGEST_SUPPORT * planned - elapsed)

    def _foothold(self, adapted: AdaptedStep, step: PlannedStep, time: float) -> Foothold | None:
        """Return the adapted landing where it differs from that of the plan by more than the dead band."""
        old = step.footstep.pose
        touch_down = time + adapted.time_left - TIME_ROUNDING  # a tick at that very time finds the foot on the ground
        earliest = step.lift_off + self.adapter.legs.shortest - 0.5 * TIME_ROUNDING  # the planner refuses a shorter one
        touch_down = max(touch_down, min(step.touch_down, earliest))
        is_moved = math.hypot(adapted.landing.x - old.x, adapted.landing.y - old.y) > MINIMUM_MOVE
        if not is_moved and abs(touch_down - step.touch_down) <= MINIMUM_DELAY + TIME_ROUNDING:
            return None
        pose = FootPose(adapted.landing.x, adapted.landing.y, old.yaw).on(old.plane)
        return Foothold(pose, None if self.mode is SteppingMode.PLACE else touch_down)

    def _distance_from_way(self, x: float, y: float, reference: WalkingReference) -> float:
        """Return how far a DCM is from where its reference was while it may be late, or is where that is near, [m]."""
        now_x, now_y = reference.dcm.position.tolist()
        distance, lateness = math.hypot(x - now_x, y - now_y), self._config.lateness
        self._way.appendleft((reference.time, now_x, now_y))
        while self._way[-1][0] < reference.time - lateness - TIME_ROUNDING:
            self._way.pop()
        if distance <= (RELEASE_ERROR if self._is_active else self._config.trigger):
            return distance
        return min(math.hypot(x - way_x, y - way_y) for _, way_x, way_y in self._way)

    def _is_believed(self, x: float, y: float) -> bool:
        """Return whether the DCM has not jumped since the last tick, as after an error of the estimate."""
        last, self._last_dcm = self._last_dcm, (x, y)
        return last is None or math.hypot(x - last[0], y - last[1]) <= _LARGEST_JUMP

    def _log(self, step: PlannedStep | None) -> None:
        """Log the running step; None: both feet stand. The log of the last tick stays where nothing has changed."""
        nominal = step if self._nominal is None else self._nominal.step
        logged = self.mode, self._is_active, nominal, step, self._changes
        if logged != self._logged:
            self._logged, self.log = logged, SteppingLog.of(*logged)


def _left(adapted: AdaptedStep) -> float:
    """Return how far the DCM will be from its offset after a landing, [m]."""
    return math.hypot(*adapted.offset_error.tolist())


def _falls_away(state: RobotState, reference: WalkingReference, step: PlannedStep) -> bool:
    """Return whether the DCM error points from a swinging sole, which comes down, to the one that stands."""
    side, error = step.footstep.side, state.dcm_position - reference.dcm.position
    swing = reference.foot(side)
    return bool(swing.twist[2] < 0.0 and _part_towards(swing, reference.foot(side.other), error) < 0.0)


def _part_towards(swing: FootReference, stance: FootReference, error: NDArray) -> float:
    """Return the cosine of the angle between the DCM error and the way from the stance foot to the swinging one."""
    (x, y), (way_x, way_y, _) = error.tolist(), (swing.position - stance.position).tolist()
    return (x * way_x + y * way_y) / (math.hypot(x, y) * math.hypot(way_x, way_y) or 1.0)


def _is_far(distance: float, least: float, time: float, plan: WalkingPlan, index: int) -> bool:
    """Return whether an error [m] exceeds ``least`` [m] and the way in ``time`` [s] at the commanded speed."""
    if distance <= least:
        return False
    unicycles = (step.footstep.unicycle for step in plan.landings[max(0, index - 1) : index + 1])
    return distance > time * max((math.hypot(path.forward, path.lateral) for path in unicycles), default=0.0)


def _changed(step: PlannedStep, change: Retarget) -> PlannedStep:
    """Return the step as the change has it."""
    foothold = change.footholds[0]
    footstep = replace(step.footstep, pose=foothold.pose or step.footstep.pose)
    return replace(step, footstep=footstep, touch_down=foothold.touch_down or step.touch_down)
