"""The root of the command line: help, robots, doctor, experiments, modules."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from gradiva import __version__
from gradiva.cli import checks, module_scripts
from gradiva.cli.checks import Finding, check_cache_folder, check_package
from gradiva.cli.main import main, run
from gradiva.common.errors import FAIL, OK
from gradiva.simulated_walk import final_pose, plan_from_start
from gradiva.yarp_modules.gradiva_module import MODULES


def test_help_lists_the_commands(gradiva):
    status, out, _ = gradiva("--help")
    assert status == 0
    for command in ("walk", "experiment", "bench", "report", "view", "robots", "doctor"):
        assert command in out


def test_no_arguments_give_the_help(gradiva):
    assert gradiva()[:2] == gradiva("--help")[:2]


def test_the_version_is_that_of_the_package(gradiva):
    assert gradiva("--version") == (0, f"gradiva {__version__}\n", "")


def test_an_interrupt_while_a_command_is_imported_is_no_traceback(gradiva, monkeypatch):
    def interrupt(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("gradiva.cli.commands.carry_out", interrupt)
    assert gradiva("robots") == (130, "", "interrupted\n")


def test_robots_are_listed_with_their_figures(gradiva):
    status, out, _ = gradiva("robots", "--no-walk", "talos")
    line = next(line for line in out.splitlines() if line.startswith("talos"))
    assert status == 0
    assert all(text in line for text in ("TALOS", "32", "90.3 kg", "0.877 m"))
    held = next(line for line in out.splitlines() if line.startswith("ok    talos: "))
    assert all(
        text in held for text in ("mass 90.27 kg", "names of 32 joints", "soles 0.208 × 0.124 m", "limits", "6 boards")
    )
    margins = [line for line in out.splitlines() if "wrench loop, gain margin " in line]
    assert [line.split(", plant")[0] for line in margins] == [
        f"ok    talos: {control} control" for control in ("position", "velocity", "position", "velocity")
    ]
    assert len({line.partition(", M_s")[0].rindex("phase margin") for line in margins}) == 1  # columns


def test_a_broken_robot_is_named_and_the_others_are_listed(gradiva, monkeypatch, tmp_path):
    for name, text in (
        ("broken", "mass = "),
        ("empty", ""),
        ("odd", 'name = "odd"\npackage = "file"\nmodel = "no.urdf"'),
    ):
        (tmp_path / "robots" / name).mkdir(parents=True)
        (tmp_path / "robots" / name / "robot.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gradiva.setup.robot_checks.margin_findings", lambda argument: iter(()))  # shown above for one
    status, out, _ = gradiva("robots", "--no-walk")
    assert status == 1
    lines = out.splitlines()
    assert [line.split()[0] for line in lines[1:9]] == [
        "broken",
        "empty",
        "ergocub",
        "g1",
        "icub_v2_7",
        "icub_v3",
        "odd",
        "talos",
    ]
    assert any("fail  broken: robots/broken/robot.toml is not valid TOML" in line for line in lines)
    assert any("fail  empty: robots/empty/robot.toml: missing key 'name'" in line for line in lines)
    no_model = "fail  odd: robots/odd/robot.toml: model_file: there is no file robots/odd/no.urdf"
    assert any(no_model in line for line in lines)


def test_a_new_robot_is_written_and_described(gradiva, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    urdf = "example-robot-data:talos_data/robots/talos_reduced.urdf"
    status, out, _ = gradiva(
        "robots", "new", "mine", "--urdf", urdf, "--sole=-0.1,0.1,-0.06,0.06,0.0", "--arm-joints", "3", "--no-walk"
    )
    assert status == 0
    assert "soles left_sole_link and right_sole_link: 0.200 m × 0.120 m" in out
    assert "left_arm: arm_left_1_joint, arm_left_2_joint, arm_left_3_joint\n" in out
    assert "try     gradiva walk --robot mine --speed 0.17\n" in out
    assert gradiva("robots", "new", "mine", "--urdf", urdf)[::2] == (
        2,
        "error: there is a robot 'mine' already: take another name, or remove its folder\n",
    )


def test_a_new_robot_says_which_loops_are_narrow_and_how_it_is_found_by_name(gradiva, monkeypatch, tmp_path):
    def findings(argument):
        assert argument == str(Path("there/own"))
        yield Finding(OK, "position control: wide")
        yield Finding(FAIL, "velocity control: gain margin -4.7 dB", "lower the gain")

    urdf = Path(__file__).parents[2] / "examples" / "own_robot" / "own_robot.urdf"
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRADIVA_ROBOTS", raising=False)
    monkeypatch.setattr("gradiva.cli.checks.check_first_walk", lambda robot: Finding(OK, "walks"))
    monkeypatch.setattr("gradiva.setup.robot_checks.margin_findings", findings)
    status, out, _ = gradiva("robots", "new", "own", "--urdf", str(urdf), "--in", "there")
    narrow = "velocity control: gain margin -4.7 dB; gradiva robots there/own fails for it → lower the gain"
    assert status == 0
    assert f"ok      own: walks\nwarn    own: {narrow}\ntry     gradiva walk --robot there/own" in out
    assert out.endswith(f"or      by its name where the environment has GRADIVA_ROBOTS={tmp_path / 'there'}\n")


def test_a_new_robot_that_cannot_stand_is_named_and_not_walked(gradiva, monkeypatch, tmp_path):
    humanoid = (Path(__file__).parents[2] / "examples" / "own_robot" / "own_robot.urdf").read_text()
    (tmp_path / "weak.urdf").write_text(humanoid.replace('effort="300"', 'effort="12"'))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gradiva.cli.checks.run_walk", None)
    status, out, _ = gradiva("robots", "new", "weak", "--urdf", "weak.urdf")
    assert status == 1
    assert "fail    weak: torques: left_knee needs 19.3 N·m to stand on both feet and has 12" in out
    assert "try     gradiva walk" not in out


@pytest.mark.parametrize(
    ("outcome", "line"),
    [
        ("walked", "ok    talos: configuration, "),
        ("fell", "fail  talos: does not walk 2 m at 0.28 m/s: fell: base tilt at 4.00 s"),
    ],
)
def test_a_robot_is_ok_when_it_has_walked_two_metres(gradiva, monkeypatch, outcome, line):
    asked = []

    def walk(request):
        asked.append(request)
        result = {"outcome": outcome, "reason": "base tilt at 4.00 s", "distance_m": 2.01}
        return SimpleNamespace(result=result, walked=outcome == "walked")

    monkeypatch.setattr("gradiva.cli.checks.run_walk", walk)
    status, out, _ = gradiva("robots", "talos")
    (request,) = asked
    assert final_pose(plan_from_start(request.setup, request.command))[0] == pytest.approx(2.0, abs=0.1)
    assert status == (outcome != "walked")
    said = next(said for said in out.splitlines() if said.startswith(line))
    assert outcome != "walked" or said.endswith("walks 2.0 m at 0.28 m/s")


def test_a_robot_whose_package_is_missing_names_the_package(gradiva, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    status, out, _ = gradiva("robots", "--no-walk")
    assert status == 1
    assert "icub-models==2.8.1" in " ".join(out.split())


def test_a_model_package_that_cannot_be_loaded_is_one_line(gradiva, monkeypatch, tmp_path):
    (tmp_path / "icub_models.py").write_text('raise ImportError("libbroken.so: cannot be opened\\nmore of it")')
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "icub_models", raising=False)
    status, out, _ = gradiva("robots", "--no-walk")
    assert status == 1
    assert "icub_v3: the model package icub-models cannot be loaded: libbroken.so: cannot be opened\n" in out
    assert gradiva("walk")[0] == 2
    finding = checks.check_robot("icub_v3")
    assert (finding.verdict, finding.text.count("\n")) == ("fail", 0)
    assert checks.check_compiler().verdict == "ok"  # tried on the robot that is left


def test_rendering_is_not_blamed_for_missing_models(monkeypatch):
    monkeypatch.setattr(checks, "robot_names", lambda: ["nao"])
    for check in (checks.check_rendering, checks.check_compiler):
        assert "not tried, there is no robot model" in check().text


def test_without_the_experiments_it_is_said_what_to_install(gradiva, monkeypatch):
    monkeypatch.setattr("gradiva.common.plugin_names", lambda group: [])
    status, out, error = gradiva("experiment", "--list")
    assert (status, out) == (2, "")
    assert error.startswith("error: the experiments are a package of their own, which is not installed: pip install ")
    assert error.endswith("pip install ./modules/gradiva_experiments\n")


def test_the_benchmark_writes_its_rows(gradiva, monkeypatch):
    row = {"name": "planner.at", "median_us": 1.0, "p99_us": 2.0, "max_us": 3.0, "max_violation": None, "samples": 4}
    row["clock"] = "wall"
    machine = {"processor": "p", "cores": 1, "python": "3", "casadi": "3"}
    result = {"machine": machine, "results": [row], "real_time_factor": {"icub_v2_7": {"ideal": 9.0, "robot": 6.25}}}
    monkeypatch.setattr("gradiva.simulated_walk.benchmark.run_benchmark", lambda robots, announce, size: result)
    status, out, err = gradiva("bench", "--robot", "icub_v2_7", "--json", "-")
    assert status == 0
    assert json.loads(out) == result
    assert "planner.at" in err
    assert "real_time_factor/icub_v2_7: 9.0 on the ideal plant, 6.2 on the robot plant" in err
    row["failure"] = "5.70 s: the CoM is too high"
    status, _, err = gradiva("bench", "--json", "-")
    assert status == 1
    assert "failed: planner.at: 5.70 s: the CoM is too high" in err


@pytest.mark.parametrize(("verdicts", "status"), [(["ok", "warn"], 0), (["ok", "fail"], 1)])
def test_the_doctor_fails_when_something_essential_is_missing(gradiva, monkeypatch, verdicts, status):
    findings = [Finding(verdict, f"thing {verdict}", "mend it") for verdict in verdicts]
    monkeypatch.setattr(checks, "all_checks", lambda: [lambda finding=finding: finding for finding in findings])
    answer, out, _ = gradiva("doctor")
    assert answer == status
    assert out.splitlines() == [f"{verdict:4}  thing {verdict} → mend it" for verdict in verdicts]


def test_a_missing_package_is_essential():
    assert check_package("walking-shoes<3,>=2").verdict == "fail"


def test_a_package_outside_its_tested_range_is_a_warning():
    assert check_package("numpy<2").verdict == "warn"
    assert check_package("numpy>=2").verdict == "ok"


def test_a_cache_that_cannot_be_written_is_a_warning(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert check_cache_folder().verdict == "warn"


def test_a_missing_compiler_is_a_warning(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    finding = checks.check_compiler()
    assert finding.verdict == "warn"
    assert "gcc" in finding.remedy


def test_a_name_server_that_is_not_there_is_no_trouble(monkeypatch, tmp_path):
    (tmp_path / "yarp.conf").write_text("127.0.0.1 1 yarp\n")
    monkeypatch.setenv("YARP_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("GRADIVA_YARP", "pureyarp")
    monkeypatch.delenv("YARP_NAMESPACE", raising=False)
    finding = checks.check_yarp()
    where = f"127.0.0.1:1 (from {tmp_path / 'yarp.conf'})"
    assert (finding.verdict, finding.text) == ("ok", f"YARP: pureyarp; no name server answers at {where}")


def test_a_file_without_a_name_server_is_a_warning(monkeypatch, tmp_path):
    (tmp_path / "yarp.conf").write_text("somewhere\n")
    monkeypatch.setenv("YARP_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("YARP_NAMESPACE", raising=False)
    finding = checks.check_yarp()
    assert finding.verdict == "warn"
    assert "yarp.conf" in finding.text


def test_the_list_names_every_module(capsys):
    assert run(["module", "--list"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == list(MODULES)


def test_wrong_input_is_one_line_and_status_two(capsys):
    for arguments in (
        ["module"],
        ["module", "walkin", "--robot", "talos"],
        ["module", "walking"],
        ["module", "walking", "--robot", "unknown"],
        ["joypad", "--robot", "unknown"],
        ["module", "walking", "--robot", "icub_v2_7", "--sped", "1"],
        ["module", "walking", "--robot", "icub_v2_7", "--from", "nowhere.toml"],
    ):
        assert run(arguments) == 2, arguments
        error = capsys.readouterr().err
        assert error.startswith("error: ")
        assert error.count("\n") == 1


def test_a_module_has_its_own_help(capsys):
    assert run(["module", "walking", "--help"]) == 0
    assert "gradiva-walking" in capsys.readouterr().out


def test_every_module_has_a_program(monkeypatch, capsys):
    for title in MODULES:
        monkeypatch.setattr(sys, "argv", [f"gradiva-{title}", "--help"])
        with pytest.raises(SystemExit, match="0"):
            getattr(module_scripts, title)()
        assert f"gradiva-{title.replace('_', '-')}" in capsys.readouterr().out


def test_the_help_imports_no_arithmetic():
    code = (
        "import sys, gradiva.cli.commands; print(sorted({'numpy', 'casadi', 'mujoco', 'pureyarp'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_second_interrupt_finds_a_program_that_ends_already(monkeypatch):
    handler = signal.getsignal(signal.SIGINT)
    monkeypatch.setitem(main.__globals__, "run", lambda arguments: 130)
    try:
        with pytest.raises(SystemExit) as left:
            main(["walk"])
        assert (left.value.code, signal.getsignal(signal.SIGINT)) == (130, signal.SIG_IGN)
    finally:
        signal.signal(signal.SIGINT, handler)
