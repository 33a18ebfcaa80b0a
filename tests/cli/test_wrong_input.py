"""Wrong input: exit status 2, one line that says what is wrong, no traceback, nothing left behind."""

import os
import subprocess
import sys

import pytest

from gradiva.setup import load_robot

WRONG = {
    "unknown robot": (["--robot", "icub"], "unknown robot 'icub'; did you mean 'icub_v3'?"),
    "empty robot": (["--robot", ""], "unknown robot ''"),
    "speed not a number": (["--speed", "nan"], "--speed nan: expected a finite number"),
    "speed infinite": (["--speed", "inf"], "--speed inf"),
    "speed no number at all": (["--speed", "fast"], "number, got 'fast' (see --help)"),
    "speed above the robot's": (
        ["--speed", "3"],
        f"forward speed 3.0 m/s is outside its limits [-0.3, {load_robot('icub_v2_7').max_speed}] m/s of"
        " planner.max_speed, the fastest that the robot is known to walk; planner.max_speed is set in"
        " robots/icub_v2_7/robot.toml: change it there or by"
        " --set planner.max_speed=VALUE",
    ),
    "lateral not a number": (["--lateral", "nan"], "--lateral nan"),
    "lateral too fast": (["--lateral", "1"], "planner.commands.max_lateral_speed is set in config/planner.toml"),
    "turn too fast": (["--turn", "400"], "rad/s (400 °/s, [-"),
    "no time to walk": (["--duration", "0"], "--duration 0: expected more than 0 s"),
    "negative duration": (["--duration", "-3"], "--duration -3: expected more than 0 s"),
    "negative duration of a goal": (["--goal", "1,0", "--duration", "-3"], "--duration -3: expected more than 0 s"),
    "duration below one step": (["--duration", "0.01"], "--duration 0.01: expected 0.5 s, the shortest step, or more"),
    "endless duration": (["--duration", "inf"], "--duration inf"),
    "duration too long": (
        ["--duration", "1e6"],
        "duration 1000000.0 s is outside its limits (0, 120.0] s of planner.commands.max_duration; planner",
    ),
    "goal of one number": (["--goal", "1"], "--goal 1: expected X,Y or X,Y,YAW"),
    "goal of words": (["--goal", "here,there"], "'here' is no finite number"),
    "goal not a number": (["--goal", "nan,1"], "'nan' is no finite number"),
    "goal out of reach": (["--goal", "500,0"], "goal (500.000, 0.000) m: 500.00 m at 0.19 m/s take longer"),
    "goal too far for the time": (
        ["--goal", "3,0", "--duration", "2"],
        "than planner.commands.max_duration=2.0 s; planner.commands.max_duration is set by --duration",
    ),
    "goal and path": (["--goal", "1,0", "--path", "p.csv"], "--goal and --path exclude each other"),
    "goal and turn": (["--goal", "1,0", "--turn", "3"], "--turn does not go with --goal"),
    "goal backward": (
        ["--goal", "1,0", "--speed", "-0.1"],
        "speed of the goal (1.000, 0.000) m: -0.1 m/s, must be positive",
    ),
    "no such path": (["--path", "nowhere.csv"], "cannot read nowhere.csv: No such file or directory"),
    "path that is a folder": (["--path", "."], "cannot read .: it is a folder, expected a CSV file of points x,y"),
    "settings that are a folder": (["--from", "."], "cannot read .: it is a folder, expected a TOML file"),
    "unknown control": (["--control", "positon"], "unknown --control 'positon'; did you mean 'position'?"),
    "unknown model": (["--model", "dmc"], "unknown --model 'dmc'; did you mean 'dcm'?"),
    "unknown step adaptation": (
        ["--step-adaptation", "place_and_tim"],
        "unknown --step-adaptation 'place_and_tim'; did you mean 'place_and_time'?",
    ),
    "table of an experiment alone": (
        ["--model", "centroidal_mpc", "--set", "centroidal_mpc.samples=0"],
        "unknown table [centroidal_mpc]: walks read [centroidal_walking.mpc]",
    ),
    "MPC without samples": (["--set", "centroidal_walking.mpc.samples=0"], "samples=0"),
    "samples of the MPC that are no number": (["--set", "centroidal_walking.mpc.samples=2.5"], "mpc.samples"),
    "unknown solver": (["--set", "centroidal_walking.mpc.solver=ipoptt"], "did you mean 'ipopt'?"),
    "tolerance of the MPC that is no number": (["--set", "centroidal_walking.mpc.tolerance=abc"], "mpc.tolerance"),
    "unknown key of the MPC": (["--set", "centroidal_walking.mpc.horizon_nonsense=1"], "'horizon_nonsense'"),
    "unknown ground": (["--ground", "sotf"], "unknown --ground 'sotf'; did you mean 'soft'?"),
    "stiffness of a rigid ground": (
        ["--stiffness", "1e6"],
        "--stiffness is of a soft ground, this one is rigid: add --ground soft",
    ),
    "negative stiffness": (["--ground", "soft", "--stiffness", "-1"], "stiffness=-1.0, must be positive"),
    "damping not a number": (["--ground", "soft", "--damping", "nan"], "--damping nan: expected a finite number"),
    "ground on which nobody can stand": (
        ["--ground", "soft", "--control", "torque", "--stiffness", "2e4"],
        "on one foot iCub v2.7 sinks by m g / (k A) = 1408 mm, its gait takes 105 mm",
    ),
    "soft ground under stiff joints": (["--ground", "soft"], "walk with --control torque, or on 2.8e+07 N/m³"),
    "slope of three parts": (["--slope", "1,2,3"], "--slope 1,2,3: expected DEG or DEG,HEADING"),
    "slope not a number": (["--slope", "steep"], "--slope: 'steep' is no finite number"),
    "slope that is too steep": (["--slope", "6.5"], "steeper than iCub v2.7 has been seen to walk, as its plan is for"),
    "slope on which it topples": (
        ["--slope", "6", "--control", "velocity"],
        "iCub v2.7 topples, as its plan is for level ground: the CoM is",
    ),
    "slope that is a wall": (["--slope", "45"], "--slope 45: slopes must stay below 45°"),
    "an option for the value of another": (
        ["--record", "--out", "here"],
        "--record needs FILE.mp4, and is followed by the option --out (see --help)",
    ),
    "kinds of faults": (
        ["--fault", "broken_leg,4"],
        "expected KIND,START[,NAME[,VALUE]], KIND one of: NAME a force-torque sensor: frozen_wrench, dead_wrench, nan",
    ),
    "tilted IMU with a name": (
        ["--fault", "tilted_imu,0,torso,0.1"],
        "tilted_imu: name='torso', is neither of a joint nor of a force-torque sensor: leave it empty",
    ),
    "fault before the start": (
        ["--fault", "weak_motor,-4,l_knee,0.4"],
        "weak_motor of 'l_knee': start=-4.0, must be 0 s or later",
    ),
    "push by a rocket": (["--push", "torso,1e9,0,0,4,0.1"], "force=(1000000000.0, 0.0, 0.0): expected x, y, z of at"),
    "push of a misspelt torso": (["--push", "tors,9,0,0,4,0.1"], "no link or frame 'tors'; did you mean 'torso'? ("),
    "push of four parts": (["--push", "chest,0,30,0"], "expected LINK,FX,FY,FZ,START,DURATION"),
    "push not a number": (["--push", "chest,0,nan,0,4,0.1"], "'nan' is no finite number"),
    "push of no duration": (["--push", "chest,0,30,0,4,0"], "duration=0.0 must be positive"),
    "push of an unknown link": (
        ["--push", "breast,0,30,0,4,0.1"],
        "push on 'breast': the model has no link or frame 'breast' (valid: chest, ",
    ),
    "steps too long": (
        ["--set", "planner.max_feet_distance=0.18"],
        "planner.max_feet_distance=0.180 m; a step lasts 0.50 s at least, straight ahead 0.16 m/s can be planned; ",
    ),
    "speeds that do not go together": (
        ["--set", "planner.max_speed=0.1"],
        "exceeds max_speed=0.1; planner.max_speed is set by --set, planner.commands.cruise_speed is set in",
    ),
    "negative seed": (["--seed=-1"], "greater than or equal to 0, got '-1' (see --help)"),
    "set without value": (["--set", "walking.period"], "expected table.key=value"),
    "set of an unknown table": (["--set", "waking.period=0.01"], "unknown table [waking]; did you mean 'walking'?"),
    "set of an unknown key": (["--set", "walking.perod=0.01"], "unknown key 'perod'; did you mean 'period'?"),
    "set of a wrong type": (["--set", 'walking.period="long"'], "walking period: expected float, got 'long'"),
    "set out of range": (["--set", "dcm_controller.proportional_gain=0.5"], "proportional_gain=0.5"),
    "set not a number": (["--set", "planner.swing_height=nan"], "expected a finite number, got nan"),
    "a table set to a number": (
        ["--set", "planner=3"],
        "planner: expected a table, got 3; planner is set by --set",
    ),
    "the sole set to a number": (["--set", "sole=3"], "sole: expected a table, got 3; sole is set by --set"),
    "set infinite": (
        ["--set", "planner.commands.max_duration=inf", "--goal", "1,0"],
        "expected a finite number, got inf",
    ),
    "period between physics steps": (
        ["--set", "walking.period=0.0015"],
        "walking.period is set by --set, simulation.timestep is set in config/simulation.toml",
    ),
    "an option and another value by --set": (
        ["--control", "position", "--set", "walking.control=torque"],
        "--set walking.control=torque contradicts --control, which sets it to position: leave one out",
    ),
    "no such file": (["--from", "tuning.toml"], "cannot read tuning.toml"),
    "out is a file": (["--duration", "2", "--out", "taken"], "cannot write a run below taken"),
    "json in no folder": (["--json", "nowhere/result.json"], "cannot write nowhere/result.json"),
    "json is a folder": (["--json", "."], "cannot write .: Is a directory"),
    "film of another kind": (["--record", "film.avi"], "expected a file that ends in .mp4"),
    "film in no folder": (["--record", "nowhere/film.mp4"], "cannot write nowhere/film.mp4"),
    "film size of words": (["--record", "f.mp4", "--film-size", "big"], "--film-size big: expected WIDTHxHEIGHT"),
    "film of odd width": (["--record", "f.mp4", "--film-size", "641x480"], "even numbers from 64 to 4096"),
    "unknown camera": (["--record", "f.mp4", "--camera", "sied"], "unknown --camera 'sied'; did you mean 'side'?"),
    "camera without film": (["--camera", "side"], "--camera is for a film: add --record FILE.mp4"),
    "unknown option": (["--sped", "1"], "No such option: --sped (Possible options: --seed, --slope, --speed)"),
    "report that is always written": (["--no-report"], "No such option: --no-report (Possible options: --out)"),
    "flag that is off": (["--no-view"], "No such option: --no-view (Possible options: --view)"),
    "option of other programs": (["--video", "a.mp4"], "No such option: --video (Possible options: --record)"),
    "plant by its meaning": (["--plant", "real"], "unknown --plant 'real'; did you mean 'robot'?"),
    "an argument too many": (["forward"], "forward"),
}


def assert_refused(status, out, err, text):
    assert status == 2
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert text in err


@pytest.mark.parametrize("case", WRONG)
def test_walk_refuses(gradiva, case, tmp_path):
    arguments, text = WRONG[case]
    (tmp_path / "taken").touch()
    assert_refused(*gradiva("walk", *arguments), text)
    assert sorted(os.listdir(tmp_path)) == ["taken"]


def test_an_account_without_a_home_gets_one_line(gradiva, monkeypatch):
    monkeypatch.setattr("os.path.expanduser", lambda path: path)  # neither HOME nor an entry of the user
    assert_refused(*gradiva("robots"), "this account has no home folder: set HOME")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("", "has no points"),
        ("x,y\n", "has no points"),
        ("0,0\n1,one\n", "line 2: expected two finite numbers x,y, got '1,one'"),
        ("0,0\n1,2,3\n", "line 2"),
        ("0,0\n1,nan\n", "line 2"),
        ("0;0\n1;1\n", "line 2: expected two finite numbers x,y, got '1;1'"),
    ],
)
def test_a_path_that_is_no_path_is_refused(gradiva, tmp_path, content, text):
    (tmp_path / "path.csv").write_text(content)
    assert_refused(*gradiva("walk", "--path", "path.csv"), text)


def test_a_file_of_settings_that_is_no_toml_is_refused(gradiva, tmp_path):
    (tmp_path / "tuning.toml").write_text("walking = period\n")
    assert_refused(*gradiva("walk", "--from", "tuning.toml"), "tuning.toml is not valid TOML")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["wlak"], "No such command 'wlak'"),
        (["experiment", "table_10_2"], "unknown experiment 'table_10_2'; did you mean 'table_10_1'?"),
        (["experiment"], "which experiment?"),
        (
            ["experiment", "table_9_1", "--robot", "icub_v3", "--quick"],
            "--robot is no choice of the experiment table_9_1, which walks talos",
        ),
        (["experiment", "push_recovery", "--phase", "mid"], "unknown --phase 'mid'; did you mean 'middle'?"),
        (["experiment", "push_recovery", "--duration", "inf"], "--duration inf: expected a finite number"),
        (["experiment", "push_recovery", "--speed", "nan"], "--speed nan: expected a finite number"),
        (["experiment", "plant_seeds", "--plant", "robto"], "unknown --plant 'robto'; did you mean 'robot'?"),
        (["experiment", "plant_seeds", "--control", "force"], "unknown --control 'force'"),
        (
            ["experiment", "push_recovery", "--model", "dcm_mcp"],
            "--model: unknown law 'dcm_mcp'; did you mean 'dcm_mpc'?",
        ),
        (["experiment", "--resume", "nowhere"], "nowhere is not a run: there is no such folder"),
        (["experiment", "directions", "--resume", "nowhere"], "--resume takes no name, got 'directions'"),
        (["experiment", "--resume", "nowhere", "--speed", "0.2"], "--resume takes none of the options from --quick to"),
        (["experiment", "--resume", "nowhere", "--seed", "0"], "--resume takes none of the options from --quick to"),
        (
            ["experiment", "directions", "--seed", "0"],
            "--seed is no choice of the experiment directions, its options: ",
        ),
        (
            ["experiment", "plant_seeds", "--set", "planner.foo=1"],
            "error: configuration of icub_v2_7, planner: unknown",
        ),
        (["experiment", "--list", "extra"], "--list takes no name, got 'extra'"),
        (["experiment", "directions", "--robot", "nao"], "unknown robot 'nao'"),
        (["experiment", "directions", "--out", "taken"], "cannot write a run below taken"),
        (["bench", "--robot", "nao"], "unknown robot 'nao'"),
        (["bench", "--json", "nowhere/b.json"], "cannot write nowhere/b.json"),
        (["report", "nowhere"], "nowhere is not a run: there is no such folder"),
        (["report", "taken"], "taken is not a run: it is a file, expected its folder"),
        (["campaign", "."], "cannot read .: it is a folder, expected a TOML file"),
        (
            ["robots", "new", "own", "--mjcf", "."],
            "cannot read .: it is a folder, expected a file of XML that begins with <mujoco>",
        ),
        (["report"], "RUN"),
        (["view", "."], ". is not a run: it has no config.toml"),
        (["view", "nowhere", "--port", "99999"], "--port"),
    ],
)
def test_other_commands_refuse(gradiva, tmp_path, arguments, text):
    (tmp_path / "taken").touch()
    assert_refused(*gradiva(*arguments), text)


def test_a_missing_model_package_is_named(gradiva, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert_refused(*gradiva("walk"), "the model package is not installed: pip install 'icub-models==2.8.1'")


def test_the_installed_command_leaves_with_the_same_status(tmp_path):
    command = [sys.executable, "-c", "from gradiva.cli import main; main()", "walk", "--robot", "icub"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert_refused(done.returncode, done.stdout, done.stderr, "unknown robot 'icub'")
