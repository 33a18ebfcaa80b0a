"""A robot outside the repository: found by path in every command that takes a robot."""

import json
import shutil
import tomllib
from pathlib import Path

import pytest

from gradiva.cli.main import run
from gradiva.common import ConfigError, ModelError
from gradiva.setup import load_robot, load_setup, robot_of

PREPARED_SOON = "--set", "walking.prepare_duration=0.5"
EXAMPLE = Path(__file__).parents[2] / "examples" / "own_robot"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A copy of the example in a working directory that has nothing to do with the repository."""
    copy = tmp_path / "elsewhere" / "box_biped"
    shutil.copytree(EXAMPLE, copy)
    monkeypatch.chdir(tmp_path)
    return copy


def changed(folder, old, new):
    file = folder / "robot.toml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_the_example_walks_some_steps_and_its_run_finds_it_again(folder, tmp_path, capsys):
    assert (
        run(["walk", "--robot", "elsewhere/box_biped", "--duration", "1", *PREPARED_SOON, "--json", "result.json"]) == 0
    )
    result = json.loads(Path("result.json").read_text())
    assert (result["outcome"], result["robot"]) == ("walked", "own_robot")
    assert result["distance_m"] > 0.04
    config = next(tmp_path.glob("runs/*/config.toml"))
    assert robot_of([config]) == tomllib.loads(config.read_text())["robot"] == str(folder)
    assert f"--robot {folder}" in result["command"]
    again = load_setup(str(folder / "robot.toml"), files=[config])
    assert again.robot_argument == str(folder)
    assert again.walking.planner.commands.cruise_speed == 0.17


def test_its_checks_are_those_of_the_shipped_robots(folder, capsys):
    assert run(["robots", "--robot", str(folder), "--no-walk"]) == 0
    printed = capsys.readouterr().out
    assert "Own robot" in printed
    assert "soles 0.200 × 0.100 m" in printed
    assert "icub_v2_7" not in printed


def test_a_link_that_moves_without_inertia_is_refused_and_idyntree_is_silent(folder, capfd):
    text = (folder / "own_robot.urdf").read_text()
    start = text.index("<inertia ", text.index('<link name="left_thigh'))
    end = text.index("/>", start) + 2
    empty = '<inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/>'
    texture = '<material name="wood"><texture filename="wood.png"/></material>'
    text = text[:start] + empty + text[end:]
    (folder / "own_robot.urdf").write_text(text.replace("</robot>", f"{texture}</robot>"))
    assert run(["robots", "--robot", str(folder), "--no-walk"]) == 1
    printed, written = capfd.readouterr()
    assert "link 'left_thigh' moves by itself and has" in printed
    assert written == ""


def test_a_folder_in_the_working_directory_needs_no_separator(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    assert load_robot("box_biped").model_path == folder / "own_robot.urdf"


def test_an_absolute_model_file_and_an_installed_model_are_found(folder, tmp_path):
    moved = tmp_path / "own_robot.urdf"
    (folder / "own_robot.urdf").rename(moved)
    changed(folder, 'model_file = "own_robot.urdf"', f'model_file = "{moved}"')
    assert load_robot(str(folder)).model_path == moved
    changed(folder, f'model_file = "{moved}"', 'package = "icub-models"\nmodel = "iCubGazeboV3"')
    assert load_robot(str(folder)).model_path.name == "model.urdf"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"own_robot.urdf"', '"gone.urdf"', r"box_biped/robot\.toml: model_file: there is no file .*gone\.urdf"),
        ("model_file =", 'package = "file"\nmodel_file =', "model_file stands in place of package and model"),
        ("model_file =", "model_fil =", r"missing key 'package' \(or model_file, the path of a URDF\)"),
        ('name = "own_robot"', 'name = "Own Robot"', "'Own Robot': names of robots have small letters"),
    ],
)
def test_a_wrong_robot_file_is_refused_with_its_place(folder, old, new, message):
    changed(folder, old, new)
    with pytest.raises((ConfigError, ModelError), match=message):
        load_robot(str(folder))


@pytest.mark.parametrize(
    ("robot", "message"),
    [
        ("nowhere/robot", "robot 'nowhere/robot': there is no such folder"),
        ("elsewhere", "robot 'elsewhere': the folder has no robot.toml"),
        (
            "icub_v2_8",
            "did you mean 'icub_v2_7'? (valid: ergocub, g1, icub_v2_7, icub_v3, talos); the path of a folder with"
            " robot.toml is",
        ),
    ],
)
def test_a_robot_that_is_not_there_is_refused_by_name(folder, capsys, robot, message):
    assert run(["walk", "--robot", robot]) == 2
    assert message in capsys.readouterr().err
