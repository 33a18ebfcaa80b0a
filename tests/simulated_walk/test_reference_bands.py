"""Usual figures: which known walks a walk is set beside, and from where on a figure is unusual."""

import json
import shutil
import tomllib
from pathlib import Path

import pytest

from gradiva.planner import GoalCommand, VelocityCommand
from gradiva.setup import Plant, data_folder, installed_robot_names, load_setup
from gradiva.simulated_walk import BAND_FIGURES, ReferenceBand
from gradiva.simulated_walk.reference_bands import healthy_errors, usual_figures
from gradiva.simulated_walk.walk_result import healthy_bounds

ROOT = Path(__file__).parents[2]
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
    found = usual(folder, VelocityCommand(0.25, duration=8.0), **{"planner.swing_height": 0.031})
    assert found["of"] == "4 good walks as shipped, without pushes, robot plant, position control, 0.15 to 0.25 m/s"
    assert found["figures"] == {"dcm_error_m.rms": {"least": 0.006, "most": 0.008, "unusual": pytest.approx(0.009)}}


def test_of_two_bands_that_of_which_the_speed_is_nearest_to_the_middle_counts_and_of_like_ones_the_youngest(folder):
    fast = {"slowest": 0.2, "fastest": 0.3, "figures": {"dcm_error_m.rms": (0.008, 0.008, 0.009)}}
    for name, date, more in (
        ("", "2026-01-02", {}),
        ("-a", "2026-01-03", fast),
        ("-b", "2026-01-04", fast | {"walks": 9}),
    ):
        content = {"date": date, "rows": [BAND.as_table() | more | {"outcome": "met"}]}
        (folder / f"reference_bands{name}.json").write_text(json.dumps(content))
    found = [usual(folder, VelocityCommand(speed, duration=10.0))["of"] for speed in (0.2, 0.24)]
    others = usual(folder, VelocityCommand(0.1, duration=10.0))["of"]
    assert others.endswith(", are of 0.15 to 0.3 m/s, this one is of 0.1 m/s")
    assert [(of[0], of.rpartition(", ")[2]) for of in found] == [("4", "0.15 to 0.25 m/s"), ("9", "0.2 to 0.3 m/s")]


def test_half_the_spread_and_a_tenth_of_an_rms_or_half_of_another_figure_are_still_usual():
    of_others = {"a": (1.0, 2.0, 3.0), "b": (1.0, 1.0, 2.5), "c": (0, 0, 0)}
    of_rms = {"d.rms": (8.0, 8.0, 10.0), "e.rms": (9.0, 9.0, 9.0)}
    band = ReferenceBand("mine", "robot", "position", 0.1, 0.2, 3, {**of_others, **of_rms})
    found = [one["unusual"] for one in band.usual()["figures"].values()]
    assert found == pytest.approx([4.5, 3.75, 0.0, 11.0, 9.9])


@pytest.mark.parametrize(
    ("command", "overrides", "why"),
    [
        (
            VelocityCommand(0.26, duration=10.0),
            {},
            "of mine, robot plant, position control, are of 0.15 to 0.25 m/s, this one is of 0.26 m/s",
        ),
        (AHEAD, {"walking.control": "torque"}, "no walks of mine, robot plant, torque control, are on record"),
        (AHEAD, {"plant": Plant.IDEAL}, "no walks of mine, ideal plant, position control, are on record"),
        (VelocityCommand(0.2, angular=0.1, duration=10.0), {}, "elsewhere"),
        (VelocityCommand(0.2, lateral=0.1, duration=10.0), {}, "elsewhere"),
        (GoalCommand(1.0, 0.0), {}, "elsewhere"),
        (VelocityCommand(0.2, duration=4.0), {}, "this one lasts 4 s"),
        (VelocityCommand(0.2, duration=20.0), {}, "this one lasts 20 s"),
        (AHEAD, {"simulation.ground.kind": "viscoelastic"}, "other ground"),
        (AHEAD, {"simulation.ground.slope_forward": 0.05}, "other ground"),
    ],
)
def test_another_walk_has_no_usual_figures_and_says_why(folder, command, overrides, why):
    found = usual(folder, command, **overrides)
    assert found["figures"] == {}
    assert found["of"].startswith("nothing to compare with: ")
    assert why in found["of"]


def test_a_walk_with_tasks_of_its_own_has_no_usual_figures(folder):
    found = usual_figures(load_setup(str(folder), plant=Plant.ROBOT), AHEAD, has_own_tasks=True)
    assert (found["figures"], "tasks of its own" in found["of"]) == ({}, True)


def healthy(folder, plant=Plant.ROBOT):
    return healthy_errors(load_setup(str(folder), plant=plant))


def test_an_error_is_healthy_up_to_the_greatest_of_the_known_good_walks_at_least_to_the_bound_of_the_diagnosis(
    folder,
):
    assert healthy(folder)["com_error_m.max"] == 0.04
    row = BAND.as_table() | {"outcome": "met", "figures": {"com_error_m.max": (0.01, 0.02, 0.05)}}
    (folder / "reference_bands.json").write_text(json.dumps({"date": "2026-01-02", "rows": [row]}))
    assert healthy(folder)["com_error_m.max"] == 0.05
    assert healthy(folder, Plant.NOISY)["com_error_m.max"] == 0.04
    (folder / "reference_bands.json").write_text("{")
    assert healthy(folder).keys() == {f"{name}_error_m.max" for name in ("dcm", "zmp", "com", "foot")}


def test_a_file_that_cannot_be_read_is_named_and_loses_no_walk(folder):
    (folder / "reference_bands.json").write_text('{"date": ')
    found = usual(folder)
    assert found["figures"] == {}
    assert f"{folder / 'reference_bands.json'}: Expecting value" in found["of"]


@pytest.mark.parametrize("figures", [[1], {"dcm_error_m.rms": [0.006, 0.007]}, None])
def test_malformed_figures_lose_no_walk(folder, figures):
    row = BAND.as_table() | {"outcome": "met", "figures": figures}
    (folder / "reference_bands.json").write_text(json.dumps({"date": "2026-01-02", "rows": [row]}))
    found = usual(folder)
    assert found["figures"] == {}
    assert "cannot be read" in found["of"]


FILES = sorted((ROOT / "results").glob("reference_bands*.json"))
KNOWN = [row for file in FILES for row in json.loads(file.read_text())["rows"]]


def test_the_wheel_has_all_published_bands():
    targets = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    included = {name for name in targets["force-include"] if name.startswith("results/")}
    assert included == {f"results/{file.name}" for file in FILES}
    assert FILES


@pytest.mark.parametrize("row", KNOWN, ids=lambda row: f"{row['robot']}-{row['plant']}-{row['control']}")
def test_a_published_band_is_what_a_walk_of_the_shipped_robot_is_set_beside(row):
    if row["robot"] not in installed_robot_names():
        pytest.skip(f"the model of {row['robot']} is not installed")
    speed = 0.5 * (row["slowest"] + row["fastest"])
    found = usual(
        row["robot"], VelocityCommand(speed, duration=10.0), Plant(row["plant"]), **{"walking.control": row["control"]}
    )
    assert found["figures"].keys() == row["figures"].keys() <= {figure.key for figure in BAND_FIGURES}
    for key in ("dcm_error_m.rms", "zmp_error_m.max", "chatter.shift.zmp_m", "foot_slip_m", "odometry_drift_m"):
        band = found["figures"][key]
        assert 0.0 < band["least"] <= band["most"] < band["unusual"], key
    assert found["figures"]["dcm_error_m.rms"]["most"] < 0.03


@pytest.mark.parametrize(("contact_time", "bounded"), [(2.0, False), (20.0, False), (28.0, True)])
def test_figures_of_a_walk_bound_balance_on_soft_floors_alone(contact_time, bounded):
    bounds = healthy_bounds(load_setup("g1", {"simulation.ground.contact_time": contact_time}))
    assert ("stability_margins.balance_peak" in bounds) == bounded
    assert bounds["stability_margins.margins.peak"] == 2.0
    landings = ("early_landing_s.median", "bounces_per_landing", "landing_force_weights")
    assert [bounds[name] for name in landings] == [0.08, 2.5, 2.5]


def test_landings_on_soft_ground_are_not_bounded():
    soft = load_setup("icub_v2_7", {"walking.control": "torque", "simulation.ground.kind": "viscoelastic"})
    assert not {"early_landing_s.median", "landing_force_weights"} & healthy_bounds(soft).keys()
