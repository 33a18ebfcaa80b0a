"""From a URDF to a robot that walks."""

import re
import shutil
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from gradiva.common import ConfigError, ModelError, Side
from gradiva.planner import VelocityCommand
from gradiva.robot_model import IdynTreeModel, as_pose, interpreted
from gradiva.setup import find_model_file, load_robot, load_setup, package_and_model
from gradiva.setup.new_robot import (
    Choices,
    ModelFile,
    check_name,
    draft_robot,
    find_limbs,
    fit_sole,
    model_file_of,
    robot_text,
    write_robot,
)
from gradiva.setup.new_robot.model_file import check_meshes, check_units, turn_link
from gradiva.setup.robot_checks import check_robot_folder, margin_findings, torque_findings, widen_margins
from gradiva.simulated_walk import SimulatedWalk
from gradiva.simulation import read_urdf, weld
from tests.conftest import EVERY_ROBOT, description_of

ROMEO = "example-robot-data:romeo_description/urdf/romeo_small.urdf"


def draft_of(name, urdf, **more):
    source = package_and_model(urdf)
    return draft_robot(name, ModelFile(source, find_model_file(*source)), **more)


@pytest.mark.parametrize("name", EVERY_ROBOT)
def test_limbs_and_soles_are_found_as_they_are_described(name):
    robot = description_of(name)
    urdf = read_urdf(robot.model_path)
    limbs = find_limbs(urdf, Choices())
    described = robot.joint_groups
    assert limbs.base_link == robot.base_link
    assert limbs.torso_frame == robot.torso_frame
    assert (limbs.soles[Side.LEFT], limbs.soles[Side.RIGHT]) == (robot.left_foot_frame, robot.right_foot_frame)
    assert sorted(limbs.torso) == sorted(described["torso"].joints)
    for group in ("left_arm", "right_arm", "left_leg", "right_leg"):
        assert limbs.groups[group] == described[group].joints
    foot = weld(urdf, limbs.base_link, limbs.joints).body_of(robot.left_foot_frame)
    fitted = fit_sole(foot, robot.left_foot_frame, robot.model_path)
    np.testing.assert_allclose(
        [*fitted.x, *fitted.y, fitted.z], [*robot.sole.x, *robot.sole.y, robot.sole.z], atol=3e-3
    )


def test_force_torque_sensors_of_the_urdf_are_used_and_others_simulated():
    sensors = draft_of("new", "icub-models:iCubGazeboV3").description.force_torque_sensors
    assert [(sensor.name, sensor.foot.value, sensor.frame) for sensor in sensors] == [
        (f"{side[0]}_foot_{part}_ft", side, f"{side[0]}_foot_{part}")
        for side in ("left", "right")
        for part in ("front", "rear")
    ]
    draft = draft_of("new", "example-robot-data:talos_data/robots/talos_reduced.urdf")
    assert [sensor.name for sensor in draft.description.force_torque_sensors] == ["left_foot_ft", "right_foot_ft"]
    assert "no force-torque sensors in the feet: left_foot_ft, right_foot_ft are simulated at the soles" in draft.notes
    assert (
        "friction, gear play and motors of new are assumed by torque and speed of each joint: joint_groups of its"
        " robot.toml" in draft.notes
    )


def test_a_robot_with_bad_inertias_walks_and_the_correction_is_noted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draft = draft_of("romeo", ROMEO)
    assert draft.notes[-1].startswith(
        "no body can have the inertia of RShoulderYawLink (0.000662 + 0.000679 < 0.00657 kg·m²); RElbowYawLink"
    )
    check_name("romeo", tmp_path / "robots" / "romeo", [])
    files = write_robot(draft, tmp_path / "robots" / "romeo")
    assert [file.name for file in files] == [
        "robot.toml",
        "planner.toml",
        "step_adaptation.toml",
        "torque.toml",
        "plant_robot.toml",
        "soft_ground.toml",
    ]
    findings = check_robot_folder("romeo")
    assert [finding.verdict for finding in findings] == [*["ok"] * 7, "warn", "ok", "warn", "ok", "ok"]
    assert all(
        "wrench loop" in finding.text for finding in findings[8:]
    )  # by position, with gains that nobody has tuned
    walk = SimulatedWalk(load_setup("romeo", {"walking.prepare_duration": 0.5}), compiler=interpreted)
    assert walk.get_ready(0.5)
    assert walk.follow(VelocityCommand(forward=0.15, lateral=0.0, angular=0.0, duration=2.0), settle=0.5)
    assert 0.1 < walk.robot.truth().base_position[0] < 0.35


def test_what_is_written_reads_back_as_it_was(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    drafted = draft_of("new", "icub-models:iCubGazeboV2_7", title='the "new" one').description
    folder = tmp_path / "robots" / "new"
    folder.mkdir(parents=True)
    (folder / "robot.toml").write_text(robot_text(drafted))
    assert load_robot("new") == drafted


def test_a_urdf_outside_the_packages_is_named_by_its_path(tmp_path):
    file = tmp_path / "mine.urdf"
    file.write_text("<robot/>")
    assert package_and_model(str(file)) == ("file", str(file))
    assert find_model_file("file", "mine.urdf", tmp_path) == file
    with pytest.raises(ModelError, match=r"there is no file nowhere\.urdf"):
        package_and_model("nowhere.urdf")
    with pytest.raises(ModelError, match=r"is a folder: name a file in it, mine\.urdf"):
        package_and_model(str(tmp_path))
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    for name in "cdefg":
        (deep / f"{name}.urdf").write_text("<robot/>")
    with pytest.raises(ModelError, match=r"in it, mine\.urdf, a/b/c\.urdf, .*, a/b/f\.urdf and 1 more$"):
        package_and_model(str(tmp_path))
    shutil.rmtree(deep)
    (deep := tmp_path.joinpath(*"abcdef")).mkdir(parents=True)
    file.rename(deep / "mine.urdf")
    with pytest.raises(ModelError, match=r"is a folder without a \.urdf"):
        package_and_model(str(tmp_path))


def test_a_model_that_a_package_lacks_is_refused_with_the_nearest_name():
    with pytest.raises(ModelError, match=r"did you mean 'talos_data/robots/talos_reduced\.urdf'\? \(valid: .* others"):
        package_and_model("example-robot-data:talos_data/robots/talos.urdf")


@pytest.mark.parametrize(
    ("name", "folder", "message"),
    [
        ("My Robot", "robots/x", "small letters, digits and underscores"),
        ("talos", "robots/talos", "there is a robot 'talos' already"),
    ],
)
def test_a_name_or_folder_that_cannot_be_is_refused(tmp_path, monkeypatch, name, folder, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=message):
        check_name(name, tmp_path / folder, ["talos"])


def test_a_model_without_links_is_refused_with_its_file(tmp_path):
    file = tmp_path / "empty.urdf"
    file.write_text('<robot name="empty"/>')
    with pytest.raises(ModelError, match=r"^the URDF has no links: a robot has one root \(\S*empty\.urdf\)$"):
        draft_robot("empty", ModelFile(("package", "model"), file))


def test_what_is_not_found_has_to_be_named():
    urdf = read_urdf(description_of("talos").model_path)
    with pytest.raises(
        ModelError, match=r"down to 'leg_left_4_link' has 4 joints .* name another link with --left-foot"
    ):
        find_limbs(urdf, Choices(left_foot="leg_left_4_link", right_foot="leg_right_4_link"))
    with pytest.raises(ModelError, match="no link or frame 'imu_lin'; did you mean 'imu_link'"):
        find_limbs(urdf, Choices(imu="imu_lin"))
    with pytest.raises(
        ModelError, match="--left-sole left_sol: not a frame of the foot; did you mean 'left_sole_link'"
    ):
        find_limbs(urdf, Choices(left_foot="left_sole_link", right_foot="right_sole_link", left_sole="left_sol"))
    with pytest.raises(ModelError, match="exchange --left-foot and --right-foot"):
        find_limbs(urdf, Choices(left_foot="right_sole_link", right_foot="left_sole_link"))


def test_a_model_of_arms_alone_has_no_legs(tmp_path):
    alex = "example-robot-data:alex_description/urdf/alex_nub_hands.urdf"
    with pytest.raises(ModelError, match="it has no legs: the lowest limbs of 6 joints and more are arms, by names as"):
        model_file_of("new", alex, None, Choices(), tmp_path)


def test_hands_on_one_spine_are_no_feet():
    with pytest.raises(ModelError, match=r"no two bodies with 6 joints of their own above them mirror each other"):
        draft_of("new", "example-robot-data:alex_description/urdf/alex_nub_hands.urdf")
    arms = Choices(left_foot="arm_left_7_link", right_foot="arm_right_7_link")
    with pytest.raises(ModelError, match="both legs have torso_1_joint, torso_2_joint: name feet whose joints are"):
        find_limbs(read_urdf(description_of("talos").model_path), arms)


def test_what_a_leg_lacks_is_named(tmp_path):
    humanoid = (Path(__file__).parents[2] / "examples" / "own_robot" / "own_robot.urdf").read_text()
    joint = re.search(r'<joint name="(\w*left\w*)" type="revolute">.*?</joint>', humanoid, re.DOTALL)
    without_range = joint[0].replace("lower=", "low=").replace("upper=", "up=")
    file = tmp_path / "mine.urdf"
    file.write_text(humanoid.replace(joint[0], without_range))
    with pytest.raises(ModelError, match=rf"the limits of {joint[1]} leave no range.* upper angle \(\S+\)$"):
        draft_robot("mine", ModelFile(("file", "mine.urdf"), file))
    empty = re.sub(r'(effort|velocity)="[^"]*"', r'\1="0"', without_range)
    file.write_text(humanoid.replace(joint[0], empty))
    with pytest.raises(ModelError, match=r"leave no range.*; effort and velocity are 0 as well, and are guessed where"):
        draft_robot("mine", ModelFile(("file", "mine.urdf"), file))
    ankles = re.findall(r'<joint name="\w*ankle_roll\w*" type="revolute">', humanoid)
    for ankle in ankles:
        humanoid = humanoid.replace(ankle, ankle.replace("revolute", "fixed"))
    file.write_text(humanoid)
    assert len(ankles) == 2
    with pytest.raises(ModelError, match=r"a leg has 5 joints, down to .* walking needs 6"):
        find_limbs(read_urdf(file), Choices())


def own_robot(tmp_path: Path, pattern: str, change) -> Path:
    """Write the humanoid of the examples with ``change`` of each match of ``pattern``; return the file."""
    text = (Path(__file__).parents[2] / "examples" / "own_robot" / "own_robot.urdf").read_text()
    changed, count = re.subn(pattern, change, text)
    assert count
    file = tmp_path / "mine.urdf"
    file.write_text(changed)
    return file


def fixed(joints: str) -> tuple[str, str]:
    """Return a pattern of joints that turn and what fixes them."""
    return rf'(<joint name="(?:{joints})" type=)"revolute"', r'\1"fixed"'


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            fixed(r"right_\w+|left_ankle_\w+"),
            r"mirror each other about y = 0 of 'trunk'; the lowest limb has 4 joints, down to 'left_shank'"
            r" \(left_hip_yaw, left_hip_roll, left_hip_pitch, left_knee\), a leg needs 6: name the feet",
        ),
        (
            ('xyz="0 -0.1 0"', 'xyz="0 -0.2 0"'),
            r"the lowest limbs have 6 joints, down to 'left_foot' \(.*\) and 6 joints, down to 'right_foot' ",
        ),
        (
            ('xyz="0 -0.1 0"', 'xyz="0 0.3 0"'),
            r"the only limbs of 6 joints end in 'left_foot' at \(0.00, 0.10, \S*\) m and 'right_foot' at \(0.00, 0.30",
        ),
        (fixed(r"\w+"), r"mirror each other about y = 0 of 'trunk'; none of its joints turns, a leg needs 6$"),
        (
            fixed(r"(?:left|right)_(?!hip_yaw)\w+"),
            r"a leg has 1 joint, down to 'left_hip_yaw_link' \(left_hip_yaw\), walking needs 6",
        ),
    ],
)
def test_joints_of_legs_are_counted_and_named_where_feet_are_not_found(tmp_path, change, message):
    file = own_robot(tmp_path, *change)
    with pytest.raises(ModelError, match=message):
        find_limbs(read_urdf(file), Choices())


def scaled(factor):
    return lambda match: match[1] + " ".join(f"{factor * float(each):g}" for each in match[2].split()) + match[3]


@pytest.mark.parametrize(
    ("pattern", "factor", "message"),
    [
        (r'(xyz=")([^"]*)(")', 1e3, r"it reaches \d+ m from its root: lengths are probably in mm, .* in m \(\S+\)$"),
        (r'(xyz=")([^"]*)(")', 1e2, r"it reaches \d+ m from its root: lengths are probably in cm, .* in m \(\S+\)$"),
        (
            r'((?:lower|upper)=")([^"]*)(")',
            57.3,
            r"the limits of 12 of 12 joints are beyond a turn \(left_hip_yaw: -45.84 to 45.84 rad\): angles are"
            r" probably in degrees, they have to be in rad \(\S+\)$",
        ),
        (r'(mass value=")([^"]*)(")', 1e3, r"it weighs \d+ kg: masses are probably in g, .* in kg \(\S+\)$"),
        (r'(i[xyz]{2}=")([^"]*)(")', 1e6, r"radius of gyration of .*: inertias are .* in kg·mm², .* in kg·m² \(\S+\)$"),
        (r'(i[xyz]{2}=")([^"]*)(")', 1.5e2, r"reaches .* inertias are some hundred times too large, they .* \(\S+\)$"),
        (r'(i[xyz]{2}=")([^"]*)(")', 1e3, r"reaches 0.7\d* m from .*: inertias are .* in g·m², .* in kg·m² \(\S+\)$"),
    ],
)
def test_units_that_are_not_of_the_si_are_named(tmp_path, pattern, factor, message):
    file = own_robot(tmp_path, pattern, scaled(factor))
    (tmp_path / "own").mkdir()
    with pytest.raises(ModelError, match=message):
        model_file_of("mine", str(file), None, Choices(), tmp_path / "own")


@pytest.mark.parametrize(("ahead", "bend"), [(-0.07, 67.6), (0.0, 45.0), (0.07, 45.0)])
def test_knees_behind_the_line_from_hip_to_ankle_at_zero_are_bent_from_straight(tmp_path, ahead, bend):
    file = own_robot(tmp_path, r'(_shank"/><origin xyz=")0 ', rf"\g<1>{ahead} ")
    file.write_text(re.sub(r'(_ankle_link"/><origin xyz=")0 ', rf"\g<1>{-ahead} ", file.read_text()))
    own = tmp_path / "own"
    own.mkdir()
    description = draft_robot("mine", model_file_of("mine", str(file), None, Choices(), own)).description
    for side in ("left", "right"):
        leg = description.joint_groups[f"{side}_leg"]
        knee = leg.joints.index(f"{side}_knee")
        assert leg.per_joint("posture")[knee] == pytest.approx(bend, abs=0.1)


def test_all_moving_bodies_without_mass_are_named(tmp_path):
    file = own_robot(tmp_path, r'(name="\w+_thigh">\s*)<inertial>.*?</inertial>', r"\1")
    own = tmp_path / "own"
    own.mkdir()
    message = r"^moving bodies have no mass: 'left_thigh', 'right_thigh'; give them one, or make their joints fixed"
    with pytest.raises(ModelError, match=message):
        draft_robot("mine", model_file_of("mine", str(file), None, Choices(), own))


def test_equal_masses_of_all_links_are_noted_as_placeholders(tmp_path):
    file = own_robot(tmp_path, r'mass value="[^"]*"', 'mass value="1.0"')
    (tmp_path / "own").mkdir()
    notes = model_file_of("mine", str(file), None, Choices(), tmp_path / "own").notes
    assert any(
        re.match(r"masses: the model has 1 kg for each of \d+ links, a placeholder; it is taken$", note)
        for note in notes
    )


def test_degrees_are_found_where_most_of_them_are_small_numbers(tmp_path):
    file = own_robot(tmp_path, r'lower="[^"]*" upper="[^"]*"', 'lower="-3" upper="4"')
    text = file.read_text().replace('lower="-3" upper="4"', 'lower="-30" upper="45"', 1)
    file.write_text(text.replace('lower="-3" upper="4"', 'lower="-5" upper="6"', 1))
    (tmp_path / "own").mkdir()
    with pytest.raises(ModelError, match=r"limits of 1 of 12 joints are beyond a turn .*: angles are .* in degrees"):
        model_file_of("mine", str(file), None, Choices(), tmp_path / "own")


@pytest.mark.parametrize("speed", [1.0, 4.0])
def test_speeds_below_what_walking_takes_are_placeholders_where_all_joints_of_the_legs_have_them(tmp_path, speed):
    file = own_robot(tmp_path, r'velocity="[^"]*"', f'velocity="{speed:g}"')
    own = tmp_path / "own"
    own.mkdir()
    model = model_file_of("mine", str(file), None, Choices(), own)
    draft = draft_robot("mine", model)
    leg = draft.description.joint_groups["left_leg"]
    if speed == 1.0:
        assert any("the model has 1 rad/s for each joint of the legs, a placeholder" in note for note in draft.notes)
        assert leg.gear_play > 0.0  # planetary gears, as where nothing is said of the speed
        assert set(leg.per_joint("no_load_speed")) == {22.0}
        joints = [joint for joint in read_urdf(model.path).joints.values() if joint.kind == "revolute"]
        assert {joint.velocity for joint in joints} == {100.0}  # of arms and trunk as well
        assert draft.description.max_speed == pytest.approx(draft.posture.top_speed, abs=0.01)
    else:
        assert not any("velocity limits: the model has" in note for note in draft.notes)
        assert set(leg.per_joint("no_load_speed")) == {4.4}


@pytest.mark.parametrize(
    ("pattern", "change", "message"),
    [
        (
            r'name="right_shank"',
            'name="left_shank" type="other"',
            r"2 links are called 'left_shank': names have to differ \(\S+\)$",
        ),
        (
            r'(<joint name=")right_(knee|hip_roll)"',
            r'\1left_\2"',
            r"2 joints are called 'left_\w+', and so are 1 more names: names have to differ \(\S+\)$",
        ),
        (
            r"(</?)inertial>",
            r"\1intertial>",
            r"links have \d+ times an element <intertial>, which has to be <inertial> \(\S+\)$",
        ),
        (r"\Z", "", None),
    ],
)
def test_names_that_are_taken_twice_are_named(tmp_path, pattern, change, message):
    file = own_robot(tmp_path, pattern, change)
    if message is None:  # twice the same is once
        text = file.read_text()
        file.write_text(
            text.replace("</robot>", re.search(r'<link name="trunk".*?</link>', text, re.DOTALL)[0] + "</robot>")
        )
    (tmp_path / "own").mkdir()
    with pytest.raises(ModelError, match=message) if message else nullcontext():
        model_file_of("mine", str(file), None, Choices(), tmp_path / "own")


def test_a_mesh_in_millimetres_is_named_with_its_link(tmp_path):
    corners = np.array([[0, 0, 0], [300, 0, 0], [0, 200, 0], [0, 0, 100]], dtype=float)
    vertices = "".join(f"v {x} {y} {z}\n" for x, y, z in corners)
    (tmp_path / "shin.obj").write_text(vertices + "f 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n")
    for scale, is_refused in (("", True), (' scale="0.001 0.001 0.001"', False)):
        mesh = f'<visual><geometry><mesh filename="shin.obj"{scale}/></geometry></visual>'
        file = own_robot(tmp_path, r'(<link name="left_shank">)', lambda match, mesh=mesh: match[1] + mesh)
        message = r"mesh 'shin.obj' of 'left_shank' is 300 m long: it is probably in mm, multiply its scale by 0.001"
        with pytest.raises(ModelError, match=message) if is_refused else nullcontext():
            check_meshes(read_urdf(file), file)


def test_legs_that_are_splayed_at_zero_are_named(tmp_path):
    file = own_robot(tmp_path, r'xyz="0 (-?)0.1 0"', r'xyz="0 \g<1>0.4 0"')
    with pytest.raises(ModelError, match=r"soles are 0.80 m apart when all joints are at zero, .* splayed there"):
        draft_robot("mine", ModelFile(("file", str(file)), file))


def test_a_start_posture_out_of_reach_names_joints_and_angles(tmp_path, monkeypatch):
    """Hips that end at zero, where a wide stance rolls them outwards."""
    monkeypatch.setenv("GRADIVA_ROBOTS", str(tmp_path))
    file = own_robot(tmp_path, r"\Z", "")
    model = ModelFile(("file", str(file)), file)
    draft = draft_robot("mine", model)
    hips = [name for name in draft.description.joints if name.endswith("hip_roll")]
    text = file.read_text()
    for hip, range_ in zip(hips, ('lower="-0.5" upper="0.0"', 'lower="0.0" upper="0.5"'), strict=True):
        text = re.sub(rf'(<joint name="{hip}".*?)lower="[^"]*" upper="[^"]*"', rf"\1{range_}", text, flags=re.DOTALL)
    file.write_text(text)
    wide = replace(draft, description=replace(draft.description, step_width=draft.description.step_width + 0.1))
    with pytest.raises(
        ConfigError, match=rf"the joint limits are in the way: {hips[0]} at 0.0° by \d\S*°, {hips[1]} at"
    ):
        write_robot(wide, tmp_path / "mine")


def test_a_model_that_is_turned_is_named_where_feet_are_named(tmp_path):
    file = own_robot(tmp_path, r"\Z", "")
    robot = ElementTree.parse(file).getroot()
    turn_link(robot, read_urdf(file).roots[0], np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    ElementTree.ElementTree(robot).write(file)
    feet = Choices(left_foot="left_foot", right_foot="right_foot")
    with pytest.raises(
        ModelError, match=r"joints that pitch; .* are parallel, along x of '\w+': turn the model so that"
    ):
        draft_robot("mine", model_file_of("mine", str(file), None, feet, tmp_path), feet)


def test_angles_that_are_read_as_degrees_are_named(tmp_path):
    file = own_robot(tmp_path, r'(lower|upper)="([^"]*)"', lambda at: f'{at[1]}="{np.radians(float(at[2])):.5f}"')
    with pytest.raises(
        ModelError, match=r"no joint turns by more than \d.*: angles are probably in rad and read as deg"
    ):
        check_units(read_urdf(file))


def test_a_giant_is_no_humanoid_in_other_units(tmp_path):
    file = own_robot(tmp_path, r'(xyz=")([^"]*)(")', scaled(20.0))
    file.write_text(re.sub(r'(mass value=")([^"]*)(")', scaled(1e3), file.read_text()))
    assert read_urdf(file).mass > 2e4
    check_units(read_urdf(file))


def test_hips_that_are_canted_by_55_degrees_are_hips(tmp_path):
    """As those of L1 in the tenth round: a first axis within 60° of the lateral one, a roll and a yaw beside it."""
    hips = r'(<joint name="(left|right)_hip_pitch"[\s\S]*?<axis xyz=")0 1 0'
    file = own_robot(tmp_path, hips, lambda at: f"{at[1]}0 0.574 {-0.819 if at[2] == 'left' else 0.819}")
    draft = draft_robot("mine", ModelFile(("file", str(file)), file))
    left, right = (draft.description.joint_groups[f"{side}_leg"] for side in ("left", "right"))
    assert left.posture[left.joints.index("left_knee")] >= 20.0
    np.testing.assert_allclose(np.abs(left.posture), np.abs(right.posture), atol=0.2)


def test_limits_in_the_way_of_the_first_posture_are_named_with_the_angle_that_it_needs(tmp_path):
    hip = r'(<joint name="right_hip_pitch"[\s\S]*?lower=")-1.8'
    file = own_robot(tmp_path, hip, r"\g<1>0.1")
    message = r"the limits of right_hip_pitch \(6° to 57°, where it needs -\d+°\) do not let the robot stand with knees"
    with pytest.raises(ModelError, match=message):
        draft_robot("mine", ModelFile(("file", str(file)), file))


def test_limits_that_are_one_placeholder_are_no_degrees(tmp_path):
    file = own_robot(tmp_path, r'lower="[^"]*" upper="[^"]*"', 'lower="-100" upper="100"')
    check_units(read_urdf(file))


@pytest.mark.parametrize("name", EVERY_ROBOT)
def test_units_of_described_robots_pass(name):
    check_units(read_urdf(description_of(name).model_path))


@pytest.mark.parametrize(
    ("effort", "finding"),
    [
        (300, "ok stands on the left foot with 31% of the torque of left_hip_roll"),
        (25, "fail torques: left_hip_roll needs 42.8 N·m to stand on the left foot and has 25, 1 more lack some; all"),
        (12, "fail torques: left_knee needs 19.3 N·m to stand on both feet and has 12, 1 more lack some; all"),
    ],
)
def test_a_robot_that_cannot_stand_for_want_of_torque_is_named_with_joint_need_and_limit(tmp_path, effort, finding):
    humanoid = (Path(__file__).parents[2] / "examples" / "own_robot" / "own_robot.urdf").read_text()
    file = tmp_path / "weak.urdf"
    file.write_text(humanoid.replace('effort="300"', f'effort="{effort}"'))
    write_robot(draft_robot("weak", ModelFile(("file", str(file)), file)), tmp_path / "weak")
    (found,) = torque_findings(str(tmp_path / "weak"))
    assert f"{found.verdict} {found.text}".startswith(finding)


def weak_robot(folder: Path, **efforts: float) -> str:
    """Write the humanoid of the examples with other peak torques of some joints; return its folder."""
    text = (Path(__file__).parents[2] / "examples" / "own_robot" / "own_robot.urdf").read_text()
    for joint, effort in efforts.items():
        text, count = re.subn(rf'(<joint name="{joint}".*?effort=")[^"]*', rf"\g<1>{effort}", text, flags=re.DOTALL)
        assert count == 1
    (folder / "weak.urdf").write_text(text)
    write_robot(
        draft_robot("weak", ModelFile(("file", str(folder / "weak.urdf")), folder / "weak.urdf")), folder / "weak"
    )
    return str(folder / "weak")


def test_a_joint_that_friction_keeps_from_lifting_its_load_is_warned_of(tmp_path):
    held, lifted = torque_findings(weak_robot(tmp_path, right_hip_roll=44))
    assert (held.verdict, held.text) == ("ok", "stands on the right foot with 97% of the torque of right_hip_roll")
    assert lifted.verdict == "warn"
    lifts = r"right_hip_roll lifts 4[01]\.\d N·m against its friction and needs 42\.9 on the right foot"
    assert re.fullmatch(f"torques: {lifts}: by torque, on plant robot, it may stop or fall", lifted.text)


def test_a_draft_takes_the_gains_that_widen_its_margins(tmp_path):
    folder = tmp_path / "romeo"
    write_robot(draft_of("romeo", ROMEO), folder)
    ((file, lowered),) = widen_margins(folder, "What differs on romeo")
    assert file == folder / "velocity.toml"
    assert lowered.note.startswith("by velocity zmp_com_controller.walking.zmp = 2.")
    assert lowered.gains["zmp_com_controller.walking.com"] == lowered.gains["zmp_com_controller.walking.zmp"]
    assert not lowered.before.margins.is_wide
    assert [finding.text for finding in margin_findings(str(folder)) if finding.verdict != "ok"] == []
    assert list(widen_margins(folder, "What differs on romeo")) == []


def test_standing_on_the_right_foot_is_tried_as_well(tmp_path):
    (found,) = torque_findings(weak_robot(tmp_path, right_hip_roll=25))
    assert f"{found.verdict} {found.text}" == (
        "fail torques: right_hip_roll needs 42.9 N·m to stand on the right foot and has 25"
    )


def limited(folder: Path, **limits: str):
    """Return the draft of the humanoid of the examples with other attributes of limits of some joints of both legs."""
    text = (Path(__file__).parents[2] / "examples" / "own_robot" / "own_robot.urdf").read_text()
    for joint, limit in limits.items():
        text, count = re.subn(rf'(<joint name="\w+_{joint}".*?)<limit [^>]*>', rf"\g<1>{limit}", text, flags=re.DOTALL)
        assert count == 2
    (folder / "limited.urdf").write_text(text)
    return draft_robot("limited", ModelFile(("file", str(folder / "limited.urdf")), folder / "limited.urdf"))


def test_the_zmp_is_where_the_ankle_has_the_torque_to_hold_it(tmp_path):
    free, weak = (
        limited(tmp_path, ankle_pitch=f'<limit lower="-1.2" upper="0.8" effort="{effort}" velocity="12"/>')
        for effort in (300, 20)
    )
    robot, reach = weak.description, 20.0 / (weak.description.mass * 9.80665)
    assert robot.sole.x[0] < -reach < reach < robot.sole.x[1]
    assert free.planner["planner"]["zmp_offset"][0][0] == pytest.approx(0.5 * sum(robot.sole.x), abs=1e-4)
    assert weak.planner["planner"]["zmp_offset"][0][0] == pytest.approx(0.0, abs=1e-4)


def test_an_ankle_without_the_torque_to_use_its_sole_is_noted(tmp_path):
    weak = limited(tmp_path, ankle_roll='<limit lower="-0.5" upper="0.5" effort="5" velocity="12"/>')
    reach = 5.0 / (weak.description.mass * 9.80665)
    assert weak.posture.ankle_reach == pytest.approx(reach, rel=1e-3)
    (note,) = [note for note in weak.notes if "rolls an ankle" in note]
    assert f"holds the weight {100 * reach:.1f} cm beside it, of 5.0 cm of the sole" in note
    assert not any("rolls an ankle" in note for note in limited(tmp_path).notes)


def test_hips_that_roll_little_make_steps_shorter_and_ankles_that_pitch_little_legs_straighter(tmp_path):
    free = limited(tmp_path)
    assert "max_step_duration" not in free.planner["planner"]
    roll = limited(tmp_path, hip_roll='<limit lower="-0.09" upper="0.09" effort="300" velocity="12"/>')
    longest = roll.planner["planner"]["max_step_duration"][0]
    omega = np.sqrt(9.80665 / (roll.description.com_height - roll.description.sole.z))
    sway = 0.5 * roll.description.step_width * (1.0 - 1.0 / np.cosh(0.5 * omega * longest))
    height = 0.7 * np.cos(0.5 * np.radians(45.0))  # of the hip above the ankle
    assert 0.5 < longest < 0.9
    assert sway == pytest.approx(height * np.tan(0.09 - 0.0175), rel=0.05)
    stiff = replace(roll, posture=replace(roll.posture, leg_length=0.3355, ways=(0.01, 0.01))).planner["planner"]
    assert stiff["max_step_duration"][0] - stiff["min_step_duration"][0] == pytest.approx(0.02)  # a multiple between
    pitch = limited(tmp_path, ankle_pitch='<limit lower="-0.45" upper="0.8" effort="300" velocity="12"/>')
    knees = [max(draft.description.joint_groups["left_leg"].posture) for draft in (free, pitch)]
    assert knees[0] == 45.0
    assert knees[1] < 45.0
    assert min(pitch.description.joint_groups["left_leg"].posture) > np.degrees(0.05 - 0.45) + 5.0
    lifted = replace(pitch, posture=replace(pitch.posture, lift=0.02)).planner["planner"]["swing_height"][0]
    dragging = replace(pitch, posture=replace(pitch.posture, lift=0.005)).planner["planner"]["swing_height"][0]
    assert (lifted, dragging) == (0.02, 0.015)
    assert pitch.posture.lift < free.posture.lift


@pytest.mark.parametrize("limit", [0.45, 0.6])
def test_the_lift_of_a_foot_ends_where_its_ankle_does(tmp_path, limit):
    draft = limited(tmp_path, ankle_pitch=f'<limit lower="-{limit}" upper="0.8" effort="300" velocity="12"/>')
    model, posture = IdynTreeModel(draft.description), draft.posture
    kinematics, joints = model.kinematics_and_dynamics(), np.array(posture.joint_positions)

    def height_of_sole(positions):
        kinematics.setJointPos(positions)
        left = draft.description.left_foot_frame
        return as_pose(kinematics.getRelativeTransform(draft.description.base_link, left))[0][2]

    stride = np.arcsin(0.25 * posture.top_speed * 0.9 / posture.leg_length)  # half of a step of 0.9 s at half the speed
    farthest = limit - 0.05 - 0.5 * stride
    lifted = joints.copy()
    for joint, angle in (("hip_pitch", -farthest), ("knee", 2.0 * farthest), ("ankle_pitch", -farthest)):
        lifted[draft.description.joints.index(f"left_{joint}")] = angle
    assert 0.01 < posture.lift < 0.2
    assert height_of_sole(lifted) - height_of_sole(joints) == pytest.approx(posture.lift, abs=0.01)


def test_a_foot_without_shapes_asks_for_its_sole():
    humanoid = "example-robot-data:simple_humanoid_description/urdf/simple_humanoid.urdf"
    with pytest.raises(ModelError, match=r"the foot 'l_ankle' has no shapes: give its sole with --sole"):
        draft_of("new", humanoid)


def test_a_foot_whose_meshes_are_not_there_asks_for_them(tmp_path):
    file = own_robot(tmp_path, r"<(collision|visual)>.*?</\1>", "")
    model = ModelFile(("file", file.name), file, lacks_meshes=True)
    with pytest.raises(ModelError, match=r"'left_foot' has no shapes, since meshes of the model are not there: put"):
        draft_robot("mine", model)


def test_a_sole_in_a_wrong_scale_is_named_with_its_size(tmp_path):
    text = (Path(__file__).parents[2] / "examples" / "own_robot" / "own_robot.urdf").read_text()
    urdf = tmp_path / "large.urdf"
    urdf.write_text(text.replace('size="0.2 0.1 0.04"', 'size="1.2 0.6 0.04"'))
    with pytest.raises(ModelError, match=r"'left_foot' cover 1.200 m × 0.600 m, which is no sole: give it with --sole"):
        draft_of("new", str(urdf))
