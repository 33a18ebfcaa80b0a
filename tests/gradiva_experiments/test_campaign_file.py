"""The file of a campaign and the trials that it asks for."""

import json
from pathlib import Path

import numpy as np
import pytest

from gradiva.common import ConfigError, PlanningError
from gradiva.setup import load_setup
from gradiva_experiments.campaign import campaign_file
from gradiva_experiments.campaign.campaign import with_files
from gradiva_experiments.campaign.campaign_file import Draw, read_campaign, walk_options
from tests.installed import EXAMPLES


@pytest.fixture
def campaign(tmp_path):
    def read(text):
        path = tmp_path / "pushed.toml"
        path.write_text(text)
        return read_campaign(path)

    return read


def test_grid_cases_and_seeds_are_multiplied_and_seeds_come_last(campaign):
    asked = campaign(
        """
        seeds = 2
        walk.plant = "robot"
        [[list]]
        robot = "icub_v3"
        [[list]]
        robot = "talos"
        [grid]
        speed = [0.1, 0.2]
        """
    )
    trials = list(asked.trials())
    assert asked.count == len(trials) == len({trial.key for trial in trials}) == 8
    assert asked.inputs == ["speed", "robot", "seed"]
    assert [trial.inputs["seed"] for trial in trials] == [0] * 4 + [1] * 4
    assert trials[-1].inputs == {"speed": 0.2, "robot": "talos", "seed": 1}


def test_a_trial_names_the_command_that_repeats_it(campaign):
    asked = campaign(
        """
        seeds = { count = 1, first = 7 }
        [walk]
        push = ["torso,{force},0,0,4,0.1", "torso,0,9,0,5,0.1"]
        duration = 5
        zmp_com_controller.walking.zmp = 1.2
        walking.model = "dcm"
        [grid]
        force = [40]
        """
    )
    assert next(asked.trials()).command == (
        "gradiva walk --seed 7 --set zmp_com_controller.walking.zmp=1.2 --set 'walking.model=\"dcm\"' "
        "--push torso,40,0,0,4,0.1 --push torso,0,9,0,5,0.1 --duration 5"
    )


def test_an_option_fills_a_text_too(campaign, tmp_path):
    for robot in ("talos", "g1"):
        (tmp_path / f"{robot}_low.toml").write_text("dcm_controller.proportional_gain = 1.2")
    asked = campaign(
        f"""
        walk.from = "{tmp_path}/{{robot}}_{{gains}}.toml"
        [grid]
        robot = ["talos", "g1"]
        gains = ["low"]
        """
    )
    names = [Path(trial.options["files"][0]).name for trial in asked.trials()]
    assert names == ["talos_low.toml", "g1_low.toml"]
    assert asked.inputs == ["robot", "gains", "seed"]


def test_draws_stay_when_there_are_more_of_them_and_when_another_input_is_drawn():
    few, many = (Draw(between=(1.0, 100.0), scale="log").values("force", 3, count) for count in (3, 50))
    assert many[:3] == few
    assert all(1.0 <= value <= 100.0 for value in many)
    assert np.median(np.log10(many)) == pytest.approx(1.0, abs=0.3)
    assert few != Draw(between=(1.0, 100.0), scale="log").values("mass", 3, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("grid.sped = [0.1]", "'sped' is no option of gradiva walk.*did you mean 'speed'"),
        ("walk.push = 'torso,{fx},0,0,4,0.1'", r"\{fx\}: the campaign has no 'fx' that fills it"),
        ("grid.speed = 0.1", "grid, speed: expected a list of values"),
        ("grip.speed = [0.1]", "unknown table or key 'grip'; did you mean 'grid'"),
        ("draws.speed = { between = [0.2, 0.1] }", "expected the least value first"),
        ("draws.speed = { normal = [0.2] }", "expected between"),
        ("seeds = 0", "seeds: count = 0: expected 1 or more"),
        ("seeds = -1", "seeds: count = -1 is negative: expected 1 or more"),
        ("seeds = { count = 1, first = -2 }", "first = -2 is negative: expected 0 or more"),
        ("list = []", "asks for no walk: its list is empty"),
        ("draws.count = -1", "draws: count = -1 is negative: expected 1 or more"),
        ("timeout = -1", "timeout = -1: expected more than 0 s"),
        ("timeout = 'long'", "timeout = 'long': expected more than 0 s"),
        ("draws.count = 'some'", "draws"),
        ("draws.speed = { betwen = [0.1, 0.2] }", "draws: speed.betwen .* is no distribution.*did you mean 'between'"),
        ("draws.speed = 0.2", "draws: speed = 0.2 is no distribution"),
        ("walk.speed = 'fast'", "speed = 'fast': expected a number"),
        ("walk.plant = 'robt'", "unknown --plant 'robt'; did you mean 'robot'"),
        ("grid.zmp_com_controller.walking.zmq = [1.0]", "unknown key 'zmq'"),
        ("grid.walking.control = ['position', 'torq']", "torq"),
    ],
)
def test_a_wrong_file_is_refused_before_the_first_walk(campaign, text, message):
    with pytest.raises(ConfigError, match=message):
        campaign(text).check()


def test_a_campaign_of_which_no_combination_has_a_plan_is_refused_before_the_first_walk(campaign):
    with pytest.raises(PlanningError, match=r"^pushed: no plan: forward speed 10\.0 m/s is outside its limits"):
        campaign("seeds = 3\ngrid.speed = [10.0]").check()


def test_what_no_plan_fulfils_is_known_before_the_first_walk_a_line_each_reason(campaign):
    asked = campaign(
        """
        seeds = 50
        walk.control = "position"
        [[list]]
        robot = "icub_v2_7"
        [[list]]
        robot = "g1"
        [grid]
        speed = [0.1, 0.45, 7.0]
        """
    )
    (line,) = asked.check()
    assert line.startswith("3 of 6 combinations will be refused, the first: no plan: forward speed 0.45 m/s")
    wrong = campaign("grid.zmp_com_controller.walking.com = [6.0, 9.0]\ngrid.walking.period = [0.01, -1.0]")
    with pytest.raises(ConfigError) as caught:
        wrong.check()
    assert [line.partition(": ")[0] for line in str(caught.value).splitlines()] == ["pushed"] * 2


def test_the_first_of_many_combinations_are_tried(campaign, monkeypatch):
    monkeypatch.setattr(campaign_file, "_CHECKED", 2)
    text = "walk.robot = 'icub_v2_7'\ngrid.speed = {}"
    (line,) = campaign(text.format("[7.0, 0.1, 0.2]")).check()
    assert line.startswith("1 of the first 2 combinations will be refused: no plan")
    (line,) = campaign(text.format("[7.0, 0.1]")).check()
    assert line.startswith("1 of 2 combinations will be refused: no plan")


def test_a_trial_is_another_one_when_a_file_behind_it_has_changed(campaign, tmp_path):
    overlay = tmp_path / "gains.toml"

    def key(gain, path=overlay):
        path.write_text(f"[zmp_com_controller.walking]\nzmp = {gain}\n")
        return next(campaign(f"walk.from = '{path}'").trials()).key

    assert key(1.0) != key(1.1)
    assert key(1.1) == key(1.1, tmp_path / "the_same.toml")


def test_a_host_without_the_files_of_a_trial_gets_their_texts(campaign, tmp_path):
    overlay, path = tmp_path / "gains.toml", tmp_path / "way.csv"
    overlay.write_text("[walking]\nperiod = 0.01\n")
    path.write_text("0, 0\n1, 0\n")
    argument = next(campaign(f"walk.from = '{overlay}'\nwalk.path = '{path}'").trials()).argument
    assert with_files(argument)["files"] == [str(overlay)]
    overlay.write_text("[walking]\nperiod = 0.02\n")
    path.unlink()
    options = with_files(json.loads(json.dumps(argument)))
    assert Path(options["files"][0]).read_text() == "[walking]\nperiod = 0.01\n"
    assert Path(options["path"]).read_text() == "0, 0\n1, 0\n"
    assert "texts" not in options


def test_a_file_that_is_no_text_is_refused_in_one_line_before_the_first_walk(campaign, tmp_path):
    path = tmp_path / "way.csv"
    path.write_bytes(b"0, 0\n\xff\n")
    with pytest.raises(ConfigError, match=r"cannot read .*way\.csv: 'utf-8' codec can't decode byte 0xff"):
        campaign(f"walk.path = '{path}'").check()


def test_tables_in_a_list_reach_the_walk(campaign):
    asked = campaign(
        """
        [walk]
        whole_body.external_joints = ["l_elbow"]
        [[walk.simulation.joint_motions]]
        joints = ["{moved}"]
        amplitude = 0.5
        frequency = 1.0
        [grid]
        moved = ["l_elbow"]
        """
    )
    asked.check()
    setup = load_setup("icub_v2_7", next(asked.trials()).options["settings"])
    (motion,) = setup.simulation.joint_motions
    assert (motion.joints, motion.amplitude, motion.frequency) == (("l_elbow",), 0.5, 1.0)


@pytest.mark.parametrize(
    "name",
    ["dcm_gain", "dcm_gain_g1", "dcm_gain_modes", "feet_without_sensors", "gains_that_matter", "shipped_robots"],
)
def test_the_first_walk_of_a_campaign_of_the_examples_is_configured(name):
    campaign = read_campaign(EXAMPLES / "campaigns" / f"{name}.toml")
    trial = next(campaign.trials())
    request = walk_options(trial.options).request()
    assert request.setup.robot.name == trial.options["robot"]
    assert request.seed == campaign.seeds[0]
