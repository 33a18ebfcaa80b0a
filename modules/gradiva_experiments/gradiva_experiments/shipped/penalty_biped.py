"""A biped that walks on penalty contacts, beside the paper (Rengifo et al., 2009)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from gradiva.common import NDArray, from_table
from gradiva.planner import VelocityCommand
from gradiva.robot_model import Compiler, RobotDescription
from gradiva.setup import Setup, default_tables, read_toml, typed_setup
from gradiva.simulated_walk import SimulatedWalk, WalkRequest, run_walk
from gradiva.simulation import PenaltyGround
from gradiva.walking import WalkingState
from gradiva_experiments.experiment import Experiment, ExperimentRun, Row
from gradiva_experiments.shipped.penalty_bodies import Panel, Trace, traces_figure

# -- the biped ---------------------------------------------------------------------------------------------------------

_EFFORT, _SPEED = 500.0, 20.0  # [N·m], [rad/s] wider than those of the description, which count
_MOTOR_MASS = 0.2  # [kg] between two axes of a hip or an ankle
_MOTOR_INERTIA = 2e-4  # [kg·m²]


def _numbers(vector: tuple[float, float, float]) -> str:
    return " ".join(str(value) for value in vector)


@dataclass(frozen=True, slots=True)
class Box:
    """A homogeneous box as the inertia of a link.

    Attributes:
        mass: [kg].
        size: [m].
        centre: In the frame of the link, [m].
    """

    mass: float
    size: tuple[float, float, float]
    centre: tuple[float, float, float]

    def inertial(self) -> str:
        """The URDF element."""
        x, y, z = (extent * extent * self.mass / 12.0 for extent in self.size)
        moments = f'ixx="{y + z}" iyy="{x + z}" izz="{x + y}" ixy="0" ixz="0" iyz="0"'
        place = f'<origin xyz="{_numbers(self.centre)}"/><mass value="{self.mass}"/>'
        return f"<inertial>{place}<inertia {moments}/></inertial>"


HIP_WIDTH = 0.20  # [m]
THIGH, SHIN, ANKLE = 0.40, 0.40, 0.08  # [m] lengths, and height of the ankle above the ground
_TRUNK = Box(25.0, (0.2, 0.3, 0.5), (0.0, 0.0, 0.25))
_THIGH = Box(5.0, (0.12, 0.12, THIGH), (0.0, 0.0, -0.5 * THIGH))
_SHIN = Box(2.7, (0.08, 0.08, SHIN), (0.0, 0.0, -0.5 * SHIN))
_FOOT = Box(1.0, (0.2, 0.1, 0.04), (0.03, 0.0, -ANKLE + 0.02))
_MOTOR = f"""<inertial><mass value="{_MOTOR_MASS}"/><inertia ixx="{_MOTOR_INERTIA}" iyy="{_MOTOR_INERTIA}"
 izz="{_MOTOR_INERTIA}" ixy="0" ixz="0" iyz="0"/></inertial>"""
# Name of the joint, axis, range [rad], where it sits below the one before, and the link that it moves.
_LEG = (
    ("hip_yaw", (0, 0, 1), (-0.8, 0.8), 0.0, _MOTOR),
    ("hip_roll", (1, 0, 0), (-0.6, 0.6), 0.0, _MOTOR),
    ("hip_pitch", (0, 1, 0), (-1.8, 1.0), 0.0, _THIGH.inertial()),
    ("knee", (0, 1, 0), (0.02, 2.2), -THIGH, _SHIN.inertial()),
    ("ankle_pitch", (0, 1, 0), (-1.2, 0.8), -SHIN, _MOTOR),
    ("ankle_roll", (1, 0, 0), (-0.6, 0.6), 0.0, _MOTOR),
    ("ankle_yaw", (0, 0, 1), (-0.8, 0.8), 0.0, _FOOT.inertial()),
)


def biped_urdf() -> str:
    """Return the model as URDF."""
    legs = "".join(_leg(side, sign) for side, sign in (("l", 1.0), ("r", -1.0)))
    return f'<robot name="biped"><link name="trunk">{_TRUNK.inertial()}</link>{legs}</robot>\n'


def _leg(side: str, sign: float) -> str:
    parent, parts = "trunk", []
    offset = (0.0, sign * 0.5 * HIP_WIDTH, 0.0)
    for joint, axis, limits, below, inertial in _LEG:
        link = f"{side}_{joint}_link"
        place = offset if parent == "trunk" else (0.0, 0.0, below)
        parts.append(f'<link name="{link}">{inertial}</link>')
        parts.append(_joint(f"{side}_{joint}", parent, link, place, axis, limits))
        parent = link
    parts.append(f'<link name="{side}_sole"/><joint name="{side}_sole_fixed" type="fixed"><parent link="{parent}"/>')
    parts.append(f'<child link="{side}_sole"/><origin xyz="0 0 {-ANKLE}"/></joint>')
    return "".join(parts)


def _joint(
    name: str,
    parent: str,
    child: str,
    place: tuple[float, float, float],
    axis: tuple[int, int, int],
    limits: tuple[float, float],
) -> str:
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{_numbers(place)}"/><axis xyz="{_numbers(axis)}"/>'
        f'<limit lower="{limits[0]}" upper="{limits[1]}" effort="{_EFFORT}" velocity="{_SPEED}"/></joint>'
    )


# -- corners of its soles ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class VertexRecord:
    """Left sole, then right one; corners front right, front left, rear left, rear right.

    Attributes:
        times: Of the samples, [s], shape (t,).
        heights: Above the ground, [m], shape (t, 2, 4).
        forces: Normal, [N], shape (t, 2, 4).
        standing: Whether the plan lets the foot stand, 0 or 1, shape (t, 2).
    """

    times: NDArray
    heights: NDArray
    forces: NDArray
    standing: NDArray

    @property
    def steps(self) -> int:
        """Return how often the plan lifted a foot."""
        return int((np.diff(self.standing, axis=0) < 0).sum())

    def landings(self) -> NDArray:
        """Return how high each corner had been before each of its landings, [m], shape (landings,)."""
        corners = self.heights.reshape(len(self.times), -1).T
        return np.array([peak for heights in corners for peak in _peaks_before_landing(heights)])


class VertexRecorder:
    """Observes a walk on penalty contacts: one sample a tick, while the robot walks."""

    def __init__(self) -> None:
        self._samples: list[tuple[float, NDArray, NDArray, tuple[bool, bool]]] = []

    def __call__(self, walk: SimulatedWalk) -> None:
        """Take the contact at the beginning of the last physics step."""
        ground, log = walk.robot.ground, walk.log
        assert isinstance(ground, PenaltyGround)
        assert log is not None
        if log.state is WalkingState.WALKING and log.reference is not None:
            standing = (log.reference.left_foot.in_contact, log.reference.right_foot.in_contact)
            self._samples.append((walk.time, ground.corner_heights, ground.corner_forces[:, :, 2], standing))

    def record(self) -> VertexRecord:
        """Return what was seen so far."""
        times, heights, forces, standing = zip(*self._samples, strict=True)
        return VertexRecord(np.array(times), np.array(heights), np.array(forces), np.array(standing, dtype=float))


def _peaks_before_landing(heights: NDArray) -> list[float]:
    peaks, highest = [], 0.0
    for height in heights.tolist():
        if height > 0.0:
            highest = max(highest, height)
        elif highest > 0.0:
            peaks.append(highest)
            highest = 0.0
    return peaks


# -- its walk ----------------------------------------------------------------------------------------------------------

PENETRATIONS = (0.0, 1e-4)  # [m] ε of the paper's figures 13 and 14
STEPS = 5
SPEED = 0.3  # [m/s]
_DURATION, _QUICK_DURATION = 3.0, 0.6  # [s] of the command: five steps, or two
FALSE_LIFT = 1e-3  # [m] a corner that lands had been higher, or never left the ground on purpose
_TOLERATED = 0.05  # [-] false impacts left by the penetration, of those without it
_CORNERS = ("front right", "front left", "rear left", "rear right")
_DIFFERENCES = "sizes, masses, gait and controller are ours, steps of 1 ms are fixed"


@dataclass(frozen=True, slots=True, eq=False)
class BipedWalk:
    """Outcome of one walk.

    Attributes:
        setup: Biped, controller and ground.
        result: In the shape of a walk's ``result.json``.
        record: Of the corners.
    """

    setup: Setup
    result: dict[str, Any]
    record: VertexRecord

    @property
    def false_impacts(self) -> int:
        """Landings of corners that had not been lifted."""
        return int((self.record.landings() < FALSE_LIFT).sum())


def run_penalty_biped(run: ExperimentRun) -> None:
    """Walk with each penetration; the value is the number of false impacts."""
    duration = run.options.either(_DURATION, _QUICK_DURATION)
    walks = {}
    for count, penetration in enumerate(PENETRATIONS):
        run.report(count, len(PENETRATIONS), f"ε = {penetration:g} m")
        walks[penetration] = walk_biped(biped_setup(run.folder.path, penetration), duration)
    for penetration, walk in walks.items():
        run.add_row(_row(penetration, walk, walks[PENETRATIONS[0]].false_impacts, run.options.quick))
    run.add_figure(_figure(walks), run.name)
    run.report(len(PENETRATIONS), len(PENETRATIONS), "figures are written")


def biped_setup(folder: Path, penetration: float) -> Setup:
    """Return biped, controller and ground with a rest penetration [m]; the model is written into ``folder``."""
    model = folder / "biped.urdf"
    model.write_text(biped_urdf(), encoding="utf-8")
    own = read_toml(Path(__file__).with_name("penalty_biped.toml"))
    description = from_table(RobotDescription, {**own["robot"], "model_file": str(model)}, "biped.toml [robot]")
    tables = default_tables(own["configuration"])
    groups = own["configuration"]["inverse_kinematics"]["posture_weights"]  # no others: the biped has legs alone
    tables["inverse_kinematics"]["posture_weights"] = groups
    tables["simulation"]["penalty"]["rest_penetration"] = penetration
    return typed_setup(description, tables)


def walk_biped(setup: Setup, duration: float, compiler: Compiler | None = None) -> BipedWalk:
    """Walk straight on for a command of ``duration`` [s]."""
    recorder = VertexRecorder()
    outcome = run_walk(WalkRequest(setup, VelocityCommand(SPEED, duration=duration)), compiler, (recorder,))
    return BipedWalk(setup, outcome.result, recorder.record())


def _row(penetration: float, walk: BipedWalk, without: int, quick: bool) -> Row:
    complaint = _complaint(penetration, walk, without, quick)
    gains = walk.setup.simulation.penalty
    return {
        "k_p": gains.stiffness,
        "k_v": gains.damping,
        "epsilon_m": penetration,
        "joints": len(walk.setup.robot.joints),
        "vertices": walk.record.heights[0].size,
        "steps": walk.record.steps,
        "distance_m": walk.result["distance_m"],
        "com_error_m": walk.result["com_error_m"]["max"],
        "largest_force_n": float(walk.record.forces.max()),
        "differs": _DIFFERENCES,
        "paper": "many" if penetration == 0.0 else "none",
        "value": walk.false_impacts,
        "outcome": "failed" if complaint else "walked",
        "reason": complaint or walk.result["reason"],
    }


def _complaint(penetration: float, walk: BipedWalk, without: int, quick: bool) -> str:
    if walk.result["outcome"] != "walked":
        return str(walk.result["reason"])
    if not quick and walk.record.steps != STEPS:
        return f"{walk.record.steps} steps instead of {STEPS}"
    if penetration > 0.0 and walk.false_impacts > _TOLERATED * without:
        return f"{walk.false_impacts} false impacts beside {without} without penetration"
    return ""


def _figure(walks: dict[float, BipedWalk]) -> Figure:
    """Heights of a corner of each foot; small heights and forces of the right foot, for each penetration."""
    last = walks[PENETRATIONS[-1]]
    panels = [Panel("height of a corner of each foot [m]", _of_feet(last.record))]
    for penetration, walk in walks.items():
        name, times = f"right foot, ε = {penetration:g} m", walk.record.times
        small = _of_corners(times, 1e3 * walk.record.heights[:, 1])
        panels.append(Panel(f"height [mm], {name}", small, (-0.3, 0.2)))
        panels.append(Panel(f"normal force of a corner [N], {name}", _of_corners(times, walk.record.forces[:, 1])))
    gains, joints = last.setup.simulation.penalty, len(last.setup.robot.joints)
    title = f"A biped with {joints} joints on penalty contacts, $k_p$ = {gains.stiffness:g}, $k_v$ = {gains.damping:g}"
    return traces_figure(title, panels)


def _of_feet(record: VertexRecord) -> list[Trace]:
    left, right = record.heights[:, 0, 1], record.heights[:, 1, 0]
    return [Trace("left foot", record.times, left), Trace("right foot", record.times, right)]


def _of_corners(times: NDArray, values: NDArray) -> list[Trace]:
    return [Trace(name, times, values[:, corner]) for corner, name in enumerate(_CORNERS)]


EXPERIMENTS = (
    Experiment(
        "penalty_biped",
        "Rengifo et al., A penalty-based approach for contact forces computation in bipedal robots, figures 11 to 14",
        "A biped with 14 joints walks five steps on penalty contacts: how often do they break?",
        run_penalty_biped,
        "false impacts",
        own_robots=(),
    ),
)
