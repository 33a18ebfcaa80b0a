"""Options of a walk become a request; warnings about settings without effect; the command that repeats it."""

import inspect
import math

import numpy as np
import pytest

from gradiva.cli.walk import walk
from gradiva.cli.walk_options import WalkOptions, idle_settings, idle_tables, parse_goal, parse_push, read_path
from gradiva.common import ConfigError, ControlMode
from gradiva.estimation import BaseSource
from gradiva.planner import GoalCommand, PathCommand, VelocityCommand
from gradiva.setup import load_setup
from gradiva.simulated_walk import create_run
from gradiva.simulation import GroundKind
from gradiva.walking import GroundModel

POSITION: list[str] = []
RIGID = ['walking.control="torque"']
SOFT = [*RIGID, 'simulation.ground.kind="viscoelastic"']
OF_THE_RESULT = {"view", "record", "film_size", "camera", "cause", "out", "json_to"}  # what is done with it
ELSEWHERE = ["--robot", "talos", "--goal", "1,0.5", "--duration", "30"]
WORDS = {
    "robot": ["--robot", "talos"],
    "speed": ["--speed", "-0.12"],
    "lateral": ["--lateral", "0.05"],
    "turn": ["--turn", "-12.5"],
    "goal": ["--goal", "1,-0.5,90"],
    "path": ["--path", "path.csv", "--speed", "0.15"],
    "duration": ["--duration", "4.25"],
    "control": ["--control", "velocity"],
    "model": ["--model", "dcm_mpc"],
    "step_adaptation": ["--step-adaptation", "place"],
    "flexibility": ["--robot", "talos", "--flexibility", "3500"],
    "from_files": ["--from", "a.toml", "--from", "b.toml"],
    "settings": ["--set", "walking.period=0.005", "--set", 'walking.model="dcm_mpc"'],
    "ground": ["--ground", "penalty"],
    "stiffness": ["--control", "torque", "--ground", "soft", "--stiffness", "1.25e6"],
    "damping": ["--control", "torque", "--ground", "soft", "--damping", "1234.5"],
    "slope": ["--slope", "2.5,-90"],
    "push": ["--push", "chest,0,30,0,4,0.1", "--push", "chest,0,-30,0,6,0.1"],
    "fault": ["--fault", "weak_motor,4,l_knee,0.4", "--fault", "tilted_imu,5,,0.1", "--fault", "silence,6"],
    "bump": ["--bump", "0.4,0.07,0.01", "--bump", "0.5,-0.07,0.02,0.05,0.2"],
    "plant": ["--plant", "robot"],
    "noise": ["--noise"],
    "seed": ["--seed", "7"],
}


def request(**options):
    return WalkOptions(robot="icub_v2_7", **options).request()


def test_without_options_the_robot_walks_forward_for_ten_seconds():
    assert request().command == VelocityCommand(0.19, 0.0, 0.0, 10.0)


def test_flexibility_is_of_the_plant_and_of_the_controller_unless_one_of_them_is_set():
    setup = WalkOptions(robot="talos", flexibility=3500.0).request().setup
    of_plant = setup.simulated_robot.flexible_joints
    assert [joint.stiffness for joint in setup.robot.flexible_joints] == [3500.0] * 4
    assert of_plant == setup.robot.flexible_joints
    wrong = ("simulation.flexibility.stiffness=[1e3, 1e3, 2e3, 2e3]",)
    setup = WalkOptions(robot="talos", flexibility=3500.0, settings=wrong).request().setup
    assert [joint.stiffness for joint in setup.robot.flexible_joints] == [3500.0] * 4
    assert [joint.stiffness for joint in setup.simulated_robot.flexible_joints] == [1e3, 1e3, 2e3, 2e3]
    setup = WalkOptions(robot="talos", flexibility=3500.0, settings=("flexibility.stiffness=2e3",)).request().setup
    assert [joint.stiffness for joint in setup.robot.flexible_joints] == [2e3] * 4
    assert setup.simulated_robot.flexible_joints == of_plant
    with pytest.raises(ConfigError, match=r"stiffness=0\.0, must be positive"):
        WalkOptions(robot="talos", flexibility=0.0).request()
    with pytest.raises(ConfigError, match="this robot has no flexible joints"):
        request(flexibility=1e4)


def test_a_slower_robot_walks_at_its_cruise_speed_by_default():
    slow = request(settings=("planner.commands.cruise_speed=0.07", "planner.max_speed=0.15"))
    assert slow.command == VelocityCommand(0.07, 0.0, 0.0, 10.0)
    assert " ".join(slow.arguments).startswith("--robot icub_v2_7 --speed 0.07 --duration 10")


def test_a_path_of_one_point_is_no_plural():
    assert str(PathCommand(np.array([[1.0, 0.0]]), 0.2)) == "along a path of 1 point at 0.2 m/s"


def test_velocities_are_combined():
    command = request(speed=0.1, lateral=0.05, turn=18.0, duration=4.0).command
    assert command == VelocityCommand(0.1, 0.05, math.radians(18.0), 4.0)


@pytest.mark.parametrize("option", ["lateral", "turn"])
def test_a_motion_to_the_side_alone_does_not_go_forward(option):
    assert request(**{option: 0.1}).command.forward == 0.0


def test_the_goal_s_yaw_is_in_degrees_and_the_speed_is_its_own():
    assert parse_goal("1.5,-1,90", 0.2) == GoalCommand(1.5, -1.0, math.pi / 2, 0.2)


def test_a_goal_without_speed_leaves_it_to_the_planner():
    assert request(goal="1,0").command == GoalCommand(1.0, 0.0)


def test_the_duration_of_a_goal_is_the_longest_allowed():
    assert request(goal="1,0", duration=30.0).setup.walking.planner.commands.max_duration == 30.0


def test_a_path_takes_the_cruise_speed(tmp_path):
    (tmp_path / "path.csv").write_text("x,y\n# a corner\n0.5,0\n\n1.0, 0.5\n")
    command = request(path=str(tmp_path / "path.csv")).command
    assert isinstance(command, PathCommand)
    assert command.speed == 0.19
    np.testing.assert_array_equal(command.points, [[0.5, 0.0], [1.0, 0.5]])


def test_a_first_line_with_a_number_is_no_heading(tmp_path):
    (tmp_path / "path.csv").write_text("0.5,zero\n1,0\n")
    with pytest.raises(ConfigError, match="line 1"):
        read_path(tmp_path / "path.csv")


def test_a_push_is_read_in_newtons_and_seconds():
    push = parse_push("chest,1,-30,2,4,0.1")
    assert (push.link, push.force, push.start, push.duration) == ("chest", (1.0, -30.0, 2.0), 4.0, 0.1)


def test_pushes_reach_the_simulation_and_the_tables_of_the_run():
    setup = request(pushes=("chest,0,30,0,4,0.1", "chest,0,-30,0,6,0.1")).setup
    assert [push.start for push in setup.simulation.pushes] == [4.0, 6.0]
    assert [push["force"] for push in setup.tables["simulation"]["pushes"]] == [(0, 30, 0), (0, -30, 0)]


def test_model_and_control_are_chosen():
    walking = request(model="dcm_mpc", control="velocity").setup.walking.walking
    assert (walking.model, walking.control) == ("dcm_mpc", ControlMode.VELOCITY)


def test_settings_win_over_files_and_files_over_the_shipped_configuration(tmp_path):
    tuning = tmp_path / "tuning.toml"
    tuning.write_text("[dcm_controller]\nproportional_gain = 2.0\nintegral_gain = 0.1\n")
    setup = request(files=(str(tuning),), settings=("dcm_controller.proportional_gain=1.5",)).setup
    assert setup.walking.dcm_controller.proportional_gain == 1.5
    assert setup.walking.dcm_controller.integral_gain == 0.1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "--robot icub_v2_7 --speed 0.19 --duration 10 --control position --model dcm --plant ideal"),
        (
            {"speed": 0.0, "duration": 2.0, "seed": 3},
            "--robot icub_v2_7 --speed 0 --duration 2 --control position --model dcm --plant ideal --seed 3",
        ),
        (
            {"lateral": -0.05, "turn": 18.0},
            "--robot icub_v2_7 --lateral -0.05 --turn 18 --duration 10 --control position --model dcm --plant ideal",
        ),
        ({"goal": "1,-0.5,90"}, "--robot icub_v2_7 --goal 1,-0.5,90 --control position --model dcm --plant ideal"),
    ],
)
def test_the_words_that_repeat_a_walk_are_kept(options, words):
    assert " ".join(request(**options).arguments) == words


def test_the_configuration_of_a_run_names_the_robot(tmp_path):
    first = WalkOptions(robot="talos", pushes=("torso_2_link,0,30,0,4,0.1",), model="dcm_mpc", plant="robot").request()
    path = create_run(first, tmp_path).config_path
    again = WalkOptions(files=(str(path),)).request()
    assert (again.setup.robot.name, again.setup.walking) == ("talos", first.setup.walking)
    assert (again.setup.simulation, again.setup.plant) == (first.setup.simulation, "robot")
    assert create_run(again, tmp_path).read_config()["plant"] == "robot"
    with pytest.raises(ConfigError, match=r"plant 'noisy' was asked for, but .*config.toml is for the plant 'robot'"):
        WalkOptions(files=(str(path),), noise=True).request()
    with pytest.raises(ConfigError, match="is the configuration of robot 'talos', not of 'icub_v2_7'"):
        request(files=(str(path),))


def test_noise_is_short_for_the_noisy_plant():
    assert request().setup.simulation.sensors.encoders.encoder_noise == 0.0
    assert request(noise=True).setup.simulation.sensors.encoders.encoder_noise > 0.0
    assert (
        request(noise=True).arguments
        == request(plant="noisy").arguments
        == request(plant="noisy", noise=True).arguments
    )
    with pytest.raises(ConfigError, match="--noise is short for --plant noisy, which contradicts --plant robot"):
        request(noise=True, plant="robot")
    with pytest.raises(ConfigError, match="unknown --plant 'nosy'; did you mean 'noisy'"):
        request(plant="nosy")


def test_soft_ground_brings_what_torque_control_needs_on_it():
    setup = request(control="torque", ground="soft", stiffness=8e5, damping=1e3).setup
    soil, kind = setup.simulation.viscoelastic, setup.simulation.ground.kind
    assert (kind, soil.stiffness, soil.damping) == (GroundKind.VISCOELASTIC, 8e5, 1e3)
    assert setup.walking.state_estimator.base is BaseSource.MEASURED
    assert setup.walking.torque_control.ground is GroundModel.COMPLIANT


@pytest.mark.parametrize(("typed", "uphill"), [("3", 0.0), ("3,90", 90.0), ("-3,90", -90.0), ("3,-135", -135.0)])
def test_a_slope_rises_in_its_heading(typed, uphill):
    ground = request(slope=typed).setup.simulation.ground
    assert np.degrees(ground.steepness) == pytest.approx(3.0)
    assert np.degrees(ground.uphill) == pytest.approx(uphill)


def test_the_ground_of_a_file_is_kept_and_may_be_made_softer(tmp_path):
    file = tmp_path / "soft.toml"
    file.write_text('[simulation.ground]\nkind = "viscoelastic"\n')
    setup = request(files=(str(file),), stiffness=1e6).setup
    assert (setup.simulation.ground.kind, setup.simulation.viscoelastic.stiffness) == (GroundKind.VISCOELASTIC, 1e6)
    assert request(files=(str(file),), ground="rigid").setup.simulation.ground.kind == GroundKind.RIGID


def lines(setting, choices):
    return idle_settings([setting], load_setup("icub_v2_7", [*choices, setting]))


@pytest.mark.parametrize(
    ("setting", "choices", "warning"),
    [
        (
            "torque_control.torque_rate=3000",
            POSITION,
            "torque_control.… has no effect in this walk, it needs --control torque",
        ),
        ("torque_control.com.damping=10.0", SOFT, 'torque_control.ground="rigid"'),
        ("torque_control.compliant.attitude_weight=200.0", RIGID, 'torque_control.ground="compliant"'),
        ("contact_estimator.stiffness=1e6", RIGID, "contact_estimator.…"),
        ("dcm_mpc.horizon=1.0", POSITION, "--model dcm_mpc"),
        ("simulation.viscoelastic.stiffness=1e6", RIGID, "--ground soft"),
        ("simulation.penalty.damping=200.0", POSITION, "--ground penalty"),
        ("joypad.dead_zone=0.2", POSITION, "the modules of a robot (gradiva app run)"),
        (
            "step_adaptation.reach=0.8",
            ['step_adaptation.mode="off"'],
            "step_adaptation.… has no effect in this walk, it needs --step-adaptation",
        ),
        ("hip_strategy.forward=0.5", ['step_adaptation.mode="off"'], "--step-adaptation place or place_and_time"),
        ("hip_strategy.forward=0.5", RIGID, "by position or velocity"),
        ("hip_strategy.forward=0.5", ["external_wrench.is_estimated=true"], "external_wrench.is_estimated=false"),
        ("external_wrench.dead_band=0.01", POSITION, "--set external_wrench.is_estimated=true"),
        ("external_wrench.push_offset=0.02", ["external_wrench.is_estimated=true"], "--model centroidal_mpc"),
    ],
)
def test_a_setting_without_effect_is_reported_with_what_it_needs(setting, choices, warning):
    (line,) = lines(setting, choices)
    assert line.startswith("warning: --set ")
    assert warning in line


def test_tables_of_a_file_without_effect_are_reported_and_those_of_a_run_are_not(tmp_path):
    tables = "[coordinator]\nreply_timeout = 2.0\n[planner]\nswing_height = 0.03\n"
    tables = f"[step_adaptation]\nmode = 'off'\nreach = 0.8\n{tables}"
    mine, run = tmp_path / "mine.toml", tmp_path / "config.toml"
    mine.write_text(tables)
    run.write_text(f'robot = "icub_v2_7"\n{tables}')
    stepping, modules = idle_tables([mine, run], load_setup("icub_v2_7", files=[mine, run]))
    assert stepping.startswith(f"warning: --from {mine}: step_adaptation.… has no effect in this walk")
    assert modules.startswith(f"warning: --from {mine}: coordinator.… has no effect in this walk")
    assert idle_tables([mine], load_setup("icub_v2_7", ["step_adaptation.mode=place"], [mine])) == [modules]


@pytest.mark.parametrize(
    ("setting", "choices"),
    [
        ("torque_control.com.damping=10.0", RIGID),
        ("torque_control.torque_rate=3000", SOFT),
        ("torque_control.compliant.attitude_weight=200.0", SOFT),
        ("contact_estimator.stiffness=1e6", SOFT),
        ("simulation.viscoelastic.stiffness=1e6", SOFT),
        ("dcm_mpc.horizon=1.0", ['walking.model="dcm_mpc"']),
        ("planner.swing_height=0.03", POSITION),
        ("step_adaptation.reach=0.8", POSITION),
        ('step_adaptation.mode="off"', POSITION),
        ("hip_strategy.forward=0.5", POSITION),
        ("external_wrench.is_estimated=false", POSITION),
    ],
)
def test_a_table_that_is_read_gives_no_warning(setting, choices):
    assert lines(setting, choices) == []


def test_a_table_is_warned_about_once():
    settings = ["dcm_mpc.horizon=1.0", "dcm_mpc.zmp_weight=20000.0"]
    assert len(idle_settings(settings, load_setup("icub_v2_7", settings))) == 1


@pytest.fixture
def options_of(gradiva, monkeypatch, tmp_path):
    """Return a function from the words of a command to the options that it takes them for."""
    (tmp_path / "path.csv").write_text("0.5,0\n1.0,0.5\n")
    for name in ("a", "b"):
        (tmp_path / f"{name}.toml").write_text("[dcm_controller]\nproportional_gain = 1.5\n")
    taken = []
    monkeypatch.setattr("gradiva.cli.walk_session.walk_session", lambda options, *result: taken.append(options) or 0)

    def parse(words):
        status, _, err = gradiva("walk", *words)
        assert status == 0, err
        return taken.pop()

    return parse


def test_every_option_is_looked_at():
    assert inspect.signature(walk).parameters.keys() == WORDS.keys() | OF_THE_RESULT


@pytest.mark.parametrize("option", WORDS)
def test_the_command_of_a_walk_repeats_it(options_of, option):
    first = options_of(WORDS[option]).request()
    again = options_of(first.arguments).request()
    assert again.arguments == first.arguments
    assert again.setup.tables == first.setup.tables
    assert str(again.command) == str(first.command)
    assert (again.seed, again.setup.simulation.pushes) == (first.seed, first.setup.simulation.pushes)


@pytest.mark.parametrize("option", WORDS)
def test_typed_options_are_in_the_command(options_of, option):
    arguments = options_of(WORDS[option]).request().arguments
    words = ["--plant", "noisy"] if option == "noise" else WORDS[option]
    assert set(words) <= {word.replace("1250000", "1.25e6") for word in arguments}


def test_control_and_model_are_written_out_wherever_they_were_chosen(options_of):
    words = options_of(["--set", 'walking.control="torque"']).request().arguments
    assert words[words.index("--control") + 1] == "torque"
    assert words[words.index("--model") + 1] == "dcm"


def test_options_of_the_result_are_not_in_the_command(options_of):
    assert "--out" not in options_of([*ELSEWHERE, "--out", "elsewhere", "--json", "-"]).request().arguments


def test_the_folder_of_a_run_stands_for_its_configuration(tmp_path):
    (tmp_path / "config.toml").write_text('robot = "talos"\n[walking]\nperiod = 0.005\n')
    setup = WalkOptions(files=(str(tmp_path),)).request().setup
    assert (setup.robot.name, setup.walking.walking.period) == ("talos", 0.005)
