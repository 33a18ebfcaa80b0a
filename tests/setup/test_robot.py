"""A robot by name, folder or installed package, with its configuration."""

import importlib
from pathlib import Path

import pytest

from gradiva.common import ConfigError
from gradiva.planner import PlannerConfig
from gradiva.setup import robot_names
from gradiva.setup.robot import load_robot
from gradiva.simplified_model import DcmController, DcmControllerConfig, DcmMpc

OWN = Path(__file__).parents[2] / "examples" / "own_robot"


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return a function that makes a package declare robots, for one test."""

    def declare(**robots):
        metadata = tmp_path / "of_a_user-0.1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: of-a-user\nVersion: 0.1.0\n", encoding="utf-8")
        lines = ["[gradiva.robots]", *(f"{name} = {value}" for name, value in robots.items())]
        (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        monkeypatch.syspath_prepend(str(tmp_path))
        importlib.invalidate_caches()
        return tmp_path

    return declare


def test_a_robot_knows_its_joints_its_mass_and_its_tables():
    robot = load_robot("icub_v2_7", {"planner.step_width": 0.15})
    assert repr(robot) == f"<Robot icub_v2_7: {len(robot.joints)} joints, {robot.mass:.1f} kg>"
    assert robot.part(PlannerConfig, "planner").step_width == 0.15
    assert robot.part(DcmControllerConfig, "dcm_controller") is robot.setup.walking.dcm_controller
    assert robot.posture.joint_positions.shape == (len(robot.joints),)


def test_laws_are_made_of_a_robot_as_of_their_configurations():
    robot = load_robot("icub_v2_7")
    assert DcmController(robot)._config is robot.setup.walking.dcm_controller
    assert DcmMpc(robot).decision_period == robot.setup.walking.balance_laws["dcm_mpc"].decision_period


def test_a_folder_is_a_robot():
    assert load_robot(str(OWN)).mass == pytest.approx(38.0, rel=1e-2)


def test_a_robot_of_an_installed_package_is_found_by_its_name(install):
    folder = install(own_robot="of_a_user.robots.own") / "of_a_user" / "robots" / "own"
    folder.mkdir(parents=True)
    for file in OWN.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    (folder.parents[1] / "__init__.py").write_text("", encoding="utf-8")
    assert "own_robot" in robot_names()
    assert load_robot("own_robot").description.title == "Own robot"


@pytest.mark.parametrize("place", ["of_a_user.nowhere", "json"])
def test_an_entry_point_that_leads_to_no_robot_is_named(install, place):
    install(lost=place)
    with pytest.raises(ConfigError, match=r"robot 'lost': the entry point of 'gradiva\.robots' leads to no folder"):
        load_robot("lost")
