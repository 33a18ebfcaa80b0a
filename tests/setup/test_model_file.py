"""Model files of new robots: MJCF, other roots, soles that are added."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import idyntree.bindings as idyn
import mujoco
import numpy as np
import pytest
import trimesh

from gradiva.common import ModelError, Side, SoleRectangle
from gradiva.robot_model import IdynTreeModel, as_array
from gradiva.setup import load_robot
from gradiva.setup.new_robot import Choices, draft_robot, find_limbs, model_file_of
from gradiva.setup.new_robot.drives import HIGH_RATIO, LOW_RATIO, drive_files, leg_gears
from gradiva.setup.new_robot.limbs import missing_soles
from gradiva.setup.new_robot.model_file import reroot, turn_link
from gradiva.simulation import JointDrive, find_mesh, read_urdf
from tests.conftest import description_of

LEG = """
<body name="{s}_hip" pos="0 {y} -0.05">
  <inertial pos="0 0 0" mass="1" diaginertia="0.01 0.01 0.01"/>
  <joint name="{s}_hip_yaw" axis="0 0 1" range="-60 60"/>
  <joint name="{s}_hip_roll" axis="1 0 0" range="-30 30" pos="0.01 0 -0.02"/>
  <joint name="{s}_hip_pitch" axis="0 1 0" range="-90 60"/>
  <geom type="capsule" size="0.03 0.15" pos="0 0 -0.2"/>
  <body name="{s}_shank" pos="0 0 -0.4">
    <inertial pos="0 0 -0.2" mass="2" diaginertia="0.02 0.02 0.004"/>
    <joint name="{s}_knee" axis="0 1 0" range="10 130" ref="10" actuatorfrcrange="-90 90"
      armature="0.03" frictionloss="0.4"/>
    <body name="{s}_foot" pos="0 0 -0.4" {turned}>
      <inertial pos="0 0 0" mass="0.5" diaginertia="0.001 0.001 0.001"/>
      <joint name="{s}_ankle_pitch" axis="{pitch}" range="-50 50"/>
      <joint name="{s}_ankle_roll" axis="{roll}" range="-20 20"/>
      <geom type="box" size="{box}" pos="{middle}" contype="1"/>
      <site name="{s}_touch" pos="0 0 0"/>
    </body>
  </body>
</body>
"""
LEVEL = {"turned": "", "pitch": "0 1 0", "roll": "1 0 0", "box": "0.1 0.04 0.01", "middle": "0.03 0 -0.04"}
TURNED = {  # x of the foot is down, z forward
    "turned": 'euler="0 90 0"',
    "pitch": "0 1 0",
    "roll": "0 0 1",
    "box": "0.01 0.04 0.1",
    "middle": "0.04 0 0.03",
}


def biped(feet, more=""):
    legs = "".join(LEG.format(s=side, y=y, **feet) for side, y in (("left", 0.09), ("right", -0.09)))
    return f"""<mujoco model="biped"><worldbody><geom type="plane" size="5 5 0.1"/>
<body name="pelvis" pos="0 0 1"><freejoint/><geom type="sphere" size="0.1" mass="10"/>{legs}</body></worldbody>
<actuator><motor joint="left_hip_roll" gear="50" ctrlrange="-2 2"/></actuator>{more}</mujoco>"""


def unnamed(mjcf):
    """Return an MJCF whose joints and bodies do not say which of them are left."""
    return mjcf.replace("left_", "first_").replace("right_", "other_")


@pytest.fixture
def as_urdf(tmp_path):
    """Write the biped's MJCF, return its `ModelFile`."""

    def model_file(feet=LEVEL, more=""):
        (tmp_path / "biped.xml").write_text(biped(feet, more))
        (tmp_path / "own").mkdir()
        return model_file_of("biped", None, tmp_path / "biped.xml", Choices(), tmp_path / "own")

    return model_file


def frames(path, angles, base, names):
    """Return the pose of frames in the base for angles by joint, by iDynTree, homogeneous, (n, 4, 4)."""
    loader = idyn.ModelLoader()
    assert loader.loadModelFromFile(str(path))
    kinematics = idyn.KinDynComputations()
    kinematics.loadRobotModel(loader.model())
    kinematics.setFloatingBase(kinematics.model().getLinkName(kinematics.model().getDefaultBaseLink()))
    joints = [kinematics.model().getJointName(i) for i in range(kinematics.getNrOfDegreesOfFreedom())]
    kinematics.setJointPos(idyn.VectorDynSize.FromPython([angles.get(joint, 0.0) for joint in joints]))
    return np.array([as_array(kinematics.getRelativeTransform(base, name).asHomogeneousTransform()) for name in names])


def test_the_urdf_of_an_mjcf_moves_weighs_and_is_limited_as_mujoco_has_it(as_urdf):
    file = as_urdf()
    model = mujoco.MjModel.from_xml_string(biped(LEVEL))
    data = mujoco.MjData(model)
    generator = np.random.default_rng(3)
    joints = [model.joint(i).name for i in range(1, model.njnt)]
    angles = dict(zip(joints, generator.uniform(-1.0, 1.0, len(joints)), strict=True))
    data.qpos[7:] = model.qpos0[7:] + list(angles.values())
    mujoco.mj_kinematics(model, data)
    bodies = ["left_shank", "left_foot", "right_foot"]
    for name, pose in zip(bodies, frames(file.path, angles, "pelvis", bodies), strict=True):
        np.testing.assert_allclose(pose[:3, 3] + [0.0, 0.0, 1.0], data.body(name).xpos, atol=1e-7)
        np.testing.assert_allclose(pose[:3, :3].ravel(), data.body(name).xmat, atol=1e-7)
    urdf = read_urdf(file.path)
    assert urdf.mass == pytest.approx(model.body_mass.sum(), rel=1e-6)
    assert urdf.joints["left_knee"].effort == 90.0
    assert urdf.joints["left_hip_roll"].effort == 100.0
    np.testing.assert_allclose(urdf.joints["left_knee"].limits, np.deg2rad([0.0, 120.0]), atol=1e-7)
    assert "left_touch" in urdf.links
    assert [shape.kind for shape in urdf.links["left_hip"].collisions] == ["cylinder", "sphere", "sphere"]
    assert file.source == ("file", "biped.urdf")
    assert file.notes == ("biped.xml of MuJoCo as biped.urdf",)


def test_a_biped_of_mjcf_is_drafted_with_its_sole(as_urdf):
    file = as_urdf()
    draft = draft_robot("biped", file)
    assert draft.description.sole.x == (-0.07, 0.13)
    assert draft.description.left_foot_frame == "left_foot"
    assert draft.description.joint_groups["left_leg"].joints == tuple(
        f"left_{name}" for name in ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll")
    )


def test_drives_are_those_of_the_mjcf_and_assumed_where_it_has_none(as_urdf):
    couplings = '<joint joint1="left_knee" joint2="right_knee"/><joint joint1="left_hip_yaw"/>'
    file = as_urdf(more=f"<equality>{couplings}</equality>")
    coupled = "left_knee to right_knee, left_hip_yaw to a constant"
    assert file.notes[1] == f"left out: couplings of joints ({coupled})"
    assert file.drives["left_knee"] == JointDrive(rotor_inertia=0.03, coulomb_friction=0.4)
    robot = draft_robot("biped", file).description
    leg = robot.joint_groups["left_leg"]
    roll, knee = leg.joints.index("left_hip_roll"), leg.joints.index("left_knee")
    assert (leg.per_joint("rotor_inertia")[knee], leg.per_joint("coulomb_friction")[knee]) == (0.03, 0.4)
    torque = min(100.0, leg.per_joint("torque_limit")[roll])
    assert leg.per_joint("coulomb_friction")[roll] == pytest.approx(friction := 2.5 * torque / 111.0, rel=5e-3)
    assert leg.per_joint("rotor_inertia")[roll] == pytest.approx(0.025 * (torque / 111.0) ** (5.0 / 3.0), rel=5e-3)
    assert leg.per_joint("viscous_friction")[roll] == pytest.approx(3.0 * friction / 22.0, rel=5e-3)
    assert leg.per_joint("no_load_speed")[roll] == 22.0  # the file has no limit of speed
    assert (leg.gear_loss, leg.gear_play, robot.torque_latency) == (0.05, 0.0035, 0.002)
    assert robot.assumed_drives


@pytest.mark.parametrize(("speed", "gears"), [(20.0, LOW_RATIO), (6.0, HIGH_RATIO)])
def test_fast_joints_have_planetary_gears_and_slow_ones_harmonic_drives(as_urdf, speed, gears):
    file = as_urdf()
    file.path.write_text(file.path.read_text().replace('velocity="1000"', f'velocity="{speed}"'))
    robot = draft_robot("biped", file).description
    leg = robot.joint_groups["right_leg"]
    assert leg.full_torque_speed == pytest.approx(0.55 * speed)
    assert (leg.gear_loss, leg.gear_play, robot.torque_latency) == (gears.loss, gears.play, gears.torque_latency)
    assert leg_gears(robot.joint_groups) is gears
    sole = SoleRectangle((-0.05, 0.1), (-0.04, 0.04), 0.0)
    wide = replace(sole, y=(-0.1, 0.1))
    files = drive_files(gears, 700.0, 0.7, sole)
    torque = files["torque.toml"][1]
    assert ("touch_timeout" in torque["torque_control"]) == (gears is LOW_RATIO)
    friction = {key: value for key, (value, _) in torque.get("drives", {}).items()}
    assert friction == ({"friction_compensation": 0.1} if gears is LOW_RATIO else {})
    assert torque["step_adaptation"]["trigger"][0] == 0.04
    assert torque["torque_control"]["zmp_excess"][0] == [0.004, 0.004]
    assert drive_files(gears, 700.0, 0.7, wide)["torque.toml"][1]["step_adaptation"]["trigger"][0] == 0.06
    assert files["step_adaptation.toml"][1]["step_adaptation"]["trigger"][0] == 0.049  # by position, 0.07 rad
    assert "step_adaptation.toml" not in drive_files(gears, 700.0, 0.4, sole)
    boards = "simulation.motors" in files["plant_robot.toml"][1]
    assert boards == (gears is LOW_RATIO)  # config/plant_robot.toml is of iCub's boards


def test_slow_legs_that_are_as_weak_as_servos_have_those_of_servos(as_urdf):
    file = as_urdf()
    text = re.sub(r'effort="[^"]*"', 'effort="6"', file.path.read_text())
    file.path.write_text(text.replace('velocity="1000"', 'velocity="6"'))
    robot = draft_robot("biped", replace(file, drives={})).description
    leg = robot.joint_groups["left_leg"]
    assert leg.coulomb_friction == pytest.approx(0.0904, rel=0.2)  # identified on an MX-64, which has 6 N·m
    assert leg.rotor_inertia == pytest.approx(0.0120, rel=0.3)
    assert 0.0117 < leg.viscous_friction < 2.0 * 0.0117
    assert leg.gear_play == pytest.approx(np.radians(20.0 / 60.0), rel=0.01)
    assert leg_gears(robot.joint_groups) is LOW_RATIO  # for torque control and the plant
    file.path.write_text(file.path.read_text().replace('velocity="6"', 'velocity="1000"'))
    unknown = draft_robot("biped", replace(file, drives={}))
    assert unknown.description.joint_groups["left_leg"].coulomb_friction == leg.coulomb_friction
    assert any("right_leg is known: servos of spur gears are guessed" in note for note in unknown.notes)
    text = file.path.read_text().replace('effort="6"', 'effort="40"')
    file.path.write_text(text.replace('velocity="1000"', 'velocity="6"'))
    assert draft_robot("biped", replace(file, drives={})).description.joint_groups["left_leg"].gear_play == 0.0


def test_large_rotors_say_that_the_gears_have_a_high_ratio(as_urdf):
    file = as_urdf()
    drives = dict.fromkeys(file.drives, JointDrive(rotor_inertia=0.5))
    draft = draft_robot("biped", replace(file, drives=drives))
    assert leg_gears(draft.description.joint_groups) is HIGH_RATIO
    assert not any("gears are guessed" in note for note in draft.notes)
    unknown = draft_robot("biped", replace(file, drives={}))
    assert any("no speed and no rotor of left_leg, right_leg is known: planetary" in note for note in unknown.notes)
    assert draft.description.joint_groups["left_leg"].rotor_inertia == 0.5


def test_rotors_alike_for_drives_of_very_different_torques_are_noted(as_urdf):
    file = as_urdf()
    drives = dict.fromkeys(file.drives, JointDrive(rotor_inertia=0.02))
    for effort, is_noted in ((90, False), (20, True)):
        file.path.write_text(re.sub(r'effort="(90|20)(\.0)?"', f'effort="{effort}"', file.path.read_text()))
        draft = draft_robot("biped", replace(file, drives=drives))
        assert any("kg·m² for each joint, of 20 to" in note for note in draft.notes) == is_noted


def test_values_that_no_drive_has_are_not_taken_and_noted(as_urdf):
    file = as_urdf()
    drives = {**dict.fromkeys(file.drives, JointDrive(rotor_inertia=0.02)), "left_knee": JointDrive(1e-4)}
    draft = draft_robot("biped", replace(file, drives=drives))
    legs = {
        name: draft.description.joint_groups[f"{name}_leg"].per_joint("rotor_inertia") for name in ("left", "right")
    }
    np.testing.assert_array_equal(legs["right"], 0.02)
    assert 0.02 not in legs["left"]
    (note,) = (note for note in draft.notes if "no drive with its torque has" in note)
    assert note.startswith("rotor inertia of left_knee: no drive with its torque has the model's 0.0001; 0.01")
    assert note.endswith(" is assumed, as well as for 5 more of its group")


@pytest.mark.parametrize(
    ("robots", "gears", "mean", "within"),
    [(("g1",), LOW_RATIO, 1.15, 1.5), (("icub_v2_7", "icub_v3", "talos"), HIGH_RATIO, 1.02, 2.7)],
    ids=["planetary", "harmonic"],
)
def test_similar_drives_are_those_of_the_described_robots(robots, gears, mean, within):
    legs = [load_robot(robot).joint_groups["left_leg"] for robot in robots]
    errors = {"rotor_inertia": [], "coulomb_friction": [], "viscous_friction": []}
    for leg in legs:
        torques, no_load = np.array(leg.per_joint("torque_limit")), np.array(leg.per_joint("no_load_speed"))
        friction = gears.friction(torques)
        similar = gears.rotors(torques), friction, gears.viscous * friction / no_load
        for (quantity, of_all), values in zip(errors.items(), similar, strict=True):
            of_all.extend(np.log(values / np.array(leg.per_joint(quantity))))
    for quantity, of_all in errors.items():
        assert np.abs(np.mean(of_all)) < np.log(mean), quantity
        assert np.abs(of_all).max() < np.log(within), quantity


def test_limits_of_zero_are_none_to_drives(as_urdf):
    file = as_urdf()
    file.path.write_text(file.path.read_text().replace('velocity="1000"', 'velocity="0"'))
    leg = draft_robot("biped", file).description.joint_groups["right_leg"]
    assert leg.no_load_speed == 22.0
    assert all(0.0 < friction < 100.0 for friction in leg.per_joint("viscous_friction"))


def test_feet_without_a_level_frame_get_soles(as_urdf):
    file = as_urdf(TURNED)
    note = "no frame of the feet has x forward and z normal to the sole"
    assert file.notes[1] == f"{note}: left_sole, right_sole are added"
    limbs = find_limbs(read_urdf(file.path), Choices())
    assert limbs.soles == {Side.LEFT: "left_sole", Side.RIGHT: "right_sole"}
    (pose,) = frames(file.path, {}, "pelvis", ["left_sole"])
    np.testing.assert_allclose(pose[:3, :3], np.eye(3), atol=1e-7)
    assert draft_robot("biped", file).description.sole.x == (-0.07, 0.13)
    assert missing_soles(read_urdf(file.path), Choices(), file.path) == {}


@pytest.mark.parametrize(("mass", "is_guess"), [("0.02 0 0", False), ("-0.03 0 0", True)])
def test_the_heel_is_the_shorter_part_of_what_touches_not_of_the_ankle(tmp_path, mass, is_guess):
    ankle = "".join(f'<geom type="cylinder" size="0.02 0.01" pos="-0.089 {y} 0"/>' for y in (-0.02, 0.02))
    feet = biped(LEVEL).replace('<geom type="box"', ankle + '<geom type="box"')
    feet = unnamed(feet.replace('pos="0 0 0" mass="0.5"', f'pos="{mass}" mass="0.5"'))
    limbs = find_limbs(read_urdf(drafted_file(tmp_path, feet).path), Choices())
    assert limbs.legs[Side.LEFT][0] == "first_hip_yaw"
    assert limbs.is_forward_guessed == is_guess


def test_meshes_of_an_mjcf_are_written_where_its_urdf_finds_them(tmp_path, as_urdf):
    trimesh.creation.box((0.2, 0.1, 0.3)).export(tmp_path / "trunk.stl")
    mesh = '<asset><mesh name="trunk" file="trunk.stl"/></asset>'
    trunk = '<worldbody><body name="box" pos="3 0 0"><geom type="mesh" mesh="trunk"/></body></worldbody>'
    file = as_urdf(more=mesh + trunk)
    assert "box" not in read_urdf(file.path).links  # what the world holds is no robot
    legs = biped(LEVEL, mesh).replace(
        'size="0.1" mass="10"/>', 'size="0.1" mass="10"/><geom type="mesh" mesh="trunk"/>'
    )
    (tmp_path / "other.xml").write_text(legs)
    other = model_file_of("other", None, tmp_path / "other.xml", Choices(), tmp_path / "own")
    assert any(shape.file == "meshes/trunk.stl" for shape in read_urdf(other.path).links["pelvis"].visuals)
    assert np.ptp(trimesh.load(tmp_path / "own" / "meshes" / "trunk.stl").vertices[:, 2]) == pytest.approx(0.3)


def test_an_mjcf_of_no_such_robot_is_refused_by_name(tmp_path):
    two = biped(LEVEL).replace("</worldbody>", '<body name="arm"><joint/><geom size="1"/></body></worldbody>')
    floating = two.replace("<joint/>", '<freejoint/><body name="hand"><joint/><geom size="1"/></body>')
    with pytest.raises(ModelError, match=r"one body of the world has to move, a robot; here it is pelvis, arm"):
        drafted_file(tmp_path, floating)
    with pytest.raises(ModelError, match=r"biped\.xml: MuJoCo cannot compile it: .*'knee'"):
        drafted_file(tmp_path, biped(LEVEL, "<actuator><motor joint='knee'/></actuator>"))


def test_loops_slides_and_what_lies_about_are_left_out_and_named(tmp_path):
    rod = """<body name="rod" pos="0 0 -0.2"><joint name="rod_ball" type="ball"/><geom size="0.01" mass="0.1"/>
    <body name="tip" pos="0 0 0.1"><joint name="tip_slide" type="slide"/><geom size="0.01" mass="0.1"/></body></body>"""
    loop = '<equality><connect name="loop" body1="left_foot" body2="tip" anchor="0 0 0"/></equality>'
    ball = '<worldbody><body name="ball"><freejoint/><geom size="0.1"/></body></worldbody>'
    file = drafted_file(
        tmp_path, biped(LEVEL, loop + ball).replace('<body name="left_shank"', f'{rod}<body name="left_shank"')
    )
    assert file.notes[1:] == (
        "left out: loops, each hinge of a leg is taken to have a motor of its own (loop)",
        "fixed: joints that slide, and balls (rod_ball, tip_slide)",
    )
    urdf = read_urdf(file.path)
    assert "ball" not in urdf.links
    assert len(find_limbs(urdf, Choices()).legs[Side.LEFT]) == 6


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("urdf", "# Robot", r"given\.txt is no file of XML \(.*\): a URDF begins with <robot>, an MJCF with <mujoco>"),
        ("urdf", "<mujoco/>", r"given\.txt begins with <mujoco>, not with <robot>: give it with --mjcf"),
        ("mjcf", "<robot/>", r"given\.txt begins with <robot>, not with <mujoco>: give it with --urdf"),
        ("mjcf", None, r"cannot read .*given\.txt: No such file"),
        (
            "urdf",
            '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:leg side="left"/></robot>',
            r"given\.txt is a xacro: expand it first, xacro given\.txt > given\.urdf",
        ),
        ("urdf", "<robot/>", r"^the URDF has no links.* \(\S*given\.txt\)$"),
    ],
)
def test_a_file_of_another_kind_is_refused_and_says_what_to_do(tmp_path, option, text, message):
    file = tmp_path / "given.txt"
    if text is not None:
        file.write_text(text)
    urdf, mjcf = (str(file), None) if option == "urdf" else (None, file)
    with pytest.raises(ModelError, match=message):
        model_file_of("given", urdf, mjcf, Choices(), tmp_path)


def test_another_root_leaves_angles_frames_and_limits_as_they_are(tmp_path):
    robot = ElementTree.parse(description_of("talos").model_path).getroot()
    before, after = tmp_path / "before.urdf", tmp_path / "after.urdf"
    for link in robot.findall("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(shape)
    ElementTree.ElementTree(robot).write(before)
    reroot(robot, "torso_2_link")
    ElementTree.ElementTree(robot).write(after)
    urdf, turned = read_urdf(before), read_urdf(after)
    assert list(turned.roots) == ["torso_2_link"]
    assert turned.mass == pytest.approx(urdf.mass)
    assert turned.joints["torso_2_joint"].limits == urdf.joints["torso_2_joint"].limits
    generator = np.random.default_rng(1)
    angles = {name: generator.uniform(-1.0, 1.0) for name in urdf.joints}
    names = ["base_link", "left_sole_link", "arm_right_7_link", "imu_link"]
    np.testing.assert_allclose(
        frames(after, angles, "left_sole_link", names), frames(before, angles, "left_sole_link", names), atol=1e-7
    )


def test_a_trunk_above_a_waist_is_no_root(tmp_path):
    robot = ElementTree.parse(description_of("g1").model_path).getroot()
    reroot(robot, "torso_link")
    for mesh in robot.iter("mesh"):
        mesh.set("filename", str(find_mesh(mesh.get("filename"), description_of("g1").model_path)))
    ElementTree.ElementTree(robot).write(tmp_path / "trunk.urdf")
    (tmp_path / "own").mkdir()
    file = model_file_of("trunk", str(tmp_path / "trunk.urdf"), None, Choices(), tmp_path / "own")
    assert file.notes == ("the root is 'pelvis', where the legs begin, not 'torso_link'",)
    limbs = find_limbs(read_urdf(file.path), Choices())
    assert (limbs.base_link, limbs.torso_frame) == ("pelvis", "torso_link")
    assert limbs.torso == description_of("g1").joint_groups["torso"].joints


def test_a_model_is_either_of_both(tmp_path):
    with pytest.raises(ModelError, match="either --urdf or --mjcf"):
        model_file_of("new", None, None, Choices(), tmp_path)


def test_hinges_without_names_get_some(tmp_path):
    (tmp_path / "biped.xml").write_text(re.sub(r'name="\w+_ankle_(pitch|roll)" ', "", biped(LEVEL)))
    (tmp_path / "own").mkdir()
    file = model_file_of("biped", None, tmp_path / "biped.xml", Choices(), tmp_path / "own")
    joints = find_limbs(read_urdf(file.path), Choices()).legs
    assert [joint for leg in joints.values() for joint in leg if joint.startswith("joint_")] == [
        "joint_5",
        "joint_6",
        "joint_11",
        "joint_12",
    ]


def test_a_site_with_the_name_of_a_later_body_gets_another_and_the_model_its_mass(tmp_path):
    (tmp_path / "biped.xml").write_text(
        biped(LEVEL).replace('<joint name="left_knee"', '<site name="left_foot"/><joint name="left_knee"')
    )
    (tmp_path / "own").mkdir()
    file = model_file_of("biped", None, tmp_path / "biped.xml", Choices(), tmp_path / "own")
    urdf = read_urdf(file.path)
    assert urdf.joints["left_foot_site_fixed"].parent == "left_shank"
    assert urdf.links["left_foot"].inertial.mass > 0.0
    description = draft_robot("biped", file).description
    assert (description.mass, IdynTreeModel(description).mass) == pytest.approx((17.0, 17.0))


def drafted_file(tmp_path, mjcf, **more):
    """Write an MJCF, return its `ModelFile`."""
    (tmp_path / "biped.xml").write_text(mjcf)
    (tmp_path / "own").mkdir(exist_ok=True)
    return model_file_of("biped", None, tmp_path / "biped.xml", Choices(**more), tmp_path / "own")


def test_what_a_scene_has_beside_its_robot_does_not_matter(tmp_path):
    (tmp_path / "legs.xml").write_text(biped(LEVEL).replace('range="-60 60"', 'range="-60, 60" stiffnes="3"'))
    scene = """<mujoco model="scene"><include file="legs.xml"/><option sensornoise="enable"/>
    <asset><texture name="sky" file="nowhere.png"/><material name="grey" texture="sky"/></asset>
    <contact><pair geom1="floor" geom2="left_foot"/></contact><keyframe><key qpos="0 0 1"/></keyframe></mujoco>"""
    file = drafted_file(tmp_path, scene)
    assert file.notes[1] == f"left out: stiffnes of <joint>, which MuJoCo {mujoco.__version__} does not know"
    assert read_urdf(file.path).joints["left_hip_yaw"].limits == pytest.approx(np.deg2rad([-60.0, 60.0]))


def test_models_that_an_mjcf_attaches_are_found_beside_it(tmp_path):
    whole = biped(LEVEL)
    first, last = whole.index('<body name="right_hip"'), whole.index("</body></worldbody>")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "leg.xml").write_text(
        f'<mujoco model="leg"><worldbody>{whole[first:last]}</worldbody></mujoco>'
    )
    attached = '<attach model="leg" body="right_hip" prefix=""/>'
    asset = '<asset><model name="leg" file="parts/leg.xml"/></asset><compiler meshdir="elsewhere"/>'
    scene = (whole[:first] + attached + whole[last:]).replace("</mujoco>", f"{asset}</mujoco>")
    file = drafted_file(tmp_path, scene)
    assert read_urdf(file.path).mass == pytest.approx(mujoco.MjModel.from_xml_string(whole).body_mass.sum(), rel=1e-6)
    assert find_limbs(read_urdf(file.path), Choices()).legs[Side.RIGHT][0] == "right_hip_yaw"


def test_meshes_that_are_not_there_are_left_out_unless_they_have_the_mass(tmp_path):
    (tmp_path / "trunk.stl").write_text("version https://git-lfs.github.com/spec/v1")
    (tmp_path / "flat.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n")
    meshes = "".join(f'<asset><mesh name="{file[:-4]}" file="{file}"/></asset>' for file in ("trunk.stl", "flat.obj"))
    stated = '<inertial pos="0 0 0" mass="10" diaginertia="0.1 0.1 0.1"/>'
    geoms = '<geom type="mesh" mesh="trunk"/><geom type="mesh" mesh="flat" contype="0" conaffinity="0"/>'
    weighed = biped(LEVEL, meshes).replace('<geom type="sphere" size="0.1" mass="10"/>', stated + geoms)
    file = drafted_file(tmp_path, weighed)
    assert file.notes[1] == "left out: shapes of meshes that are not there (trunk)"
    assert {shape.file for shape in read_urdf(file.path).links["pelvis"].visuals} == {"meshes/flat.stl"}
    framed = weighed.replace(geoms, f"<frame><frame>{geoms}</frame></frame>")
    for without in (weighed.replace(stated, ""), framed.replace(stated, "")):
        (tmp_path / "biped.xml").write_text(without)
        with pytest.raises(ModelError, match=r"trunk\.stl is not there, and the mass of body pelvis is that of its sh"):
            model_file_of("biped", None, tmp_path / "biped.xml", Choices(), tmp_path / "own")


def test_meshes_of_classes_that_are_not_there_are_left_out(tmp_path):
    (tmp_path / "flat.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    assets = '<asset><mesh name="cover" file="nowhere.stl"/><mesh name="flat" file="flat.obj"/></asset>'
    classes = """<default><default class="seen"><geom type="mesh" mesh="cover" contype="0" conaffinity="0"/>
    <default class="flat"><geom mesh="flat"/></default></default></default>"""
    stated = '<inertial pos="0 0 0" mass="10" diaginertia="0.1 0.1 0.1"/>'
    geoms = '<body name="lid" childclass="seen"><frame><geom/></frame><geom class="flat"/></body>'
    mjcf = biped(LEVEL, assets + classes).replace('<geom type="sphere" size="0.1" mass="10"/>', stated + geoms)
    file = drafted_file(tmp_path, mjcf.replace('childclass="seen">', f'childclass="seen">{stated}'))
    assert file.notes[1] == "left out: shapes of meshes that are not there (cover)"
    assert [shape.file for shape in read_urdf(file.path).links["lid"].visuals] == ["meshes/flat.stl"]


def test_a_knee_says_where_forward_is_when_names_and_feet_do_not(tmp_path):
    square = unnamed(biped({**LEVEL, "middle": "0 0 -0.04"}))
    limbs = find_limbs(read_urdf(drafted_file(tmp_path, square).path), Choices())
    assert (limbs.legs[Side.LEFT][0], limbs.is_forward_guessed) == ("first_hip_yaw", False)
    backwards = square.replace('range="10 130" ref="10"', 'range="-130 -10" ref="-10"')
    limbs = find_limbs(read_urdf(drafted_file(tmp_path, backwards).path), Choices())
    assert (limbs.legs[Side.LEFT][0], limbs.is_forward_guessed) == ("other_hip_yaw", False)


@pytest.mark.parametrize(
    ("left", "right"),
    [("left_", "right_"), ("L", "R"), ("leg_l_", "leg_r_"), ("Left", "Right"), ("J0_", "J6_")],
)
def test_names_of_legs_say_which_is_the_left_one(tmp_path, left, right):
    mjcf = biped({**LEVEL, "middle": "-0.03 0 -0.04"}).replace("left_", left).replace("right_", right)
    limbs = find_limbs(read_urdf(drafted_file(tmp_path, mjcf).path), Choices())
    is_named = left != "J0_"
    assert limbs.legs[Side.LEFT][0].startswith(
        left if is_named else right
    )  # the heel is ahead, the knee bends backwards
    assert limbs.is_forward_guessed != is_named


@pytest.mark.parametrize(
    "turn",
    [
        [[0, 1, 0], [-1, 0, 0], [0, 0, 1]],  # it looks along −y
        [[0, -1, 0], [1, 0, 0], [0, 0, 1]],
        [[0, 1, 0], [0, 0, 1], [1, 0, 0]],  # y is ahead, z to the left, as of exports with x up
        [[1, 0, 0], [0, 0, -1], [0, 1, 0]],
    ],
)
def test_a_robot_that_looks_along_another_axis_is_turned(tmp_path, turn):
    level = drafted_file(tmp_path, biped(LEVEL))
    urdf = ElementTree.parse(level.path).getroot()
    turn_link(urdf, "pelvis", np.array(turn, dtype=float))
    (tmp_path / "turned").mkdir()
    path = tmp_path / "turned.urdf"
    ElementTree.ElementTree(urdf).write(path)
    file = model_file_of("turned", str(path), None, Choices(), tmp_path / "turned")
    assert file.notes == ("the axes of 'pelvis' are turned: z is up, a leg on each side of y = 0",)
    names = ["left_foot", "right_foot"]
    np.testing.assert_allclose(
        np.abs(frames(file.path, {}, "pelvis", names)[:, :3, 3]),
        np.abs(frames(level.path, {}, "pelvis", names)[:, :3, 3]),
        atol=1e-6,
    )
    limbs = find_limbs(read_urdf(file.path), Choices())
    assert limbs.legs[Side.LEFT][0] == "left_hip_yaw"


def test_legs_that_are_bent_at_zero_get_soles_that_lie_on_the_ground(tmp_path):
    bent = biped(LEVEL).replace('_foot" pos="0 0 -0.4" ', '_foot" pos="0 0 -0.4" euler="0 20 0"')
    file = drafted_file(tmp_path, bent)
    (pose,) = frames(file.path, {}, "pelvis", ["left_sole"])
    np.testing.assert_allclose(pose[:3, 2], [np.sin(np.deg2rad(20.0)), 0.0, np.cos(np.deg2rad(20.0))], atol=1e-6)
    robot = draft_robot("biped", file).description
    assert robot.sole.x == pytest.approx((-0.07, 0.13), abs=1e-3)
    assert robot.left_foot_frame == "left_sole"


def test_soles_that_are_added_are_those_of_the_draft_whatever_frames_there_are(tmp_path):
    bent = biped(LEVEL).replace('_foot" pos="0 0 -0.4" ', '_foot" pos="0 0 -0.4" euler="0 20 0"')
    level = re.sub(r'<site name="(\w+)_touch" pos="0 0 0"/>', r'<site name="\1_sole" euler="0 -20 0"/>', bent)
    file = drafted_file(tmp_path, level)
    assert "left_sole_2, right_sole_2 are added" in file.notes[-1]
    robot = draft_robot("biped", file).description
    assert (robot.left_foot_frame, robot.right_foot_frame) == ("left_sole_2", "right_sole_2")
    assert robot.sole.x == pytest.approx((-0.07, 0.13), abs=1e-3)


def test_a_leg_of_seven_joints_is_refused_with_its_joints(tmp_path):
    knee = '<joint name="{s}_knee"'
    two = biped(LEVEL)
    for side in ("left", "right"):
        own = knee.format(s=side)
        two = two.replace(own, f'<joint name="{side}_upper_knee" axis="0 1 0" range="0 50" pos="0 0 0.02"/>{own}')
    with pytest.raises(
        ModelError, match=r"a leg has 7 joints, down to 'left_foot' .*left_upper_knee, left_knee.* of 6"
    ):
        drafted_file(tmp_path, two)


def test_a_link_that_moves_without_inertia_is_refused_before_anything_is_written(tmp_path):
    file = drafted_file(tmp_path, biped(LEVEL))
    urdf = re.sub(
        r'(<link name="left_foot">.*?<inertia) [^/]*',
        r'\1 ixx="0" iyy="0.01" izz="0.01" ',
        file.path.read_text(),
        count=1,
        flags=re.DOTALL,
    )
    file.path.write_text(urdf)
    with pytest.raises(
        ModelError, match=r"link 'left_foot' moves by itself and has 0\.495 kg and a smallest principal"
    ):
        draft_robot("biped", file)


@pytest.mark.parametrize(("turned", "back"), [("1 0 0 0", "1 0 0 0"), ("0.8 0.36 0.48 0", "0.8 -0.36 -0.48 0")])
def test_a_waist_may_turn_about_the_origin_of_the_base_and_have_axes_of_its_own(tmp_path, turned, back):
    legs = biped(LEVEL)
    first, last = legs.index('<body name="left_hip"'), legs.index("</body></worldbody>")
    inertial = '<inertial pos="0 0 0" mass="1" diaginertia="0.01 0.01 0.01"/>'
    axis = f'<body name="waist" quat="{turned}">{inertial}<joint name="waist" range="-60 60" axis="0 0 1"/>'
    back = f'<body name="straight" quat="{back}">{inertial}'
    file = drafted_file(tmp_path, f"{legs[:first]}{axis}{back}{legs[first:last]}</body></body>{legs[last:]}")
    note = "the root is 'waist', where the legs begin, not 'pelvis'"
    is_turned = not turned.startswith("1")
    assert file.notes[1] == note + "; its axes are turned, parallel to those of 'pelvis'" * is_turned
    straight, left = frames(file.path, {}, "waist", ["straight", "left_foot"])
    np.testing.assert_allclose(straight[:3, :3], np.eye(3), atol=1e-6)
    np.testing.assert_allclose(left[:3, 3], [0.0, 0.09, -0.85], atol=1e-6)


def test_torque_limits_that_are_all_the_same_beyond_the_weight_are_placeholders_and_noted(tmp_path):
    """1000 N·m at each joint would mean rotors heavier than the robot."""
    limited = re.sub(r'(<joint name="\w+") ', r'\1 actuatorfrcrange="-400 400" ', biped(LEVEL))
    limited = limited.replace('actuatorfrcrange="-90 90"', "").replace(
        'joint="left_hip_roll"', 'joint="right_hip_roll"'
    )
    draft = draft_robot("biped", drafted_file(tmp_path, limited))
    assert draft.description.joint_groups["left_leg"].torque_limit == 50.0
    assert (
        "peak torque of left_leg: the model has 400 N·m, a placeholder; 50 N·m is guessed by the weight" in draft.notes
    )
    assert not any("right_leg: the model" in note for note in draft.notes)


def test_force_sensors_fit_the_weight_and_the_sole_and_short_legs_make_quicker_steps(as_urdf):
    sole = SoleRectangle((-0.05, 0.1065), (-0.05, 0.05), 0.0)

    def sensors(gears, weight, sole):
        tables = drive_files(gears, weight, 0.5, sole)["plant_robot.toml"][1]
        return {key: value for key, (value, _) in tables["simulation.sensors.force_torque"].items()}

    small = sensors(HIGH_RATIO, 32.5, replace(sole, x=(-0.05, 0.1)))
    assert (small["force_bias"], small["force_drift"], small["wrench_range_ratio"]) == (0.2, 0.5, 0.016)
    icub = sensors(LOW_RATIO, 324.2, sole)
    assert icub["wrench_range_ratio"] == pytest.approx(35.0 / 2000.0, rel=0.03)  # the FT45 of iCub v2.7
    heavy = sensors(LOW_RATIO, 885.0, replace(sole, x=(-0.108, 0.1)))
    assert heavy == {"wrench_range_ratio": pytest.approx(0.043, rel=0.2)}  # robots/talos/plant_robot.toml
    draft = draft_robot("biped", as_urdf())
    assert "min_step_duration" not in draft.planner["planner"]
    short = replace(draft, posture=replace(draft.posture, leg_length=0.125))
    assert short.planner["planner"]["min_step_duration"][0] == 0.25


def edited(file, *pairs):
    """Replace texts of a `ModelFile`'s URDF; return its path."""
    text = file.path.read_text()
    for old, new in pairs:
        text = text.replace(old, new)
    file.path.write_text(text)
    return str(file.path)


def test_several_links_without_mass_above_the_root_are_left_out(tmp_path, as_urdf):
    names = '<link name="world"/><link name="base"/>'
    for parent, child, kind in (("world", "base", "floating"), ("base", "pelvis", "fixed")):
        names += f'<joint name="{child}_fixed" type="{kind}"><parent link="{parent}"/><child link="{child}"/></joint>'
    path = edited(as_urdf(), ("</robot>", f"{names}</robot>"))
    (tmp_path / "again").mkdir()
    file = model_file_of("again", path, None, Choices(), tmp_path / "again")
    assert file.notes == ("links without mass above 'pelvis' are left out",)
    assert draft_robot("again", file).description.base_link == "pelvis"


def test_joints_that_follow_others_and_links_that_are_not_there_are_refused(as_urdf):
    file = as_urdf()
    edited(
        file, ('<joint name="left_knee" type="revolute">', '<joint name="left_knee" type="revolute"><mimic joint="x"/>')
    )
    with pytest.raises(ModelError, match=r"in a leg left_knee follows x, and walking knows no coupled joints"):
        find_limbs(read_urdf(file.path), Choices())
    edited(file, ('<link name="left_touch" />', ""))
    with pytest.raises(ModelError, match=r"joint 'left_touch_fixed' is of a link 'left_touch' that is not there"):
        read_urdf(file.path)


def test_a_sensor_below_a_foot_that_is_drawn_as_a_joint_is_no_seventh_joint(as_urdf):
    file = as_urdf()
    ends = '<parent link="{s}_foot"/><child link="{s}_ft"/><limit lower="0" upper="0"/>'
    joint = f'<joint name="{{s}}_ft" type="revolute">{ends}</joint>'
    more = "".join(f'<link name="{s}_ft"/>' + joint.format(s=s) for s in ("left", "right"))
    edited(file, ("</robot>", f"{more}</robot>"))
    assert find_limbs(read_urdf(file.path), Choices()).legs[Side.LEFT][-1] == "left_ankle_roll"


def test_capsules_become_cylinders_with_spheres_at_their_ends(tmp_path, as_urdf):
    file = as_urdf()
    path = edited(file, ('<cylinder radius="0.03" length="0.3" />', '<capsule radius="0.03" length="0.3" />'))
    (tmp_path / "again").mkdir()
    again = model_file_of("again", path, None, Choices(), tmp_path / "again")
    assert again.notes == ("capsules are cylinders with spheres at their ends",)
    shapes = read_urdf(again.path).links["left_hip"].collisions
    balls = [shape.pose[2, 3] for shape in shapes if shape.kind == "sphere"]
    assert [shape.kind for shape in shapes].count("cylinder") == 1
    np.testing.assert_allclose(sorted(set(np.round(balls, 6))), [-0.35, -0.05])


def test_the_heel_is_behind_the_ankle_that_pitches_not_behind_a_roll_joint_ahead_of_it(tmp_path):
    ahead = biped({**LEVEL, "middle": "-0.057 0 -0.04"})
    for side in ("left", "right"):
        pitch, roll = (f'<joint name="{side}_ankle_{kind}"' for kind in ("pitch", "roll"))
        ahead = ahead.replace(pitch, pitch + ' pos="-0.057 0 0"').replace(roll, roll + ' pos="0 0 0"')
    limbs = find_limbs(read_urdf(drafted_file(tmp_path, unnamed(ahead)).path), Choices())
    assert limbs.legs[Side.LEFT][0] == "first_hip_yaw"


def test_a_sole_that_is_named_says_where_forward_is(tmp_path):
    file = drafted_file(tmp_path, unnamed(biped({**LEVEL, "middle": "-0.03 0 -0.04"})))
    soles = Choices(left_sole="first_touch", right_sole="other_touch")
    limbs = find_limbs(read_urdf(file.path), soles)
    assert (limbs.legs[Side.LEFT][0], limbs.is_forward_guessed) == ("first_hip_yaw", False)


@pytest.mark.parametrize("mirrored", ["yes", "left alone"])
def test_soles_that_are_named_and_not_along_forward_are_refused(tmp_path, mirrored):
    turned = {"yes": {"left": 90, "right": -90}, "left alone": {"left": 0, "right": 180}}[mirrored]
    mjcf = biped(LEVEL)
    for side, angle in turned.items():
        mjcf = mjcf.replace(f'<site name="{side}_touch"', f'<site name="{side}_touch" euler="0 0 {angle}"')
    urdf = read_urdf(drafted_file(tmp_path, mjcf).path)
    name = "left_touch" if turned["left"] else "right_touch"
    with pytest.raises(ModelError, match=f"sole {name}: its x axis is not forward"):
        find_limbs(urdf, Choices(left_sole="left_touch", right_sole="right_touch"))


@pytest.mark.parametrize("are_exchanged", [True, False])
def test_names_of_legs_that_heel_and_mass_both_contradict_are_a_guess(tmp_path, are_exchanged):
    mjcf = biped(LEVEL).replace('pos="0 0 0" mass="0.5"', 'pos="0.05 0 0" mass="0.5"')
    mjcf = mjcf.replace('range="10 130" ref="10"', 'range="-60 60"')  # a knee that bends both ways
    if are_exchanged:
        mjcf = mjcf.replace("left_", "other_").replace("right_", "left_").replace("other_", "right_")
    limbs = find_limbs(read_urdf(drafted_file(tmp_path, mjcf).path), Choices())
    assert limbs.legs[Side.LEFT][0] == "left_hip_yaw"
    assert limbs.is_forward_guessed == are_exchanged


@pytest.mark.parametrize("has_shapes", [True, False], ids=["mesh", "bare"])
@pytest.mark.parametrize("forward", [1.0, -1.0])
def test_a_roll_joint_off_the_ankle_that_pitches_is_no_evidence_where_the_sole_is_not_known(
    tmp_path, forward, has_shapes
):
    trimesh.creation.box((0.2, 0.08, 0.02)).export(tmp_path / "foot.stl")
    mesh = '<geom type="mesh" mesh="foot" pos="0 0 -0.04"/>' if has_shapes else ""
    feet = re.sub(r'<geom type="box".*/>', mesh, biped(LEVEL, '<asset><mesh name="foot" file="foot.stl"/></asset>'))
    if forward < 0.0:
        feet = feet.replace('range="10 130" ref="10"', 'range="-130 -10" ref="-10"')
    feet = feet.replace('pos="0 0 0" mass="0.5"', f'pos="{forward * 0.05} 0 0" mass="0.5"')
    feet = re.sub(r'(name="\w+_ankle_pitch")', rf'\1 pos="{forward * 0.02} 0 0"', feet)
    limbs = find_limbs(read_urdf(drafted_file(tmp_path, unnamed(feet)).path), Choices())
    assert limbs.legs[Side.LEFT][0] == ("first_hip_yaw" if forward > 0.0 else "other_hip_yaw")
    assert not limbs.is_forward_guessed
