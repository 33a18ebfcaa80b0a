"""Reactive stepping: the running step follows the measured DCM, in place and time."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from gradiva.common import NDArray, PlanarPose, RobotState, Side, SoleRectangle, WalkingReference
from gradiva.planner import Foothold, FootPose, PlannedStep, PlannerConfig, Retarget, WalkingPlan
from gradiva.robot_model import Compiler, interpreted
from gradiva.simplified_model import AdaptedStep, RunningStep, StepAdaptationConfig, StepAdapter, SteppingMode

_SOLE = 0.05  # [m] no ZMP of a foot that stands alone is farther from its reference
_STOP = 0.03  # [s] until a sole that has landed early rests


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
        dcm_offset: DCM less the landing's ZMP point in the middle of the double support that follows, [m], shape (2,).
        double_support: That follows, [s].
    """

    step: PlannedStep
    dcm_offset: NDArray
    double_support: float


class ReactiveStepping:
    r"""Moves the landing of the running step, in place and time, when the DCM leaves its reference.

    The error of the DCM triggers it in single support, and keeps it active until a double support in which the error
    is small: in between, each tick chooses a landing (``StepAdapter``), and one that moves by more than the dead band
    changes the plan, whose DCM and CoM references then restart where the robot is. In between they do not: a reference
    that follows the robot forgets the error. The velocity of the CoM, and so the DCM, is older than the tick by a
    filter and the sensors; the error is predicted over that time as the pendulum's,

    .. math:: \dot e = \zeta (e - (z - z_r)), \qquad e = \xi - \xi_r

    All steps after the moved one are translated and delayed with it, so that the DCM's offset from the landing foot,
    which the walk needs, stays as it was planned. Nothing changes shortly before touch-down, and a foot that comes
    down already lands earlier but never later.

    Attributes:
        mode: What it may change; may be set between ticks.
        log: Of the last tick.
    """

    def __init__(
        self,
        config: StepAdaptationConfig,
        planner: PlannerConfig,
        sole: SoleRectangle,
        weight: float,
        compiler: Compiler = interpreted,
    ) -> None:
        """Take the settings.

        Args:
            config: Its own.
            planner: Limits of steps.
            sole: Of the left foot.
            weight: Of the robot, [N].
            compiler: How the equations become fast.
        """
        self._config, self._planner = config, planner
        self._early_load = config.early_load * weight
        width = max(planner.min_step_width, planner.min_feet_distance)
        self._adapter = StepAdapter(config, sole, planner.zmp_offset, planner.max_feet_distance, width, compiler)
        self._shortest = max(config.shortest_support, planner.single_support(planner.min_step_duration))
        self.mode = config.mode
        self.reset()

    def reset(self) -> None:
        """Forget the past: the robot is prepared anew."""
        self.log = SteppingLog(self.mode)
        self._is_active = False
        self._nominal: _NominalStep | None = None
        self._changes = 0
        self._last_dcm: NDArray | None = None

    def retarget(self, state: RobotState, reference: WalkingReference, plan: WalkingPlan) -> Retarget | None:
        """Return the change of the plan, or None; see ``StepAdaptation``."""
        error = state.dcm_position - reference.dcm.position
        step = None if reference.is_double_support else _running(plan, reference.time)
        is_believed = self._is_believed(state.dcm_position)
        if step is None or not is_believed:
            self._nominal = self._nominal if step is not None else None
            self._is_active = self._is_active and (step is not None or math.hypot(*error) > self._config.release)
            self.log = SteppingLog(self.mode, self._is_active, changes=self._changes)
            return None
        self._is_active = self._is_active or math.hypot(*error) > self._config.trigger
        change = None
        if self._is_active:
            self._nominal = self._nominal or _nominal(plan, step, self._planner)
            change = self._early_contact(state, reference, step) or self._change(state, reference, plan, step)
        self._log(step if change is None else _changed(step, change))
        return change

    def _change(
        self, state: RobotState, reference: WalkingReference, plan: WalkingPlan, step: PlannedStep
    ) -> Retarget | None:
        """Return the change that the landing of least cost makes; None where it is too small or too late."""
        config, left = self._config, step.touch_down - reference.time
        if left < config.frozen:
            return None
        running = self._running_step(state, reference, plan, step)
        adapted = self._adapter.adapt(running)
        foothold = self._foothold(adapted, step, reference.time)
        if foothold is None:
            return None
        self._changes += 1
        return Retarget((foothold,), state.dcm_position, state.com_position)

    def _early_contact(self, state: RobotState, reference: WalkingReference, step: PlannedStep) -> Retarget | None:
        """Return the landing of a sole that carries load already: a plan that moves it on drags the robot along."""
        time, side = reference.time, step.footstep.side
        is_late = step.touch_down - time <= _STOP
        if is_late or time < step.lift_off + self._config.early_after or state.foot_wrench(side)[2] < self._early_load:
            return None
        swing, old = reference.foot(side), step.footstep.pose
        x, y = (swing.position[:2] + _STOP / 3.0 * swing.twist[:2]).tolist()
        self._changes += 1
        foothold = Foothold(FootPose(x, y, old.yaw).on(old.plane), time + _STOP)
        return Retarget((foothold,), is_landed=True)

    def _running_step(
        self, state: RobotState, reference: WalkingReference, plan: WalkingPlan, step: PlannedStep
    ) -> RunningStep:
        nominal, side, time = self._nominal, step.footstep.side, reference.time
        assert nominal is not None
        swing, stance = reference.foot(side), plan.phase_at(time).foot(side.other).pose
        shortest, longest = self._times(step, nominal, time)
        return RunningStep(
            self._predicted_dcm(state, reference),
            state.zmp_position,
            nominal.dcm_offset,
            reference.dcm.divergence_rate,
            side,
            PlanarPose(stance.x, stance.y, stance.yaw),
            _planar(nominal.step.footstep.pose),
            max(nominal.step.touch_down - time, shortest),
            shortest,
            longest,
            nominal.double_support,
            swing.position[:2],
            swing.twist[:2],
        )

    def _times(self, step: PlannedStep, nominal: _NominalStep, time: float) -> tuple[float, float]:
        """Return the least and the largest time to touch-down, [s]."""
        config, left, elapsed = self._config, step.touch_down - time, time - step.lift_off
        if self.mode is SteppingMode.PLACE:
            return left, left
        planned = nominal.step.touch_down - nominal.step.lift_off
        shortest = min(left, max(self._shortest - elapsed, config.shortest_fall))
        is_falling = elapsed > config.last_delay * planned
        return shortest, left if is_falling else max(left, config.longest_support * planned - elapsed)

    def _predicted_dcm(self, state: RobotState, reference: WalkingReference) -> NDArray:
        dcm = reference.dcm
        error, zmp_error = state.dcm_position - dcm.position, state.zmp_position - dcm.zmp_position
        zmp_error = zmp_error.clip(-_SOLE, _SOLE)
        rate = dcm.divergence_rate * (error - zmp_error)
        predicted: NDArray = state.dcm_position + self._config.prediction * rate
        return predicted

    def _foothold(self, adapted: AdaptedStep, step: PlannedStep, time: float) -> Foothold | None:
        """Return the adapted landing where it differs from that of the plan by more than the dead band."""
        config, old = self._config, step.footstep.pose
        touch_down = time + adapted.time_left
        is_moved = math.hypot(adapted.landing.x - old.x, adapted.landing.y - old.y) > config.minimum_move
        if not is_moved and abs(touch_down - step.touch_down) <= config.minimum_delay:
            return None
        pose = FootPose(adapted.landing.x, adapted.landing.y, old.yaw).on(old.plane)
        return Foothold(pose, None if self.mode is SteppingMode.PLACE else touch_down)

    def _is_believed(self, dcm_position: NDArray) -> bool:
        """Return whether the DCM has not jumped since the last tick, as after an error of the estimate."""
        last, self._last_dcm = self._last_dcm, dcm_position
        return last is None or math.hypot(*(dcm_position - last)) <= self._config.largest_jump

    def _log(self, step: PlannedStep) -> None:
        before = step if self._nominal is None else self._nominal.step
        nominal, adapted = (_planar(each.footstep.pose) for each in (before, step))
        delay = step.touch_down - before.touch_down
        self.log = SteppingLog(self.mode, self._is_active, step.footstep.side, nominal, adapted, delay, self._changes)


def _running(plan: WalkingPlan, time: float) -> PlannedStep | None:
    """Return the step that is not landed yet."""
    return next((step for step in plan.steps if step.touch_down > time), None)


def _nominal(plan: WalkingPlan, step: PlannedStep, planner: PlannerConfig) -> _NominalStep:
    """Return the running step of a plan with what follows it."""
    following = next((other for other in plan.steps if other.lift_off >= step.touch_down), None)
    if following is None:
        duration = step.footstep.duration
        double_support = duration - planner.single_support(duration)
    else:
        double_support = following.lift_off - step.touch_down
    side, stance = step.footstep.side, plan.phase_at(step.lift_off).foot(step.footstep.side.other).pose
    zmp = stance.zmp_point(side.other, planner.zmp_offset)
    landing = step.footstep.pose.zmp_point(side, planner.zmp_offset)
    dcm, _, _ = plan.trajectory.at(step.touch_down)
    growth = math.exp(0.5 * planner.natural_frequency * double_support)
    return _NominalStep(step, zmp + growth * (dcm.position - zmp) - landing, double_support)


def _changed(step: PlannedStep, change: Retarget) -> PlannedStep:
    """Return the step as the change has it."""
    foothold = change.footholds[0]
    pose = foothold.pose or step.footstep.pose
    touch_down = step.touch_down if foothold.touch_down is None else foothold.touch_down
    return replace(step, footstep=replace(step.footstep, pose=pose), touch_down=touch_down)


def _planar(pose: FootPose) -> PlanarPose:
    return PlanarPose(pose.x, pose.y, pose.yaw)
