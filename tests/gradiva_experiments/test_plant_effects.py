"""The effects of the robot plant: each key in one of them, each walked alone, gains scaled with their damping ratio."""

from fnmatch import fnmatchcase

import numpy as np
import pytest

from gradiva.common import ControlMode
from gradiva.setup import Plant, load_setup, preset_tables
from gradiva_experiments import ExperimentOptions, TrialResult, find_experiment
from gradiva_experiments.shipped.plant_effects import (
    ALL,
    EFFECTS,
    NONE,
    effect_of,
    effects_of,
    gain_factor,
    keys_of,
    scaled_gains,
    switches_of,
)
from tests.conftest import ROBOTS
from tests.gradiva_experiments.fake_pool import ImmediatePool


@pytest.mark.parametrize("robot", ROBOTS)
def test_every_key_of_the_preset_belongs_to_exactly_one_effect(robot):
    keys = dict(keys_of(preset_tables(robot, Plant.ROBOT)))
    effects = effects_of(robot)
    assert sorted(key for effect in effects.values() for key in effect) == sorted(keys)
    for key in keys:
        named = [name for name, patterns in EFFECTS.items() if any(fnmatchcase(key, each) for each in patterns)]
        assert len(named) <= 1, f"{key} belongs to {named}"
        assert key in effects[effect_of(key)]
    assert len(switches_of(robot, ControlMode.TORQUE)) == 2 + 2 * len(effects)


def test_every_pattern_finds_a_key_of_some_robot():
    keys = {key for robot in ROBOTS for key, _ in keys_of(preset_tables(robot, Plant.ROBOT))}
    patterns = [pattern for patterns in EFFECTS.values() for pattern in patterns]
    assert [pattern for pattern in patterns if not any(fnmatchcase(key, pattern) for key in keys)] == []


@pytest.mark.parametrize("robot", ROBOTS)
def test_all_effects_together_are_the_robot_plant(robot):
    together = {key: value for effect in effects_of(robot).values() for key, value in effect.items()}
    assert load_setup(robot, together).simulation == load_setup(robot, plant=Plant.ROBOT).simulation


def test_without_an_effect_its_keys_are_those_of_the_ideal_plant():
    keys = switches_of("icub_v2_7", ControlMode.POSITION)["all but floor"]
    assert keys.keys() == effects_of("icub_v2_7")["floor"].keys()
    without = load_setup("icub_v2_7", keys, plant=Plant.ROBOT).simulation
    assert without.ground == load_setup("icub_v2_7").simulation.ground
    assert without.sensors == load_setup("icub_v2_7", plant=Plant.ROBOT).simulation.sensors


def test_each_effect_changes_the_ideal_plant_alone():
    ideal = load_setup("icub_v2_7").simulation
    changed = {name: load_setup("icub_v2_7", keys).simulation for name, keys in effects_of("icub_v2_7").items()}
    assert all(simulation != ideal for simulation in changed.values())
    assert changed["floor"].sensors == ideal.sensors
    assert changed["encoders"].ground == ideal.ground


def test_keys_that_no_effect_names_are_an_effect_of_their_table():
    assert effect_of("simulation.elasticity.hip_link") == "elasticity"


def test_gains_are_scaled_with_their_damping_ratio():
    assert [gain_factor(step) for step in (1, 5, 7)] == [0.25, 1.0, 2.0]
    swing = load_setup("icub_v2_7").tables["torque_control"]["swing_foot"]
    torque = scaled_gains("icub_v2_7", ControlMode.TORQUE, 4.0, {})
    assert torque["torque_control.swing_foot.linear_stiffness"] == 4.0 * swing["linear_stiffness"]
    assert torque["torque_control.swing_foot.linear_damping"] == 2.0 * swing["linear_damping"]
    assert torque["torque_control.com.stiffness"] == 200.0


@pytest.mark.parametrize("control", [ControlMode.POSITION, ControlMode.VELOCITY])
def test_both_gains_of_the_zmp_com_law_are_scaled_alike(control):
    shipped = load_setup("icub_v3").walking.zmp_com_controller.walking
    scaled = load_setup("icub_v3", scaled_gains("icub_v3", control, 4.0, {})).walking.zmp_com_controller.walking
    assert (scaled.zmp, scaled.com) == (4.0 * shipped.zmp, 4.0 * shipped.com)


SHIPPED_GAIN = load_setup("icub_v2_7").walking.zmp_com_controller.walking.zmp


class SlowerPool(ImmediatePool):
    """Walks up to 0.5 m/s, on the robot plant up to 0.3 m/s, with at most twice the gains."""

    def run(self, trial):
        gain = trial.overrides.get("zmp_com_controller.walking.zmp", SHIPPED_GAIN) / SHIPPED_GAIN
        walks = trial.command.forward <= (0.3 if trial.plant is Plant.ROBOT else 0.5) + 1e-9 and gain < 2.1
        figures = {
            "outcome": "walked" if walks else "fell",
            "reason": "done" if walks else "too much",
            "peak_speed_mps": trial.command.forward,
            "max_tilt_rad": np.radians(2.0),
            **{f"{name}_error_m": {"rms": 0.001, "max": 0.01} for name in ("com", "dcm", "zmp", "foot")},
        }
        return TrialResult(figures, None)


def test_each_effect_is_walked_alone_and_all_together(tmp_path):
    experiment, pool = find_experiment("plant"), SlowerPool()
    options = ExperimentOptions(robots=("icub_v2_7",), controls=(ControlMode.POSITION,), seeds=3)
    run = experiment.start(options, tmp_path, pool, lambda done, total, text: None)
    experiment.run(run)
    rows = {row["effect"]: row for row in run.rows}
    effects = effects_of("icub_v2_7")
    assert list(rows) == [NONE, *effects, ALL, *(f"all but {name}" for name in effects)]
    assert (rows["all but IMU"]["success"], rows["all but IMU"]["value"]) == (1.0, None)
    assert (rows[NONE]["seeds"], rows["floor"]["seeds"], rows[ALL]["success"]) == (1, 3, 1.0)
    assert (rows["floor"]["value"], rows[ALL]["value"]) == (0.5, 0.3)
    assert {rows[name]["gain_factor"] for name in (NONE, *effects, ALL)} == {2.0}
    assert rows["IMU"]["dcm_mm"] == pytest.approx(10.0)
    assert rows["IMU"]["tilt_deg"] == pytest.approx(2.0)
    assert {path.rpartition("/")[2] for path in run.figures} == {
        f"plant_icub_v2_7_position.{kind}" for kind in ("png", "svg")
    }
    floor = [trial for trial in pool.trials if effects_of("icub_v2_7")["floor"].items() <= trial.overrides.items()]
    assert {trial.plant for trial in floor} == {Plant.IDEAL}
