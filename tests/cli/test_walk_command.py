"""Short walks through the command line."""

import importlib
import json
import math
import re
import shlex
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from gradiva.common import ModelError
from gradiva.setup import load_robot
from gradiva.simulated_walk.known_causes import KnownWalk
from gradiva.telemetry import Motion, RunFolder, WalkRecord
from tests.full_disk import full_at

IDLE = "torque_control.torque_rate=3000"
PREPARED_SOON = "--set", "walking.prepare_duration=0.5"
FELLING_PUSH = "--push", "torso,0,400,0,1,0.2", "--duration", "1", *PREPARED_SOON
CONTRACT = {
    "outcome": str,
    "reason": str,
    "robot": str,
    "control": str,
    "model": str,
    "plant": str,
    "ground": str,
    "slope_rad": type(None),
    "slope_heading_rad": type(None),
    "diagnosis": type(None),
    "is_standing": bool,
    "steps": int,
    "planned_steps": int,
    "further_steps_on_the_spot": int,
    "seed": int,
    "command": str,
    "duration_s": float,
    "commanded_duration_s": type(None),
    "distance_m": float,
    "commanded_speed_mps": float,
    "mean_speed_mps": float,
    "walking_speed_mps": float,
    "peak_speed_mps": float,
    "final_pose": list,
    "goal_error_m": (float, type(None)),
    "end_error_m": float,
    "commanded_end_m": list,
    "heading_error_rad": (float, type(None)),
    "com_error_m": dict,
    "dcm_error_m": dict,
    "zmp_error_m": dict,
    "foot_error_m": dict,
    "foot_yaw_error_rad": dict,
    "sinkage_m": float,
    "foot_tilt_rad": float,
    "foot_slip_m": float,
    "landing_force_weights": float,
    "early_landing_s": dict,
    "bounces_per_landing": float,
    "odometry_drift_m": float,
    "flexible_joints": type(None),
    "mpc": type(None),
    "step_adaptation_active_s": float,
    "adapted_steps": int,
    "largest_step_change_m": float,
    "largest_step_change_at_s": type(None),
    "largest_step_delay_s": float,
    "largest_step_delay_at_s": type(None),
    "torque_control": type(None),
    "max_tilt_rad": float,
    "specific_energetic_cost": float,
    "chatter": dict,
    "position_limits": type(None),
    "near_bounds": type(None),
    "floor_note": type(None),
    "usual": dict,
    "bridged_readings": dict,
    "qp_failures": int,
    "safety_events": list,
    "tick_us": dict,
    "held_ticks": int,
    "deadline_misses": type(None),
    "real_time_factor": float,
    "report": str,
}


@pytest.mark.walk
def test_a_walk_to_a_goal_writes_the_result_alone_to_standard_output(gradiva, tmp_path):
    status, out, err = gradiva("walk", "--goal", "0.3,0.1", "--seed", 3, "--json", "-")
    result = json.loads(out)
    assert status == 0
    assert result.keys() == CONTRACT.keys()
    for key, kind in CONTRACT.items():
        assert isinstance(result[key], kind), key
    assert result["outcome"] == "walked"
    assert [result[key] for key in ("robot", "control", "model", "plant")] == ["icub_v2_7", "position", "dcm", "ideal"]
    assert result["seed"] == 3
    assert result["command"] == "--robot icub_v2_7 --goal 0.3,0.1 --control position --model dcm --plant ideal --seed 3"
    assert result["goal_error_m"] < 0.05
    assert (result["adapted_steps"], result["largest_step_change_m"], result["largest_step_delay_s"]) == (0, 0.0, 0.0)
    assert (result["steps"], result["is_standing"]) == (result["planned_steps"], True)
    assert result["mean_speed_mps"] < result["walking_speed_mps"] < result["peak_speed_mps"]
    assert result["peak_speed_mps"] < 1.1 * result["commanded_speed_mps"]
    assert result["dcm_error_m"]["rms"] < result["dcm_error_m"]["max"] < 0.05
    assert set(result["tick_us"]) == {"estimation", "model_control", "whole_body", "total"}
    assert set(result["tick_us"]["total"]) == {"median", "p99", "max"}
    assert "walked" in err
    assert (tmp_path / result["report"]).is_file()


@pytest.mark.walk
def test_a_run_can_be_reported_replayed_and_repeated_to_the_last_digit(gradiva, tmp_path, reference):
    settings = "--set", IDLE, *PREPARED_SOON
    status, out, _ = gradiva(
        "walk", "--duration", 0.5, "--json", "result.json", "--plant", "robot", "--seed", 5, *settings
    )
    assert status == 0
    assert "warning: --set torque_control.… has no effect in this walk" in out
    assert "walked" in out
    result = json.loads((tmp_path / "result.json").read_text())
    report = Path(result["report"])
    assert {path.name for path in report.parent.iterdir()} == {"config.toml", "result.json", "log.mat", "report.html"}
    signals = importlib.import_module(f"{reference.__name__}.signals")
    names = WalkRecord.read(RunFolder(tmp_path / report.parent)).log.names
    assert len(names) > 50
    assert [name for name in names if not signals.is_named(name)] == []  # the page of the signals has all
    (tmp_path / report).unlink()
    assert gradiva("report", report.parent)[:2] == (0, f"{report}\n")
    assert (tmp_path / report).is_file()
    assert gradiva("export", report.parent, "--signal", "dcm::position::*")[:2] == (0, f"{report.parent}/log.csv\n")
    header = (tmp_path / report.parent / "log.csv").read_text(encoding="utf-8").splitlines()[0]
    assert header == "time," + ",".join(
        f"dcm::position::{kind}::{axis}" for kind in ("desired", "measured") for axis in "xy"
    )
    assert gradiva("view", report.parent, "--save", "page.html")[0] == 0
    assert "<html" in (tmp_path / "page.html").read_text(encoding="utf-8")[:400].lower()
    again = json.loads(gradiva("walk", *shlex.split(result["command"]), "--json", "-")[1])
    for key in ("final_pose", "dcm_error_m", "specific_energetic_cost", "duration_s"):
        assert again[key] == result[key]


@pytest.mark.walk
def test_a_push_that_fells_the_robot_ends_with_status_one_and_its_reason(gradiva, tmp_path):
    pushes = "--push", "torso,0,130,0,3,0.1", "--push", "chest,0,5,0,6,0.3"
    settings = "--duration", 2.5, *PREPARED_SOON
    status, out, err = gradiva("walk", *pushes, *settings, "--step-adaptation", "off", "--json", "-")
    result = json.loads(out)
    assert status == 1
    assert result["outcome"] == "fell"
    assert result["reason"].startswith("base tilt above the limit of 45° at ")
    assert result["max_tilt_rad"] > math.radians(45.0)  # the last tick of the log is before that
    assert result["diagnosis"]["cause"] == "push"
    text = "a push of 130 N to the left on torso from 3.00 to 3.10 s: it does not fall without that"
    assert result["diagnosis"]["text"] == text
    assert result["diagnosis"]["first_sign"].startswith("DCM error 6 cm at 3.17 s")
    assert "first sign: DCM error" in err
    assert "next    " in err
    assert result["reason"].count("a push of 130 N to the left on torso from 3.00 to 3.10 s") == 1
    assert "s, before the push of 5 N to the left on chest from 6.00 to 6.30 s" in err
    figures = ("end_error_m", "heading_error_rad", "specific_energetic_cost", "is_standing")
    assert [result[name] for name in figures] == [None, None, None, False]
    assert "distance of whole steps" in err
    assert "final pose" not in err
    held, fell = re.search(r"it does not fall with (\d+) N there and falls with (\d+) N", err).groups()
    assert 50 < int(held) < int(fell) < 130
    assert err.count("walked again with ") >= 5
    sign = float(re.search(r"first sign: .*? at (\d+\.\d\d) s", result["reason"])[1])
    assert err.index("pushed  130 N to the left on torso") < err.index("report  ")
    record = WalkRecord.read(RunFolder((tmp_path / result["report"]).parent))
    assert np.abs(record.log.times - sign).min() < 0.006  # the times of the log, rounded
    assert record.first_sign() == pytest.approx(sign, abs=0.006)
    assert record.pushes() == [(3.0, 3.1)]  # the walk has not seen the other one
    motion = Motion.read(record, load_robot("icub_v2_7"))
    assert (motion.times[0], motion.times[-1]) == pytest.approx((record.log.times[0], record.log.times[-1]), abs=0.04)
    assert motion.times[0] < 3.0 < sign < motion.times[-1]  # the push begins at 3 s of the same clock
    page = (tmp_path / result["report"]).read_text(encoding="utf-8")
    for part in (
        "<h1>iCub v2.7</h1>",
        "gradiva walk --robot icub_v2_7 --speed 0.19 --duration 2.5 --control position --model dcm",
        " --step-adaptation off --plant ideal",
        " --push torso,0,130,0,3,0.1",
        "push of 130 N to the left on torso",
        "after the fall: push of 5 N to the left on chest",
        result["diagnosis"]["advice"].replace("&", "&amp;"),
    ):
        assert part in page


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--push", "torso,0,30,0,60,0.1"), "push of 30 N to the left on torso from 60.00 to 60.10 s"),
        (("--fault", "frozen_imu,40"), "fault frozen_imu from 40.00 s on"),
    ],
)
def test_a_push_or_a_fault_after_the_end_of_the_walk_is_refused_before_it(gradiva, tmp_path, options, words):
    status, _, err = gradiva("walk", "--duration", "2", *options)
    assert status == 2
    assert re.fullmatch(rf"error: the {words} comes too late: the walk is planned to end at \d+\.\d s\n", err)
    assert list(tmp_path.iterdir()) == []


def test_a_robot_that_cannot_be_filmed_is_refused_before_it_walks(gradiva, monkeypatch, tmp_path):
    def refuse(robot, form):
        raise ModelError("mesh 'hand.obj': only STL or DAE meshes can be read, convert it to STL")

    monkeypatch.setattr("gradiva.cli.walk_session.check_film", refuse)
    status, _, err = gradiva("walk", "--record", "walk.mp4")
    assert (status, err) == (2, "error: mesh 'hand.obj': only STL or DAE meshes can be read, convert it to STL\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.walk
def test_a_disk_that_fills_up_keeps_the_figures_and_what_fits(gradiva, monkeypatch, tmp_path):
    with ExitStack() as disk:

        def walk_until_it_is_full(walk, command):
            stands = walk.run(0.5)
            disk.enter_context(full_at(50_000))
            return stands

        monkeypatch.setattr("gradiva.simulated_walk.SimulatedWalk.follow", walk_until_it_is_full)
        status, out, err = gradiva("walk", "--duration", "1", *PREPARED_SOON, "--json", "result.json")
    assert status == 1
    assert "Traceback" not in err
    assert "CoM error rms, max" in out
    (line,) = (line for line in out.splitlines() if line.startswith("not saved: "))
    assert re.fullmatch(r"not saved: runs/\S+/log.mat: File too large; runs/\S+/report.html: File too large", line)
    assert json.loads((tmp_path / "result.json").read_text())["report"] is None
    (run,) = (tmp_path / "runs").iterdir()
    assert {path.name for path in run.iterdir()} == {"config.toml", "result.json"}


@pytest.mark.walk
def test_an_interrupted_walk_writes_its_report_and_leaves_with_130(gradiva, monkeypatch, tmp_path):
    def interrupt(walk, command):
        walk.run(1.0)
        raise KeyboardInterrupt

    monkeypatch.setattr("gradiva.simulated_walk.SimulatedWalk.follow", interrupt)
    status, out, err = gradiva("walk", *PREPARED_SOON, "--json", "-")
    result = json.loads(out)
    assert status == 130
    assert result["outcome"] == "stopped"
    assert result["reason"].startswith("interrupted at ")
    assert (tmp_path / result["report"]).is_file()
    assert err.endswith("interrupted\n")


@pytest.mark.walk
def test_an_interrupted_search_for_the_cause_writes_the_report_and_leaves_with_130(gradiva, monkeypatch, tmp_path):
    walk_again = KnownWalk.with_settings

    def interrupt(known, settings):
        if "simulation.pushes" in settings:
            raise KeyboardInterrupt
        return walk_again(known, settings)

    monkeypatch.setattr(KnownWalk, "with_settings", interrupt)
    status, out, err = gradiva("walk", *FELLING_PUSH, "--json", "-")
    result = json.loads(out)
    assert (status, result["outcome"]) == (130, "fell")
    assert result["diagnosis"]["text"].endswith("from 1.00 to 1.20 s: it does not fall without that")
    assert "N: what was found until then is kept\n" in err
    assert "the search for the cause was interrupted after " in result["diagnosis"]["advice"]
    assert err.endswith("interrupted\n")
    (run,) = (tmp_path / "runs").iterdir()
    assert json.loads((run / "result.json").read_text())["outcome"] == "fell"


@pytest.mark.walk
def test_without_a_search_the_cause_is_the_measured_one_and_no_walk_follows(gradiva, monkeypatch):
    def refuse(*_):
        raise AssertionError("walks again")

    monkeypatch.setattr(KnownWalk, "without", refuse)
    monkeypatch.setattr(KnownWalk, "with_settings", refuse)
    status, out, err = gradiva("walk", *FELLING_PUSH, "--no-cause", "--json", "-")
    assert (status, json.loads(out)["outcome"]) == (1, "fell")
    assert "looks for the cause" not in err
    assert "--no-cause" in gradiva("walk", "--help")[1]
