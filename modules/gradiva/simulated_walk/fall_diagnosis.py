"""The first sign and the cause of a walk that ended badly, and the robot's own measurements that show them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradiva.common import GRAVITY, ControlMode, NDArray
from gradiva.estimation import DeflectionSource
from gradiva.robot_model import RobotDescription, ServoLaw
from gradiva.setup import NoiseResponse, Plant, Setup, load_setup, noise_response
from gradiva.setup.soft_floors import is_too_soft, stiffer_floor
from gradiva.simulated_walk.commanded_end import commanded_speed, plan_from_start
from gradiva.simulated_walk.fall_causes import cause_not_found, find_cause, greatest_speed, moves
from gradiva.simulated_walk.fall_evidence import (
    Cause,
    CauseKind,
    FallEvidence,
    spares_joints,
    supporting_joints_at_limits,
)
from gradiva.simulated_walk.first_sign import first_sign, onset_of, pushes_before
from gradiva.simulated_walk.footing import planned_friction, response_note
from gradiva.simulated_walk.known_causes import before_balance, known_push, known_speed
from gradiva.simulated_walk.measured_walk import Mask, MeasuredWalk
from gradiva.simulated_walk.simulated_walk import SimulatedWalk
from gradiva.simulated_walk.walk_score import deflection_errors, true_deflections
from gradiva.simulation import FaultKind, GroundKind, Push
from gradiva.telemetry import SignalLog
from gradiva.walking import Chatter, SafetyEvent, WalkingConfig

_DEGREES = 180.0 / np.pi
_LIKE_BENDING = (None, CauseKind.PUSH, CauseKind.SOFT_GROUND)  # as which links that bend are measured
_WRONG_DEFLECTION = (
    0.02  # [rad] before falls by it 0.025 and more; where the stiffness is known 0.01, noisy sensors too
)
_WRONG_STIFFNESS = 0.1  # [-] of the truth
_TOO_SOFT = 0.6  # [rad] TALOS walks with deflections of 0.42 and falls with 0.8
_TOO_SOFT_BY_SERVOS = 0.07  # [rad] the same by position and velocity control, which do not level them: 0.053, 0.089
_STIFFER = "a larger --flexibility: TALOS walks from 200 N·m/rad on, with 24°"
_PLAN_SAMPLE = 0.1  # [s] at which the rest of the plan is looked at


_LIKE_OSCILLATION = (*_LIKE_BENDING, CauseKind.SPEED, CauseKind.FRICTION)
LOOP_TABLES = ("zmp_com_controller", "foot_admittance", "servo_feedforward", "state_estimator", "simulation.servo")
"""Tables of the loop through the foot wrenches."""
_OSCILLATING = 0.05  # [-] of the weight in each part of
_OSCILLATING_FOR = 0.5  # [s] before the first sign
_COMMAND_UNITS = {ControlMode.POSITION: "rad", ControlMode.VELOCITY: "radps", ControlMode.TORQUE: "nm"}


@dataclass(frozen=True, slots=True)
class HealthyChatter:
    """Chatter of the last weight shift that a loop with margins stays below.

    Attributes:
        foot_force: [-] of the weight.
        zmp: [m].
    """

    foot_force: float
    zmp: float


_HEALTHY_IDEAL = HealthyChatter(0.003, 1e-4)  # loops with 6 dB of margin: at most 0.0013, those without: from 0.016 on
_HEALTHY = HealthyChatter(0.012, 6e-4)  # the same with noise, friction and play: at most 0.009 of the true load

_FAR_BEYOND = 3.0  # [-] times these; loops without margin: from 12 on
CauseSearch = Callable[[float], Cause | None]
"""From the time of the first sign other than a slip, [s], to the cause."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Why a walk ended badly, as far as its log says.

    Attributes:
        first_sign: The quantity that left its healthy range first, with value, time and support phase; empty if none.
        first_sign_time: Of the log, [s]; None if there is none.
        cause: Inferred from the measurements; None where they name none.
        pushes: That acted in simulation before, and from which the robot had not recovered.
        measured: Cause by the measurements alone, as on a robot; None where they name none.
        onset: Up to when causes are looked for, [s]: the first sign other than a slip, or the end.
    """

    first_sign: str
    first_sign_time: float | None
    cause: Cause | None
    pushes: tuple[Push, ...]
    measured: CauseKind | None = None
    onset: float = math.inf

    def __str__(self) -> str:
        """Return what follows the reason of the outcome; nothing where nothing is known."""
        cause = f"; cause: {self.cause.text}" if self.cause else ""
        sign = f"; first sign: {self.first_sign}" if self.first_sign else ""
        return cause + sign + "".join(self._in_words(push) for push in self.pushes if str(push) not in cause)

    def _in_words(self, push: Push) -> str:
        """Return a push with its place: before the first sign or after it, which is no cause; or before the end."""
        if self.first_sign_time is None:
            return f"; after a {push}"
        return f"; {'before' if push.start <= self.first_sign_time else 'after'} it, a {push}"

    def as_table(self) -> dict[str, Any]:
        """Return the diagnosis as it stands in ``result.json``."""
        cause = self.cause
        return {
            "cause": str(cause.kind) if cause and cause.kind else None,
            "measured_cause": None if self.measured is None else str(self.measured),
            "text": cause.text if cause else None,
            "advice": None if cause is None else cause.next_step,
            "first_sign": self.first_sign or None,
            "first_sign_s": self.first_sign_time,
        }


def diagnose(
    log: SignalLog,
    pushes: Sequence[Push] = (),
    end: float = math.inf,
    causes: CauseSearch | None = None,
    robot: RobotDescription | None = None,
) -> Diagnosis:
    """Return why a walk ended badly.

    The first sign is, of the quantities that are outside the bounds of a healthy walk at the end, the one that left
    first and did not come back (``first_sign.py``).

    Args:
        log: Of the walk.
        pushes: That were to come.
        end: When the walk ended, [s].
        causes: Looks for the cause, given when the first sign was; None: it is not looked for.
        robot: By whose mass and soles slips are known; None: they are not looked at.
    """
    (time, sign), onset = first_sign(log, robot), onset_of(log, end)
    return Diagnosis(sign, time, causes(onset) if causes else None, pushes_before(log, pushes, onset), onset=onset)


def diagnose_walk(walk: SimulatedWalk) -> Diagnosis:
    """Return why a simulated walk ended badly, from its log and what was measured before the robot balanced."""
    log, measured, events = walk.recorder.log, _measured(walk), walk.controller.safety_events
    stop = next((event.time for event in events if event.text == walk.controller.reason), walk.time)

    def cause(onset: float) -> Cause | None:
        """Return the cause by the measurements, as far as it acted in simulation."""
        if measured is None:
            return None
        acted = pushes_before(log, walk.acted_pushes, min(onset, stop))
        evidence = _evidence_of(walk, measured, onset)
        evidence = replace(evidence, impossible=impossible_causes(walk, evidence.asked_speed, acted))
        went_wrong = walk.robot.fall is not None or onset < walk.time
        found = find_cause(evidence)
        if acted and (found is None or found.kind is CauseKind.PUSH):
            found = known_push(acted, found, evidence.robot)
            if not len(log):
                found = replace(found, advice=before_balance(walk.setup), why="", trials={})
        found = found or (cause_not_found(evidence) if went_wrong else None)
        if found is None:
            return None
        if found.kind is CauseKind.SOFT_GROUND and is_too_soft(walk.setup):
            found = replace(found, advice=stiffer_floor(walk.setup))
        is_reported = found.text in [event.text for event in events]  # by the supervisor: nothing that bending explains
        bending = None if is_reported else bending_links(found, walk.setup, log, onset)
        oscillating = oscillating_loop(found, walk, onset)
        limited = limited_joints(walk, onset) if oscillating or found.kind is None else None
        return advised(limited or oscillating or bending or found, response_note(walk.setup))

    diagnosis = diagnose(log, walk.acted_pushes, walk.time, cause, walk.setup.robot)
    if diagnosis.onset >= walk.time:
        diagnosis = replace(diagnosis, pushes=pushes_before(log, walk.acted_pushes, stop))
    if measured is None or diagnosis.cause is None:
        return diagnosis
    found = find_cause(_evidence_of(walk, measured, diagnosis.onset))
    return replace(diagnosis, measured=None if found is None else found.kind)


def _measured(walk: SimulatedWalk) -> MeasuredWalk | None:
    """Return what was measured, standing before the walk included; None where nothing was."""
    log, robot, layers = walk.recorder.log, walk.setup.robot, walk.layers
    standing = MeasuredWalk.of_standing(walk.recorder.standing, layers.estimator, layers.planner, robot)
    parts = [standing, MeasuredWalk.of_log(log, robot) if len(log) else None]
    known = [part for part in parts if part is not None]
    return functools.reduce(MeasuredWalk.followed_by, known) if known else None


def diagnose_recording(
    log: SignalLog, setup: Setup, velocity_limits: NDArray, events: Sequence[SafetyEvent] = ()
) -> Diagnosis:
    """Return why a robot stopped or fell, of which there is nothing but a recording.

    Args:
        log: Of the ticks in which the control loop ran without a break.
        setup: Of the controller.
        velocity_limits: Of the joints, [rad/s], shape (n,).
        events: Of the safety supervisor.
    """
    if not len(log):
        return Diagnosis("", None, None, ())
    measured, end = MeasuredWalk.of_log(log, setup.robot), float(log.times[-1])

    def cause(onset: float) -> Cause | None:
        """Return the cause by the recording alone."""
        evidence = _evidence(setup, log, measured, onset, velocity_limits, events)
        return find_cause(evidence) or (cause_not_found(evidence) if onset < end else None)

    diagnosis = diagnose(log, end=end, causes=cause, robot=setup.robot)
    return replace(diagnosis, measured=None if diagnosis.cause is None else diagnosis.cause.kind)


def _evidence_of(walk: SimulatedWalk, measured: MeasuredWalk, onset: float) -> FallEvidence:
    limits, events = walk.layers.joint_bounds.velocities, walk.controller.safety_events
    asked = None if walk.command is None else commanded_speed(walk.command, walk.setup.walking.planner)
    evidence = _evidence(walk.setup, walk.recorder.log, measured, onset, limits, events)
    friction = 0.0 if walk.command is None else planned_friction(plan_from_start(walk.setup, walk.command))
    return replace(evidence, speed_ahead=_speed_ahead(walk), asked_speed=asked, planned_friction=friction)


def _evidence(
    setup: Setup,
    log: SignalLog,
    measured: MeasuredWalk,
    onset: float,
    velocity_limits: NDArray,
    events: Sequence[SafetyEvent],
) -> FallEvidence:
    return FallEvidence(
        *(measured, log, onset, velocity_limits, known_speed(setup), events),
        servo_lag=servo_lag(setup),
        stepping=setup.walking.step_adaptation.mode,
        models_soft_ground=setup.walking.knows_soft_ground,
        dcm_gain=_dcm_gain(setup.walking),
        plant_is_ideal=setup.plant is Plant.IDEAL,
        robot=setup.robot_argument,
    )


def impossible_causes(walk: SimulatedWalk, asked_speed: float | None, acted: Sequence[Push]) -> frozenset[CauseKind]:
    """Return the disturbances that did not act in a simulated walk, and what a push explains.

    Args:
        walk: That ended badly.
        asked_speed: Commanded speed, [m/s]; None where it is not known.
        acted: Pushes that acted before the first sign: joints may come late then at any speed.
    """
    simulation, faults = walk.setup.simulation, {fault.kind for fault in walk.robot.faults}
    floor, errors = simulation.ground, simulation.model_errors
    exact = load_setup(walk.setup.robot_argument).simulation.sensors
    own = load_setup(walk.setup.robot_argument, plant=walk.setup.plant).simulation
    drives = [(plant.friction, plant.motors, plant.servo) for plant in (simulation, own)]
    is_possible = {
        CauseKind.PUSH: bool(acted),
        CauseKind.SPEED: not acted or asked_speed is None or asked_speed > known_speed(walk.setup),
        CauseKind.SLOPE: floor.steepness > 0.0 or errors.floor_slope > 0.0,
        CauseKind.MASS: simulation.plant.mass_scale != 1.0,
        CauseKind.SOFT_GROUND: floor.kind != GroundKind.RIGID or is_too_soft(walk.setup),
        CauseKind.BUMP: bool(floor.bumps),
        CauseKind.MOTOR: FaultKind.WEAK_MOTOR in faults or drives[0] != drives[1],
        CauseKind.SENSOR: bool(faults - {FaultKind.WEAK_MOTOR}) or simulation.sensors != exact,
    }
    return frozenset(kind for kind, possible in is_possible.items() if not possible)


def advised(cause: Cause, note: str | None) -> Cause:
    """Return the cause; its advice is what was noted before the walk of slow sensors and motors, if anything was."""
    return replace(cause, advice=f"sensors and motors are too slow for soft ground: {note}") if note else cause


def bending_links(cause: Cause, setup: Setup, log: SignalLog, onset: float) -> Cause | None:
    """Return as the cause that links bend: unknown to the controller, wrongly observed, or too far to walk or stand.

    A swinging foot that scuffs, because it is not where the kinematics say, looks like a sensor's fault as well.

    Args:
        cause: By the robot's measurements.
        setup: Of the walk, with the stiffness of the plant.
        log: Of the walk, with observed and true deflections; empty where the robot fell before it balanced.
        onset: When the first sign was, [s]; later ones are those of a robot that falls.
    """
    joints = setup.simulated_robot.flexible_joints
    if not joints or cause.kind not in (*_LIKE_BENDING, CauseKind.SENSOR):
        return None
    rows = log.times <= onset
    bent = float(np.abs(true_deflections(log)[rows]).max(initial=0.0))
    if setup.unmodelled_stiffness and (cause.kind in _LIKE_BENDING or bent > _TOO_SOFT_BY_SERVOS):
        text = f"links bend by {min(setup.unmodelled_stiffness):g} N·m/rad, which the controller does not know"
        return Cause(
            None, text, "--control torque on rigid ground with torque_control.law=flexible knows flexible joints"
        )
    if not len(log):
        return _toppling_links(setup.robot, min(joint.stiffness for joint in joints))
    if not rows.any():
        return None
    return _wrong_deflection(setup, log, rows) or _too_soft(setup, log, rows, bent)


def _toppling_links(robot: RobotDescription, stiffness: float) -> Cause | None:
    """Return links by which a robot that stands, an inverted pendulum on a spring, topples: by less than m g h."""
    needed = robot.mass * GRAVITY * robot.com_height
    if stiffness > needed:
        return None
    text = (
        f"links are too soft: {stiffness:g} N·m/rad do not hold the robot upright, weight times height is {needed:.0f}"
    )
    return Cause(None, text, _STIFFER)


def _wrong_deflection(setup: Setup, log: SignalLog, rows: Mask) -> Cause | None:
    """Return as the cause that deflections are not observed, or that their stiffness is wrong."""
    error = float(np.abs(deflection_errors(log)[rows]).max(initial=0.0))
    if error < _WRONG_DEFLECTION:
        return None
    until = f"{np.degrees(error):.1f}° until the first sign"
    if setup.walking.flexible_joint_observer.source is DeflectionSource.NONE:
        text = f"links bend and are taken to be straight (flexible_joint_observer.source=none), wrong by {until}"
        return Cause(None, text, "flexible_joint_observer.source=wrenches observes the deflections")
    known, true = _least_known_stiffness(setup, log, rows)
    if abs(known / true - 1.0) < _WRONG_STIFFNESS:
        return None
    text = f"links bend by {true:g} N·m/rad, the controller takes them for {known:g}: deflections wrong by {until}"
    both = f"--flexibility {true:g} alone, without --set flexibility.stiffness, is known to both"
    return Cause(None, text, f"{both}; flexible_joint_observer.stiffness_rate=5 learns it")


def _too_soft(setup: Setup, log: SignalLog, rows: Mask, bent: float) -> Cause | None:
    """Return links as too soft that bend by as much as ``bent`` [rad], which servos of position do not undo."""
    by_torque = setup.walking.walking.control is ControlMode.TORQUE
    if bent < (_TOO_SOFT if by_torque else _TOO_SOFT_BY_SERVOS):
        return None
    softness = f"links are too soft{'' if by_torque else f' for {setup.walking.walking.control} control'}"
    true = _least_known_stiffness(setup, log, rows)[1]
    text = f"{softness}: by {true:g} N·m/rad they bend by {_DEGREES * bent:.0f}° until the first sign"
    return Cause(None, text, _STIFFER if by_torque else "--control torque, whose law takes deflections into account")


def _least_known_stiffness(setup: Setup, log: SignalLog, rows: Mask) -> tuple[float, float]:
    """Return stiffness as known in the last of the rows and as simulated, [N·m/rad], where they differ most."""
    signal = "flexible_joints::stiffness::estimated"
    known = dict(zip(log.info(signal).elements, log[signal][rows][-1].tolist(), strict=True)) if signal in log else {}
    joints = setup.simulated_robot.flexible_joints
    pairs = [(known.get(joint.name, joint.stiffness), joint.stiffness) for joint in joints]
    return max(pairs, key=lambda pair: abs(pair[0] / pair[1] - 1.0))


def servo_lag(setup: Setup) -> NDArray:
    """Return the lag of the joints behind their references of constant speed, [s], shape (n,).

    It is that of the servos; position control leads them (`ServoFeedforward`) and holds set-points for some periods.
    """
    config, law = setup.walking.servo_feedforward, ServoLaw.of(setup.robot)
    if setup.walking.walking.control is not ControlMode.POSITION:
        return law.lag
    return (1.0 - config.velocity) * law.lag + config.hold * setup.walking.walking.period


# -- oscillation of the loop -------------------------------------------------------------------------------------------


def oscillating_loop(cause: Cause, walk: SimulatedWalk, onset: float) -> Cause | None:
    """Return as the cause that the loop oscillated before the first sign, which looks like many a disturbance."""
    if cause.kind not in _LIKE_OSCILLATION:
        return None
    begin = onset - _OSCILLATING_FOR
    size = walk.chatter.sustained(begin, onset)
    if size is None or size < _OSCILLATING:
        return None
    frequency = walk.chatter.frequency(begin, onset)
    text = f"the loop oscillates at {frequency:.0f} Hz: {_of_weight(size)} on a foot before the first sign"
    return Cause(None, text, f"look at {gains_of_loop(walk.setup)}")


def limited_joints(walk: SimulatedWalk, onset: float) -> Cause | None:
    """Return as the cause that joints came to the limits of their positions before the first sign."""
    found = supporting_joints_at_limits(walk.recorder.log, walk.setup.robot, walk.layers.joint_limits, onset)
    if not found:
        return None
    advice = spares_joints([each.joint for each in found], walk.layers.joint_axes())
    return Cause(CauseKind.SETTING, f"at the limit of its position: {', '.join(map(str, found))}", advice)


def chatter_table(walk: SimulatedWalk) -> dict[str, Any]:
    """Return the chatter of a walk by phase and for the last second online, with what it says where it is too much."""
    figures, joints = walk.chatter.figures(), walk.setup.robot.joints
    unit = _COMMAND_UNITS[walk.setup.walking.walking.control]
    phases = {
        name: {
            "foot_force": one.foot_force,
            "zmp_m": one.zmp,
            f"command_{unit}": one.command,
            "joint": joints[one.joint],
        }
        for name, one in figures.items()
    }
    healthy = _HEALTHY_IDEAL if walk.setup.plant is Plant.IDEAL else _HEALTHY
    shift = figures.get("shift")
    is_beyond = shift is not None and (shift.foot_force > healthy.foot_force or shift.zmp > healthy.zmp)
    noise = noise_response(walk.setup) if is_beyond else None
    lasting = None if shift is None else walk.chatter.sustained(*walk.chatter.last_shift())
    return {
        **{name: phases.get(name) for name in ("double_support", "single_support", "shift")},
        "lasting_foot_force": lasting,
        "healthy_shift": {"foot_force": healthy.foot_force, "zmp_m": healthy.zmp},
        "noise": None if noise is None else {"foot_force": noise.chatter.foot_force, "zmp_m": noise.chatter.zmp},
        "text": _chatter_in_words(walk, shift, healthy, noise) if shift is not None and is_beyond else None,
    }


def _chatter_in_words(
    walk: SimulatedWalk, shift: Chatter, healthy: HealthyChatter, noise: NoiseResponse | None
) -> str | None:
    """Return the cause of chatter beyond its band: the loop, or its sensors where their noise leaves a healthy rest.

    The loop is one that oscillates far beyond the band, and all the time: a step that lands hard shakes a part of it,
    as does the impact of a robot that falls in its last weight shift, of which the rest is not known.
    """
    frequency = walk.chatter.frequency(*walk.chatter.last_shift())
    found = []
    if shift.foot_force > healthy.foot_force:
        found.append(f"{_of_weight(shift.foot_force)} on a foot (healthy {_of_weight(healthy.foot_force)})")
    if shift.zmp > healthy.zmp:
        found.append(f"{1e3 * shift.zmp:.2f} mm of the ZMP (healthy {1e3 * healthy.zmp:.2f} mm)")
    text = f"{' and '.join(found)} in the last weight shift"
    if noise is None or not _is_made_by(noise.chatter, shift, healthy):
        far = max(shift.foot_force / healthy.foot_force, shift.zmp / healthy.zmp) > _FAR_BEYOND
        lasting = walk.chatter.sustained(*walk.chatter.last_shift())
        if not far or lasting is None or lasting < healthy.foot_force:
            return None
        return f"the loop oscillates at {frequency:.0f} Hz: {text}; look at {gains_of_loop(walk.setup)}"
    alone = f"{_of_weight(noise.chatter.foot_force)} and {1e3 * noise.chatter.zmp:.2f} mm"
    return f"noise of the sensors shakes the robot: {text}; alone it makes {alone}, most of it by the {noise.source}"


def _is_made_by(noise: Chatter, shift: Chatter, healthy: HealthyChatter) -> bool:
    """Return whether what is left of force and ZMP without the noise, which adds in squares, is healthy."""
    pairs = ((getattr(shift, name), getattr(noise, name), getattr(healthy, name)) for name in ("foot_force", "zmp"))
    return all(found**2 - expected**2 <= bound**2 for found, expected, bound in pairs)


def gains_of_loop(setup: Setup) -> str:
    """Return the keys of the loop that oscillates first, in each control mode."""
    control, config = setup.walking.walking.control, setup.walking
    if control is ControlMode.TORQUE:
        return "state_estimator.velocity_time_constant"
    keys = ["zmp_com_controller.standing.zmp and walking.zmp"]
    if config.foot_admittance.height_gain or config.foot_admittance.tilt_gain:
        keys.append("foot_admittance")
    if control is ControlMode.POSITION:
        keys.append("servo_feedforward.velocity_time_constant")
    return ", ".join(keys)


def names_loop(cause: Cause) -> bool:
    """Return whether a cause is a setting of the loop that may oscillate."""
    return any(f"{table}." in cause.text for table in LOOP_TABLES)


def _of_weight(fraction: float) -> str:
    percent = 100.0 * fraction
    return f"{percent:.{1 if percent >= 1.0 else 2}f} % of the weight"


def _dcm_gain(config: WalkingConfig) -> float:
    """Return the gain of the instantaneous law, [-]; infinite where another law balances."""
    return config.dcm_controller.proportional_gain if config.walking.model == "dcm" else math.inf


def _speed_ahead(walk: SimulatedWalk) -> float:
    """Return the greatest speed of the rest of the plan, [m/s]; none without a plan."""
    plan = walk.controller.plan
    if plan is None or plan.end_time <= walk.time:
        return 0.0
    times = np.arange(walk.time, plan.end_time, _PLAN_SAMPLE)
    path = np.array([plan.at(time).com_position for time in times])
    return greatest_speed(times, path, moves(walk.recorder.log))
