"""Robots of the user: where they are found, and what is said about broken ones."""

import re
import shutil

import numpy as np
import pytest

from gradiva.common import ConfigError, ModelError
from gradiva.setup import data_folder, load_robot, load_setup, robot_checks, robot_names
from gradiva.setup.robot_checks import check_robot_folder, torque_findings
from gradiva.simulated_walk import SimulatedWalk
from tests.conftest import EVERY_ROBOT, ROBOTS


@pytest.fixture
def copy_of_talos(tmp_path, monkeypatch):
    """A robot 'mine' that is TALOS, changed by replacing text in its robot.toml."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "robots" / "mine"
    shutil.copytree(data_folder("robots") / "talos", folder)

    def change(*replacements):
        file = folder / "robot.toml"
        text = file.read_text().replace('name = "talos"', 'name = "mine"')
        for old, new in replacements:
            assert old in text
            text = text.replace(old, new, 1)
        file.write_text(text)

    return change


@pytest.mark.parametrize("robot", EVERY_ROBOT)
def test_shipped_robots_hold_what_they_promise(robot):
    findings = [finding for finding in check_robot_folder(robot) if finding.verdict != "ok"]
    assert [(finding.verdict, finding.text) for finding in findings] == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("mass = 90.27", "mass = ", "robot.toml is not valid TOML"),
        ("mass = 90.27", "", "robots/mine/robot.toml: missing key 'mass'"),
        ("mass = 90.27", "mass = 80.0", "mass: mine: the model weighs 90.27 kg, its description says 80.0 kg"),
        ("[sole]\nx = [-0.108, 0.100]", "[sole]\nx = [0.1]", "robot.toml sole x: expected 2 values, got 1"),
        ('"left"\nframe = "left_sole_link"', '"left"\nframe = "imu_link"', "'imu_link' is not rigidly"),
        ("y = [-0.062, 0.062]", "y = [-0.03, 0.03]", "soles: described x=.* shapes: "),
        ("posture = [0.0, 0.0]", "posture = [0.0, 50.0]", "limits: torso_2_joint starts at 50.0°, its limits are"),
        ('base_link = "base_link"', 'base_link = "torso_1_link"', "not the root of the URDF, which is 'base_link'"),
        ("100.0, 160.0, 160.0", "100.0, 60.0, 160.0", "torques: leg_left_2_joint needs 85.7 N·m to"),
        ("arm_left_5_joint", "arm_left_5", r"robots/mine/robot.toml.*no control board has joint 'arm_left_5'"),
        ('head = ["head_1_joint"', 'head = ["head_0_joint", "head_1_joint"', "ports: no joint 'head_0_joint'"),
        ("[joint_groups.head]", "[joint_groups.skull]", "posture_weights: unknown joint group 'head'"),
        ("talos_reduced.urdf\"", "talos.urdf\"", "has no file 'talos_data/robots/talos.urdf'"),
        ('model = "talos_data', 'model = 3 # "talos_data', "missing key 'model'"),
        ('name = "mine"', 'name = "other"', "name = 'other', it must be that of the folder, 'mine'"),
    ],
)  # fmt: skip
def test_what_does_not_hold_is_named(copy_of_talos, monkeypatch, old, new, message):
    monkeypatch.setattr(robot_checks, "margin_findings", lambda argument: iter(()))  # those of TALOS, see above
    copy_of_talos((old, new))
    findings = [finding for finding in check_robot_folder("mine") if finding.verdict != "ok"]
    assert findings
    assert any(re.search(message, finding.text) for finding in findings)


def test_weak_joints_beside_the_legs_are_not_said_to_have_the_limit_of_the_legs(monkeypatch):
    robot = load_robot("talos")
    limits = np.full(len(robot.joints), 400.0)
    monkeypatch.setattr(robot_checks.IdynTreeModel, "torque_limits", lambda model: limits)
    weak = robot.joints.index("arm_left_2_joint")
    limits[weak] = 0.0
    (found,) = torque_findings("talos")
    assert found.verdict == "fail"
    assert re.fullmatch(r"torques: arm_left_2_joint needs \S+ N·m to stand on both feet and has 0", found.text)
    limits[weak] = 400.0
    limits[robot.joints.index("head_2_joint")] = 0.0  # which turns about the vertical
    (found,) = torque_findings("talos")
    assert (found.verdict, "nan" in found.text) == ("ok", False)


def test_a_joint_of_a_leg_that_is_in_no_group_is_named(copy_of_talos):
    text = (data_folder("robots") / "talos" / "robot.toml").read_text()
    group = text[text.index("[joint_groups.left_leg]") : text.index("[joint_groups.right_leg]")]
    copy_of_talos((group, re.sub(r", [^,\]]+\](?= |$)", "]", group, flags=re.MULTILINE)))
    texts = [finding.text for finding in check_robot_folder("mine") if finding.verdict != "ok"]
    assert any("names: leg_left_6_joint of the legs are in no" in text for text in texts)


def test_a_base_that_is_no_root_is_refused_before_anything_is_compiled(copy_of_talos):
    copy_of_talos(('base_link = "base_link"', 'base_link = "torso_1_link"'))
    compiled = []
    with pytest.raises(ModelError, match="not the root of the URDF, which is 'base_link'"):
        SimulatedWalk(load_setup("mine"), compiler=compiled.append)
    assert compiled == []


def test_robots_are_found_by_the_search_path(copy_of_talos, tmp_path, monkeypatch):
    copy_of_talos()
    assert robot_names() == sorted(["ergocub", *ROBOTS, "mine"])
    monkeypatch.chdir(tmp_path.parent)
    with pytest.raises(ConfigError, match="unknown robot 'mine'"):
        load_robot("mine")
    monkeypatch.setenv("GRADIVA_ROBOTS", f"/nowhere:{tmp_path / 'robots'}")
    assert load_robot("mine").title == "TALOS"
