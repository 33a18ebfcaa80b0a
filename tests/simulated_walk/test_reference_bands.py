"""Usual figures: which known walks a walk is set beside, and from where on a figure is unusual."""

import json
import shutil

import pytest

from gradiva.planner import GoalCommand, VelocityCommand
from gradiva.setup import Plant, data_folder, load_setup
from gradiva.simulated_walk import ReferenceBand
from gradiva.simulated_walk.reference_bands import usual_figures

AHEAD = VelocityCommand(0.2, duration=10.0)
BAND = ReferenceBand("mine", "robot", "position", 0.15, 0.25, 4, {"dcm_error_m.rms": (0.006, 0.007, 0.008)})


@pytest.fixture
def folder(tmp_path):
    """A robot 'mine' that is TALOS, with bands of its own."""
    folder = tmp_path / "mine"
    shutil.copytree(data_folder("robots") / "talos", folder)
    file = folder / "robot.toml"
    file.write_text(file.read_text().replace('name = "talos"', 'name = "mine"'))
    rows = [BAND.as_table() | {"outcome": "met"}, BAND.as_table() | {"walks": 1, "outcome": "missed"}]
    (folder / "reference_bands.json").write_text(json.dumps({"date": "2026-01-02", "rows": rows}))
    return folder


def usual(folder, command=AHEAD, plant=Plant.ROBOT, **overrides):
    return usual_figures(load_setup(str(folder), overrides, plant=plant), command)


def test_a_walk_like_the_known_ones_has_their_range_and_is_unusual_beyond_it(folder):
    found = usual(folder, VelocityCommand(0.25), **{"planner.swing_height": 0.031})
    assert found["of"] == "4 good walks as shipped, robot plant, position control, 0.15 to 0.25 m/s"
    assert found["figures"] == {"dcm_error_m.rms": {"least": 0.006, "most": 0.008, "unusual": 0.010}}


def test_half_the_spread_or_a_quarter_is_still_usual():
    figures = {"a": (1.0, 2.0, 3.0), "b": (8.0, 8.0, 8.0), "c": (0, 0, 0)}
    band = ReferenceBand("mine", "robot", "position", 0.1, 0.2, 3, figures)
    assert [one["unusual"] for one in band.usual()["figures"].values()] == [4.0, 10.0, 0.0]


@pytest.mark.parametrize(
    ("command", "overrides"),
    [
        (VelocityCommand(0.26), {}),
        (VelocityCommand(0.2, angular=0.1), {}),
        (VelocityCommand(0.2, lateral=0.1), {}),
        (GoalCommand(1.0, 0.0), {}),
        (AHEAD, {"walking.control": "torque"}),
        (AHEAD, {"plant": Plant.IDEAL}),
        (AHEAD, {"simulation.ground.kind": "viscoelastic"}),
        (AHEAD, {"simulation.ground.slope_forward": 0.05}),
    ],
)
def test_another_walk_has_no_usual_figures(folder, command, overrides):
    assert usual(folder, command, **overrides) is None


def test_a_file_that_cannot_be_read_is_named_and_loses_no_walk(folder):
    (folder / "reference_bands.json").write_text('{"date": ')
    found = usual(folder)
    assert found["figures"] == {}
    assert f"{folder / 'reference_bands.json'}: Expecting value" in found["of"]
