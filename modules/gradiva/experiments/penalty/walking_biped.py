"""A biped walks five steps on penalty contacts (Rengifo et al., 2009, IV and V, figures 11 to 14)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from gradiva.common import NDArray, from_table
from gradiva.experiments.experiment import ExperimentRun, Row
from gradiva.experiments.penalty.biped_model import biped_urdf
from gradiva.experiments.penalty.traces_figure import Panel, Trace, traces_figure
from gradiva.experiments.penalty.vertex_record import VertexRecord, VertexRecorder
from gradiva.experiments.walk_result import WalkRequest, run_walk
from gradiva.planner import VelocityCommand
from gradiva.robot_model import Compiler, RobotDescription
from gradiva.setup import Setup, default_tables, read_toml, typed_setup

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
    """How one walk went.

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
    duration = _QUICK_DURATION if run.options.quick else _DURATION
    walks = {}
    for count, penetration in enumerate(PENETRATIONS):
        run.report(count, len(PENETRATIONS), f"ε = {penetration:g} m")
        walks[penetration] = walk_biped(biped_setup(run.folder.path, penetration), duration)
    for penetration, walk in walks.items():
        run.add_row(_row(penetration, walk, walks[PENETRATIONS[0]].false_impacts, run.options.quick))
    run.add_figure(_figure(walks), run.name)
    run.report(len(PENETRATIONS), len(PENETRATIONS), "drawn")


def biped_setup(folder: Path, penetration: float) -> Setup:
    """Return biped, controller and ground with a rest penetration [m]; the model is written into ``folder``."""
    model = folder / "biped.urdf"
    model.write_text(biped_urdf(), encoding="utf-8")
    own = read_toml(Path(__file__).with_name("biped.toml"))
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
