from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gradiva.experiments.penalty.biped_model import ANKLE, HIP_WIDTH, SHIN, THIGH, biped_urdf
from gradiva.experiments.penalty.walking_biped import biped_setup
from gradiva.simulation.rigid_tree import weld
from gradiva.simulation.urdf import read_urdf


def test_the_biped_has_14_joints_and_the_mass_of_its_description(tmp_path: Path) -> None:
    robot = biped_setup(tmp_path, 0.0).robot
    assert len(robot.joints) == 14
    urdf = read_urdf(robot.model_path)
    robot.check_mass(urdf.mass)
    assert urdf.mass == pytest.approx(44.0)
    assert set(robot.joints) == {name for name, joint in urdf.joints.items() if joint.kind == "revolute"}


def test_its_soles_lie_below_its_hips(tmp_path: Path) -> None:
    path = tmp_path / "biped.urdf"
    path.write_text(biped_urdf(), encoding="utf-8")
    urdf = read_urdf(path)
    bodies = {
        body.name: body for body in weld(urdf, "trunk", [name for name in urdf.joints if "fixed" not in name]).bodies
    }
    pose = np.eye(4)
    for joint in ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll", "ankle_yaw"):
        pose = pose @ bodies[f"l_{joint}_link"].pose
    sole = pose @ bodies["l_ankle_yaw_link"].frames["l_sole"]
    np.testing.assert_allclose(sole[:3, 3], [0.0, 0.5 * HIP_WIDTH, -THIGH - SHIN - ANKLE], atol=1e-12)
