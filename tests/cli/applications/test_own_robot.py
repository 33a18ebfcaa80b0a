"""``gradiva app run FORM --robot ROBOT``: the application of a robot for which no file is installed."""

import shlex
import shutil
from pathlib import Path

import pytest

from gradiva.cli.applications import running
from gradiva.cli.main import run

EXAMPLE = Path(__file__).parents[3] / "examples" / "own_robot"


@pytest.fixture
def started(configured, monkeypatch):
    """Applications that would have been started."""
    found = []
    monkeypatch.setattr(running, "_run", lambda application, *more: found.append(application) or 0)
    return found


def test_the_modules_find_the_robot_by_its_absolute_path(started, tmp_path, monkeypatch):
    folder = tmp_path / "robots & co" / "box_biped"
    shutil.copytree(EXAMPLE, folder)
    monkeypatch.chdir(folder.parent)
    assert run(["app", "run", "simulation-three", "--robot", "box_biped"]) == 0
    (application,) = started
    assert application.name == "own_robot-simulation-three"
    modules = application.titles()
    assert list(modules)[:3] == ["gradiva-simulator", "gradiva-planner", "gradiva-model-control"]
    for module in modules.values():
        assert shlex.split(module.parameters)[:2] == ["--robot", str(folder)]


def test_a_shipped_robot_has_the_application_that_is_installed(started):
    assert run(["app", "run", "hardware", "--robot", "talos"]) == run(["app", "run", "talos-hardware"]) == 0
    written, installed = started
    for one, other in zip(written.modules, installed.modules, strict=True):
        assert (one.program, one.parameters, one.dependencies) == (other.program, other.parameters, other.dependencies)
    assert written.name == installed.name


def test_settings_and_files_reach_all_modules_which_read_one_configuration(started, tmp_path):
    settings = ["--set", "flexibility.stiffness=3e3", "--set", "walking.control=torque"]
    file = tmp_path / "my gains.toml"
    file.write_text("[dcm_controller]\nproportional_gain = 1.5\n")
    assert run(["app", "run", "talos-simulation-three", *settings, "--from", str(file)]) == 0
    modules = started[0].titles()
    assert len(modules) == 5
    for module in modules.values():
        assert shlex.split(module.parameters)[-6:] == ["--from", str(file), *settings]


def test_a_robot_without_ports_walks_in_one_process_alone(started, capsys, tmp_path):
    folder = tmp_path / "own_robot"
    shutil.copytree(EXAMPLE, folder)
    text = (folder / "robot.toml").read_text(encoding="utf-8")
    (folder / "robot.toml").write_text(text[: text.index("[ports]")], encoding="utf-8")
    for command in (["app", "run", "simulation"], ["module", "walking"]):
        assert run([*command, "--robot", str(folder)]) == 2
        assert "own_robot: robot.toml has no table [ports], it cannot be reached over YARP" in capsys.readouterr().err
    assert started == []


@pytest.mark.parametrize(
    ("form", "robot", "message"),
    [
        ("simulatio", "talos", "unknown form of an application 'simulatio'; did you mean 'simulation'?"),
        ("simulation", "no/where", "robot 'no/where': there is no such folder"),
    ],
)
def test_what_cannot_run_is_refused_in_one_line(started, capsys, form, robot, message):
    assert run(["app", "run", form, "--robot", robot]) == 2
    assert message in capsys.readouterr().err
    assert started == []
