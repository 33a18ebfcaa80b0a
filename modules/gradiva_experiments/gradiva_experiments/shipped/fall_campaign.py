"""Makes robots fall of known causes, and counts how often the diagnosis names them.

A fall is of a cause where the same walk without it ends on both feet; a draw of which the robot falls anyway is none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gradiva.common import Side
from gradiva.planner import VelocityCommand
from gradiva.robot_model import RobotDescription
from gradiva.setup import Plant, load_setup
from gradiva.simulated_walk import CauseKind
from gradiva.simulation import FaultKind, GroundKind, slope_components
from gradiva_experiments.campaign.driver import Search
from gradiva_experiments.experiment import Asked, Experiment, ExperimentRun, Row
from gradiva_experiments.trial import Trial, TrialResult

SEED = 2711
"""Of the falls unless another is asked for; what the diagnosis goes by was developed with other seeds."""

ASKED = {Plant.IDEAL: 54 / 60, Plant.NOISY: 50 / 60, Plant.ROBOT: 50 / 60}
"""Fraction of the falls whose cause has to be named.

A fall is the first draw of which the robot falls while the same walk without the cause ends on both feet; draws before
it are thrown away, and counted in the column ``draws``.
"""

_ALL = "all"  # causes, of one plant
_ROBOTS = ("icub_v2_7", "icub_v3", "talos", "g1")
_COUNTS = {
    CauseKind.PUSH: 7,
    CauseKind.SLOPE: 4,
    CauseKind.SPEED: 5,
    CauseKind.FRICTION: 5,
    CauseKind.MASS: 4,
    CauseKind.SENSOR: 12,
    CauseKind.SOFT_GROUND: 4,
    CauseKind.MOTOR: 7,
    CauseKind.BUMP: 5,
    CauseKind.SETTING: 7,
}
_DECOYS = 0.5  # [-] of the walks have a harmless push, bump or setting beside the cause
_MOMENTS = 3.8, 6.0  # [s] in which what comes while the robot walks begins
_ATTEMPTS = 16  # draws of one fall, until the robot falls
_DURATION = 4.0  # [s] of walking
_EASY = {Plant.IDEAL: 0.3, Plant.NOISY: 0.3, Plant.ROBOT: 0.2}  # [m/s] up to which nothing but its cause lets it fall
_EASY_BY_TORQUE = 0.15  # [m/s] the same on the robot plant in torque control
_TOO_FAST = {Plant.IDEAL: (1.6, 2.2), Plant.NOISY: (1.6, 2.2), Plant.ROBOT: (1.1, 1.5)}  # [-] of a robot's top speed


@dataclass(frozen=True, slots=True)
class Disturbance:
    """A cause that makes a robot fall.

    Attributes:
        text: In words, with its numbers.
        overrides: ``table.key`` to value.
        control: The only control that it needs; None: any.
        speed: [m/s]; None: an easy one.
        words: The cause in the diagnosis has to contain them: a key, a joint.
    """

    text: str
    overrides: Mapping[str, Any] = field(default_factory=dict)
    control: str | None = None
    speed: float | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class Draw:
    """A walk that may well end in a fall.

    Attributes:
        trial: The walk.
        control: The same walk without the cause: where it ends in a fall as well, that has another cause.
        disturbance: Cause, and what is beside it.
    """

    trial: Trial
    control: Trial
    disturbance: Disturbance


@dataclass(frozen=True, slots=True)
class _Fall:
    """One fall of the campaign: its plant, its cause, and which of this cause it is."""

    plant: Plant
    cause: CauseKind
    number: int


def run_fall_causes(run: ExperimentRun) -> None:
    """Let robots fall; the value is 1 where the cause was named, in the last row of a plant the fraction of all."""
    counts = dict.fromkeys(_COUNTS, 1) if run.options.quick else _COUNTS
    kinds = [(cause, number) for cause, count in counts.items() for number in range(count)]
    falls = [_Fall(plant, *kind) for plant in run.options.plants for kind in kinds]
    seed = run.options.seed_or(SEED)
    for place, row in run.pool.searches([_search(fall, seed) for fall in falls]):
        if row is not None:
            run.add_row(row, place)
            run.report(len(run.rows), len(falls), f"{row['plant']} plant, {row['cause']}: {row['named']}")
    for number, plant in enumerate(run.options.plants):
        _add_count(run, plant, len(kinds), len(falls) + number)


def _search(fall: _Fall, seed: int) -> Search[Row | None]:
    """Draw until the robot falls and walks without the cause; return the row of the fall, None where none is drawn."""
    for attempt in range(_ATTEMPTS):
        drawn = draw(fall.cause, [seed, fall.number, attempt], fall.plant)
        result = yield from drawn.trial.done()
        if result.figures["outcome"] == "fell" and (yield from drawn.control.done()).stands:
            return _row(fall, drawn, result, attempt + 1)
    return None


def draw(cause: CauseKind, seed: list[int], plant: Plant) -> Draw:
    """Return a walk that may well end in a fall of this cause."""
    random = np.random.default_rng([*seed, list(CauseKind).index(cause)])
    name = str(random.choice(_ROBOTS))
    control = str(random.choice(("position", "velocity", "position", "velocity", "torque")))
    robot = load_setup(name).robot
    chosen = _speed(robot, random, plant) if cause is CauseKind.SPEED else _DISTURBANCES[cause](robot, random)
    control = chosen.control or control
    easy = _EASY_BY_TORQUE if plant is Plant.ROBOT and control == "torque" else _EASY[plant]
    speed = chosen.speed or float(random.uniform(0.1, easy))
    command = VelocityCommand(speed, duration=_DURATION)
    slower = replace(command, forward=easy) if cause is CauseKind.SPEED else command
    decoy = (
        _decoy(robot, random, "simulation.ground.kind" in chosen.overrides)
        if random.random() < _DECOYS
        else Disturbance("")
    )
    overrides = {"walking.control": control, **_merged(chosen.overrides, decoy.overrides)}
    trial = Trial(name, command, overrides, plant, int(random.integers(1000)), is_explained=True)
    without = {"walking.control": control, **decoy.overrides}
    text = ", beside ".join(filter(None, (chosen.text, decoy.text)))
    control_walk = replace(trial, command=slower, overrides=without, is_explained=False)
    return Draw(trial, control_walk, replace(chosen, text=text))


def _merged(overrides: Mapping[str, Any], decoy: Mapping[str, Any]) -> dict[str, Any]:
    """Return both; the cause's key counts where both have it, but of lists all entries."""
    lists = {key: [*overrides[key], *decoy[key]] for key in overrides.keys() & decoy.keys() if _is_list(decoy[key])}
    return {**decoy, **overrides, **lists}


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _row(fall: _Fall, drawn: Draw, result: TrialResult, draws: int) -> Row:
    trial, disturbance, diagnosis = drawn.trial, drawn.disturbance, result.figures["diagnosis"]
    is_named = diagnosis["cause"] == fall.cause and disturbance.words in diagnosis["text"]
    return {
        "plant": str(fall.plant),
        "cause": str(fall.cause),
        "disturbance": disturbance.text,
        "draws": draws,
        "robot": trial.robot,
        "control": trial.overrides["walking.control"],
        "speed_mps": trial.command.forward if isinstance(trial.command, VelocityCommand) else None,
        "named": diagnosis["cause"],
        "measured": diagnosis["measured_cause"],
        "text": diagnosis["text"],
        "first_sign": diagnosis["first_sign"],
        "paper": None,
        "value": float(is_named),
        "asked": Asked.AS_FOUND,
        "outcome": result.figures["outcome"],
        "reason": result.figures["reason"],
    }


def _add_count(run: ExperimentRun, plant: Plant, falls: int, place: int) -> None:
    """Add the row with the fraction of causes that were named; a fall that did not come counts as not named."""
    rows = [row for row in run.rows if row["plant"] == plant and row["cause"] != _ALL]
    named, measured = sum(row["value"] for row in rows), sum(row["measured"] == row["cause"] for row in rows)
    fraction = named / falls
    reason = (
        f"{named:.0f} of {falls} causes named, {len(rows)} falls; {ASKED[plant]:.0%} are asked; {measured} of them by"
        " the measurements alone"
    )
    outcome = "met" if fraction >= ASKED[plant] else "missed"
    row = {"plant": str(plant), "cause": _ALL, "paper": None, "value": fraction, "outcome": outcome, "reason": reason}
    run.add_row(row, place)


# -- what is done to the robots ----------------------------------------------------------------------------------


def _push(robot: RobotDescription, random: np.random.Generator) -> Disturbance:
    """A push on the torso in any direction, stronger than a robot withstands that does not step aside."""
    duration, start = round(random.uniform(0.05, 0.3), 2), round(random.uniform(*_MOMENTS), 2)
    size, heading = robot.mass * random.uniform(0.35, 0.65) / duration, random.uniform(-math.pi, math.pi)
    force = [float(size * math.cos(heading)), float(size * math.sin(heading)), 0.0]
    push = {"link": robot.torso_frame, "force": force, "start": start, "duration": duration}
    text = f"push of {size:.0f} N towards {math.degrees(heading):.0f}° for {duration} s at {start} s"
    return Disturbance(text, {"simulation.pushes": [push]})


def _decoy(robot: RobotDescription, random: np.random.Generator, is_soft: bool) -> Disturbance:
    """A push, a setting or, on a rigid floor, a bump of which no robot falls."""
    force = [float(0.2 * robot.mass * random.choice((-1.0, 1.0))), 0.0, 0.0]
    push = {"link": robot.torso_frame, "force": force, "start": round(random.uniform(*_MOMENTS), 2), "duration": 0.1}
    bump = {"x": float(random.uniform(-0.6, -0.4)), "y": 0.0, "height": 0.01}
    decoys = (
        Disturbance("a weak push", {"simulation.pushes": [push]}),
        Disturbance("a bump behind it", {} if is_soft else {"simulation.ground.bumps": [bump]}),
        Disturbance("friction 0.9", {"simulation.ground.friction": 0.9}),
        Disturbance("a higher step", {"planner.adapted_swing_height": 0.031}),
    )
    return decoys[random.integers(len(decoys))]


def _slope(robot: RobotDescription, random: np.random.Generator) -> Disturbance:
    """A slope that rises in any direction, steeper than the robot walks ahead."""
    limit = min(robot.max_slope_deg or (5.0, 5.0))
    steepness, uphill = math.radians(limit * random.uniform(1.2, 2.5)), random.uniform(-math.pi, math.pi)
    forward, left = slope_components(steepness, uphill)
    overrides = {"simulation.ground.slope_forward": forward, "simulation.ground.slope_left": left}
    return Disturbance(f"slope of {math.degrees(steepness):.1f}° towards {math.degrees(uphill):.0f}°", overrides)


def _speed(robot: RobotDescription, random: np.random.Generator, plant: Plant) -> Disturbance:
    speed = float(robot.max_speed * random.uniform(*_TOO_FAST[plant]))
    return Disturbance(f"{speed:.2f} m/s", {"planner.max_speed": speed + 0.01}, speed=speed)


def _friction(robot: RobotDescription, random: np.random.Generator) -> Disturbance:
    friction, speed = float(random.uniform(0.008, 0.035)), float(random.uniform(0.2, min(0.45, robot.max_speed)))
    overrides = {"simulation.ground.friction": friction, "simulation.model_errors.floor_friction": 0.0}
    return Disturbance(f"friction {friction:.3f}", overrides, speed=speed)


def _mass(robot: RobotDescription, random: np.random.Generator) -> Disturbance:
    scale = float(random.uniform(2.0, 3.0))
    return Disturbance(f"{scale:.2f} × the mass", {"simulation.plant.mass_scale": scale})


def _soft_ground(robot: RobotDescription, random: np.random.Generator) -> Disturbance:
    """Softer than position and velocity control tolerate, or torque control that takes it for rigid."""
    kind = {"simulation.ground.kind": GroundKind.VISCOELASTIC}
    control = str(random.choice(("position", "velocity", "torque")))
    if control == "torque":
        stiffness = float(10.0 ** random.uniform(5.5, 6.3))
        more: dict[str, Any] = {"torque_control.ground": "rigid"}
    else:
        stiffness, more = float(10.0 ** random.uniform(6.3, 7.4)), {}
    overrides = {**kind, "simulation.viscoelastic.stiffness": stiffness, **more}
    return Disturbance(f"stiffness {stiffness:.2g} N/m³", overrides, control)


def _sensor(robot: RobotDescription, random: np.random.Generator) -> Disturbance:
    """One of the ways in which sensors are wrong without falling silent."""
    return _SENSORS[random.integers(len(_SENSORS))](robot, random)


def _bias(robot: RobotDescription, random: np.random.Generator) -> Disturbance:
    force, torque = robot.mass * random.uniform(2.0, 6.0), robot.mass * random.uniform(0.3, 1.0)
    overrides = {
        "simulation.sensors.force_torque.force_bias": float(force),
        "simulation.sensors.force_torque.torque_bias": float(torque),
    }
    return Disturbance(f"wrench biases up to {force:.0f} N, {torque:.0f} N·m", overrides)


def _wrong_wrench(
    kind: FaultKind, value: float = 0.0, walks: bool = False
) -> Callable[[RobotDescription, np.random.Generator], Disturbance]:
    def of_foot(robot: RobotDescription, random: np.random.Generator) -> Disturbance:
        side, start = list(Side)[random.integers(2)], round(random.uniform(*_MOMENTS), 2) if walks else 0.0
        names = [robot.force_torque_sensors[row].name for row in robot.sensors_of(side)]
        faults = [{"kind": kind, "name": name, "start": start, "value": value} for name in names]
        return Disturbance(f"{kind} of the {side} foot from {start} s", {"simulation.faults": faults})

    return of_foot


def _tilted_imu(robot: RobotDescription, random: np.random.Generator) -> Disturbance:
    return _tilted_imu_from(0.0, random)


def _imu_tilts(robot: RobotDescription, random: np.random.Generator) -> Disturbance:
    return _tilted_imu_from(round(random.uniform(*_MOMENTS), 2), random)


def _tilted_imu_from(start: float, random: np.random.Generator) -> Disturbance:
    tilt = float(math.radians(random.uniform(4.0, 10.0)) * random.choice((-1.0, 1.0)))
    faults = [{"kind": FaultKind.TILTED_IMU, "start": start, "value": tilt}]
    return Disturbance(f"IMU tilted by {math.degrees(tilt):.1f}° from {start} s", {"simulation.faults": faults})


def _leg_joint(robot: RobotDescription, random: np.random.Generator) -> str:
    legs = [joint for side in Side for joint in robot.joint_groups[f"{side}_leg"].joints if "yaw" not in joint]
    return str(random.choice(legs))


def _encoder(robot: RobotDescription, random: np.random.Generator) -> Disturbance:
    joint = _leg_joint(robot, random)
    offset = float(math.radians(random.uniform(6.0, 18.0)) * random.choice((-1.0, 1.0)))
    faults = [{"kind": FaultKind.ENCODER_OFFSET, "name": joint, "start": 0.0, "value": offset}]
    return Disturbance(f"encoder of {joint} off by {math.degrees(offset):.1f}°", {"simulation.faults": faults})


def _encoders(robot: RobotDescription, random: np.random.Generator) -> Disturbance:
    offset = float(math.radians(random.uniform(3.0, 7.0)))
    text = f"encoders off by up to {math.degrees(offset):.1f}°"
    return Disturbance(text, {"simulation.sensors.encoders.encoder_offset": offset})


def _motor(robot: RobotDescription, random: np.random.Generator) -> Disturbance:
    """A motor of a leg that loses most of its torque, or joints that rub far more than known."""
    if random.random() < 0.25:
        scale = float(random.uniform(2.0, 6.0))
        return Disturbance(f"{scale:.1f} × the friction", {"simulation.friction.coulomb": scale}, words="friction")
    joint, start = _leg_joint(robot, random), round(random.uniform(*_MOMENTS), 2)
    left = float(random.uniform(0.0, 0.4))
    fault = {"kind": FaultKind.WEAK_MOTOR, "name": joint, "start": start, "value": left}
    return Disturbance(f"{joint} with {left:.0%} from {start} s", {"simulation.faults": [fault]}, words=joint)


def _bump(robot: RobotDescription, random: np.random.Generator) -> Disturbance:
    """A box of 10 mm and more, where the feet tread or swing."""
    height, x = float(random.uniform(0.01, 0.03)), float(random.uniform(0.1, 0.6))
    y = float(0.5 * robot.step_width * random.choice((-1.0, 1.0)) + random.uniform(-0.03, 0.03))
    bump = {"x": x, "y": y, "height": height}
    text = f"bump of {1e3 * height:.0f} mm at ({x:.2f}, {y:.2f}) m"
    return Disturbance(text, {"simulation.ground.bumps": [bump]})


def _setting(robot: RobotDescription, random: np.random.Generator) -> Disturbance:
    """A key of the controller far from its shipped value."""
    key, low, high = _SETTINGS[random.integers(len(_SETTINGS))]
    unit = robot.com_height if key.endswith("height") else 1.0
    value = float(random.uniform(low, high) * unit)
    return Disturbance(f"{key} = {value:.3g}", {key: value}, words=key)


_SETTINGS = (  # lowest and highest, heights in those of the CoM: the planner refuses larger ones
    ("planner.swing_height", 0.24, 0.48),
    ("planner.landing_height", -0.09, -0.04),
    ("dcm_controller.proportional_gain", 4.0, 12.0),
)
_SENSORS = (
    _bias,
    _wrong_wrench(FaultKind.REVERSED_WRENCH),
    _wrong_wrench(FaultKind.TURNED_WRENCH, math.pi),
    _tilted_imu,
    _encoder,
    _encoders,
    _wrong_wrench(FaultKind.DEAD_WRENCH, walks=True),
    _imu_tilts,
)
_DISTURBANCES: Mapping[CauseKind, Callable[[RobotDescription, np.random.Generator], Disturbance]] = {
    CauseKind.PUSH: _push,
    CauseKind.SLOPE: _slope,
    CauseKind.FRICTION: _friction,
    CauseKind.MASS: _mass,
    CauseKind.SENSOR: _sensor,
    CauseKind.SOFT_GROUND: _soft_ground,
    CauseKind.MOTOR: _motor,
    CauseKind.BUMP: _bump,
    CauseKind.SETTING: _setting,
}


EXPERIMENTS = (
    Experiment(
        "fall_causes",
        "Gradiva's own experiment",
        "Robots that fall of known causes: does the diagnosis name the cause?",
        run_fall_causes,
        "cause named [-]",
        plants=(Plant.IDEAL, Plant.ROBOT),
        own_robots=_ROBOTS,
        takes=("seed",),
    ),
)
