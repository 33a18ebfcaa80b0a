"""The experiments that can be asked for by name."""

from __future__ import annotations

from gradiva.common import ConfigError, nearest_name
from gradiva.experiments.application_walk import run_application_walk
from gradiva.experiments.directions import run_directions
from gradiva.experiments.experiment import Experiment
from gradiva.experiments.fall_campaign import run_fall_causes
from gradiva.experiments.fault_drill import run_fault_drill
from gradiva.experiments.linear_contact_error import run_figure_8_3
from gradiva.experiments.penalty import run_penalty_ball, run_penalty_biped, run_penalty_ramp
from gradiva.experiments.robustness import run_robustness
from gradiva.experiments.soft_ground import (
    run_figure_8_6,
    run_figure_8_7,
    run_figure_8_8,
    run_figure_8_9,
    run_figure_8_10,
    run_soft_limits,
    run_table_8_1,
)
from gradiva.experiments.table_7_1 import run_table_7_1
from gradiva.experiments.table_7_2 import run_table_7_2
from gradiva.experiments.table_10_1 import run_table_10_1
from gradiva.experiments.tick_fuzz import run_tick_fuzz
from gradiva.experiments.tracking import run_figure_10_9, run_figure_10_10
from gradiva.experiments.yarp_streams import run_yarp_streams

_THESIS = "Romualdi, thesis, chapter 10"
_TORQUE = "Romualdi, thesis, chapter 7"
_SOFT = "Romualdi, thesis, chapter 8"
_PENALTY = "Rengifo et al., A penalty-based approach for contact forces computation in bipedal robots"

EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "table_10_1",
            f"{_THESIS}, table 10.1",
            "The highest straight speed of {predictive, instantaneous} × {velocity, position} control.",
            run_table_10_1,
            "highest speed [m/s]",
        ),
        Experiment(
            "table_7_1",
            f"{_TORQUE}, table 7.1",
            "The highest straight speed of torque control, instantaneous and predictive.",
            run_table_7_1,
            "highest speed [m/s]",
        ),
        Experiment(
            "table_7_2",
            f"{_TORQUE}, table 7.2",
            "The specific energetic cost of position and torque control at 0.212 m/s.",
            run_table_7_2,
            "cost [J/kg/m]",
        ),
        Experiment(
            "figure_10_9",
            f"{_THESIS}, figure 10.9",
            "DCM, CoM and ZMP tracking of the instantaneous law at 0.19 m/s, position control.",
            run_figure_10_9,
            "largest error [m]",
        ),
        Experiment(
            "figure_10_10",
            f"{_THESIS}, figure 10.10",
            "DCM, CoM and ZMP tracking of the predictive law at 0.19 m/s, position control.",
            run_figure_10_10,
            "largest error [m]",
        ),
        Experiment(
            "figure_8_3",
            f"{_SOFT}, figure 8.3",
            "What rotational springs miss of a sole that turns on soft ground.",
            run_figure_8_3,
            "error of the moment [N·m]",
        ),
        Experiment(
            "table_8_1",
            f"{_SOFT}, table 8.1",
            "Torque control for soft and for rigid ground on six soft grounds.",
            run_table_8_1,
            "largest CoM error [m]",
        ),
        Experiment(
            "figure_8_6",
            f"{_SOFT}, figure 8.6",
            "Both kinds of torque control side by side: k = 2e6 N/m³, b = 1e4 N·s/m³.",
            run_figure_8_6,
            "largest CoM error [m]",
        ),
        Experiment(
            "figure_8_7",
            f"{_SOFT}, figure 8.7",
            "The same with less damping: k = 2e6 N/m³, b = 1e3 N·s/m³.",
            run_figure_8_7,
            "largest CoM error [m]",
        ),
        Experiment(
            "figure_8_8",
            f"{_SOFT}, figure 8.8",
            "The same on softer ground: k = 1e6 N/m³, b = 1e4 N·s/m³.",
            run_figure_8_8,
            "largest CoM error [m]",
        ),
        Experiment(
            "figure_8_9",
            f"{_SOFT}, figure 8.9",
            "Noise on the wrenches of soft ground, drawn every 10 µs and every millisecond, with and without a filter.",
            run_figure_8_9,
            "largest CoM error [m]",
        ),
        Experiment(
            "figure_8_10",
            f"{_SOFT}, figure 8.10",
            "Stiffness and damping of the ground, learned while they change from place to place.",
            run_figure_8_10,
            "time until known [s]",
        ),
        Experiment(
            "soft_limits",
            "Gradiva's own campaign",
            "The softest, the least damped and the least known ground on which torque control still walks.",
            run_soft_limits,
            "largest CoM error [m]",
        ),
        Experiment(
            "robustness",
            "Gradiva's own campaign",
            "Walks under noise, delay, encoder offsets, a heavier robot and slopes.",
            run_robustness,
            "largest DCM error [m]",
        ),
        Experiment(
            "fall_causes",
            "Gradiva's own campaign",
            "Robots that fall of known causes: does the diagnosis name the cause?",
            run_fall_causes,
            "cause named [-]",
        ),
        Experiment(
            "directions",
            "Gradiva's own campaign",
            "A goal, a curve, backward, sideways and on the spot: does the robot end where it should?",
            run_directions,
            "distance from its place [m]",
        ),
        Experiment(
            "penalty_ball",
            f"{_PENALTY}, figures 4 and 5",
            "A ball falls on a penalty contact: impact, penetration, rest.",
            run_penalty_ball,
        ),
        Experiment(
            "penalty_ramp",
            f"{_PENALTY}, section II.B",
            "A brick slides down a ramp, or sticks.",
            run_penalty_ramp,
        ),
        Experiment(
            "penalty_biped",
            f"{_PENALTY}, figures 11 to 14",
            "A biped with 14 joints walks five steps on penalty contacts: how often do they break?",
            run_penalty_biped,
            "false impacts",
        ),
        Experiment(
            "yarp_streams",
            "YARP 3.12.3's Python bindings",
            "Round trips, strict streams and 500 Hz streams between two processes, on each carrier.",
            run_yarp_streams,
        ),
        Experiment(
            "application_walk",
            "Gradiva's own campaign",
            "The application of five processes beside one process: CoM errors, in lockstep and free running.",
            run_application_walk,
            "rms CoM error, of that in one process [-]",
        ),
        Experiment(
            "fault_drill",
            "Gradiva's own campaign",
            "Modules killed, stalls, failing sensors in the middle of a step: does the robot stand and walk again?",
            run_fault_drill,
            "tilt afterwards [°]",
        ),
        Experiment(
            "tick_fuzz",
            "Gradiva's own campaign",
            "10 000 seeded faults within the tick: errors, readings, clocks. Events, and commands that can be sent?",
            run_tick_fuzz,
            "cases that are not as they should be",
        ),
    )
}


def find_experiment(name: str) -> Experiment:
    """Return an experiment.

    Raises:
        ConfigError: There is none of this name.
    """
    if name not in EXPERIMENTS:
        raise ConfigError(f"unknown experiment '{name}'{nearest_name(name, EXPERIMENTS)}")
    return EXPERIMENTS[name]
