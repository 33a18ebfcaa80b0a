"""How the height of the swing foot changes the energy that a walk costs."""

from gradiva.planner import VelocityCommand
from gradiva_experiments import Experiment, ExperimentRun, Trial

HEIGHTS = (0.02, 0.03, 0.04)  # [m]
SPEED = 0.15  # [m/s]


def run(run: ExperimentRun) -> None:
    """Walk with each height, side by side; the value is the specific energetic cost, [J/kg/m]."""
    heights, duration = (HEIGHTS[:2], 2.0) if run.options.quick else (HEIGHTS, 10.0)
    command = VelocityCommand(SPEED, duration=duration)
    trials = [Trial(run.options.robot, command, {"planner.swing_height": height}) for height in heights]
    for place, result in run.pool.results(trials):
        row = {
            "swing_height_m": heights[place],
            "distance_m": result.figures.get("distance_m"),
            "paper": None,
            "value": result.figures.get("specific_energetic_cost"),
            "outcome": result.figures["outcome"],
            "reason": result.figures["reason"],
        }
        run.add_row(row, place)
        run.report(len(run.rows), len(trials), f"{heights[place]} m: {row['outcome']}")


EXPERIMENT = Experiment("swing_cost", "our own", "The energy that a higher swing foot costs.", run, "cost [J/kg/m]")
