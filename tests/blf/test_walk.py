"""Walks whose layer 3 is solved in another process, which may die; machines without the framework."""

import os
import signal
import sys

import numpy as np
import pytest

from gradiva.blf import BackendError, WorkerProcess
from gradiva.cli.main import run
from gradiva.common import ConfigError, NoSolutionFound
from gradiva.planner import VelocityCommand
from gradiva.setup import load_setup
from gradiva.simulated_walk.simulated_walk import SimulatedWalk
from gradiva.walking import WalkingState
from tests.blf.recorded_problems import kinematic_numbers, kinematic_problem, recorded

BACKED = {"whole_body.backend": "blf", "walking.prepare_duration": 0.5}
BY_TORQUE = {"walking.control": "torque", "torque_control.law": "rigid"}


def walk_of(python, overrides=()):
    return SimulatedWalk(load_setup("icub_v2_7", {**BACKED, "blf.python": python, **dict(overrides)}))


def walked(walk, duration, at_end=1.0):
    walk.get_ready()
    walk.follow(VelocityCommand(0.15, duration=duration), at_end)
    return walk


@pytest.mark.walk
def test_a_walk_by_position_whose_worker_is_killed_finishes_its_step_and_stands(stand_in):
    walk = walk_of(stand_in)
    worker, killed = walk.layers.whole_body.backed.worker, []

    def kill(walk):
        if walk.time > 4.0 and not killed:
            killed.append(worker.pid)
            os.kill(worker.pid, signal.SIGKILL)

    walk._observers = (kill,)
    walked(walk, 6.0)
    assert killed
    assert walk.robot.fall is None
    assert walk.controller.state is WalkingState.STOPPED
    assert "the worker has died" in walk.controller.reason
    assert [str(event.finding.kind) for event in walk.controller.safety_events] == ["stale_reference"]
    assert worker.pid != killed[0]


@pytest.mark.walk
@pytest.mark.long
def test_a_walk_by_position_goes_on_to_its_end(stand_in):
    walk = walked(walk_of(stand_in), 4.0)
    assert walk.controller.state is WalkingState.PAUSED
    assert walk.controller.qp_failures == 0
    assert walk.layers.whole_body.warning == ""
    assert walk.log.own["own::whole_body::round_trip"] > 0.0


@pytest.mark.walk
@pytest.mark.long
def test_a_walk_by_torque_goes_on_to_its_end(stand_in):
    walk = walked(walk_of(stand_in, BY_TORQUE), 3.0)
    assert walk.controller.state is WalkingState.PAUSED
    assert walk.controller.qp_failures == 0


def test_soft_ground_is_refused_by_name(stand_in):
    soft = {"walking.control": "torque", "torque_control.ground": "compliant"}
    with pytest.raises(ConfigError, match=r"backend=blf knows rigid ground and rigid links"):
        walk_of(stand_in, soft)


def test_a_machine_without_the_framework_exits_with_one_line_that_says_what_to_install(monkeypatch, capsys, tmp_path):
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    assert run(["walk", "--set", "whole_body.backend=blf", "--out", str(tmp_path)]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "bipedal-locomotion-framework is not installed" in line
    assert "environment.yml" in line


def test_an_interpreter_without_the_framework_is_named(monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    with pytest.raises(BackendError, match=r"has no (manifpy|bipedal_locomotion_framework): mamba env create"):
        WorkerProcess(sys.executable, {"kind": "ik"})


def test_an_answer_that_is_not_finite_is_refused_before_it_is_integrated(stand_in, monkeypatch):
    record = recorded("ik")
    worker = WorkerProcess(stand_in, kinematic_problem(record, record["cases"]["tight_limits"]))
    monkeypatch.setattr(worker, "_receive", lambda timeout: np.array([0.1, np.nan]).tobytes())
    with pytest.raises(NoSolutionFound, match="numbers that are not finite"):
        worker.solve(np.zeros(3))
    worker.close()


def test_the_way_to_the_worker_and_back_is_short(stand_in):
    record = recorded("ik")
    case = record["cases"]["tight_limits"]
    worker = WorkerProcess(stand_in, kinematic_problem(record, case))
    for _ in range(300):
        worker.solve(kinematic_numbers(case["samples"][0], case))
    assert sorted(worker.overheads)[30] <= 150e-6  # [s] the machine of the tests has other work: a tenth of them
