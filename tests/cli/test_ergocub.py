"""ergoCub, a robot whose model no dependency of Gradiva brings: where it is found, and what is said without it."""

import pytest

from gradiva.common import ModelNotInstalled
from gradiva.setup import (
    data_folder,
    describe_robot,
    find_model_file,
    installed_robot_names,
    load_robot,
    robots_with_ports,
)
from gradiva.setup.robots import SHARES
from tests.conftest import ROBOTS

MODEL = describe_robot("ergocub").model


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """No variable leads to the model, whether it is installed or not."""
    for name in SHARES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.prefix", str(tmp_path / "prefix"))


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("CONDA_PREFIX", ""),
        ("AMENT_PREFIX_PATH", ""),
        ("ROS_PACKAGE_PATH", "share"),
        ("ROS_PACKAGE_PATH", "share/ergoCub"),
        ("YARP_DATA_DIRS", "share/ergoCub"),
        ("GAZEBO_MODEL_PATH", "share/ergoCub/robots"),
        ("GAZEBO_MODEL_PATH", "share"),
    ],
)
def test_the_model_is_found_where_it_is_installed(nowhere, monkeypatch, tmp_path, name, entry):
    urdf = tmp_path / "share" / "ergoCub" / "robots" / MODEL / "model.urdf"
    urdf.parent.mkdir(parents=True)
    urdf.touch()
    monkeypatch.setenv(name, f"/elsewhere:{tmp_path / entry}")
    assert find_model_file("ergocub-models", MODEL) == urdf


def test_without_its_model_it_is_described_and_has_ports_and_the_error_names_the_places(nowhere):
    assert describe_robot("ergocub").mass == 56.65
    assert "ergocub" in [robot.name for robot in robots_with_ports()]
    assert installed_robot_names() == sorted(ROBOTS)
    with pytest.raises(ModelNotInstalled, match=r"conda install .* ergocub-models, .*YARP_DATA_DIRS.*/prefix/share/"):
        load_robot("ergocub")


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (("walk", "--robot", "ergocub"), 2),
        (("play", "--robot", "ergocub"), 2),
        (("robots", "ergocub"), 1),
        (("doctor", "--robot", "ergocub"), 2),
        (("app", "run", "ergocub-simulation"), 2),
    ],
)
def test_commands_answer_a_missing_model_by_one_line(nowhere, gradiva, command, status):
    done, out, err = gradiva(*command)
    lines = [line for line in (out + err).splitlines() if "is not installed" in line]
    assert (done, len(lines)) == (status, 1)
    assert "Traceback" not in out + err


def test_the_list_of_robots_only_warns_of_a_missing_model(nowhere, gradiva, monkeypatch):
    monkeypatch.setattr("gradiva.setup.robots.robot_folders", lambda: {"ergocub": data_folder("robots") / "ergocub"})
    status, out, _ = gradiva("robots")
    assert status == 0
    assert "warn  ergocub: the model ergoCubGazeboSN001 of ergoCub is not installed" in out
    assert all(text in out for text in ("ergoCub", "56.6 kg", "0.680 m"))
