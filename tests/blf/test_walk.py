"""Walks whose layer 3 is solved in another process, which may die; machines without the framework."""

import math
import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

from gradiva.blf import BackendError, BackendLost, BackendRefusal, WorkerProcess, process
from gradiva.cli.main import run
from gradiva.common import GRAVITY, ConfigError, ControlMode, JointCommand
from gradiva.planner import VelocityCommand
from gradiva.reduced_model import CentroidalState
from gradiva.reduced_model.blf_mpc import shifted_state
from gradiva.setup import load_setup
from gradiva.simplified_model import balance_layer
from gradiva.simulated_walk import plan_from_start
from gradiva.simulated_walk.simulated_walk import SimulatedWalk
from gradiva.simulated_walk.walking_recorder import torque_signals
from gradiva.walking import WalkingState
from tests.blf.recorded_problems import kinematic_numbers, kinematic_problem, recorded
from tests.reduced_model.test_centroidal_layer import PERIOD, SETUP, balance_plan, state_on

BACKED = {"whole_body.backend": "blf", "walking.prepare_duration": 0.5}
BY_MPC = {"walking.model": "centroidal_mpc", "centroidal_walking.backend": "blf"}
BY_TORQUE = {"walking.control": "torque", "torque_control.law": "rigid"}
MPC_DIFFERENCE = 0.015  # [m] of the ZMPs of both MPCs: by forward Euler and whole periods 0.011 on the plan


def walk_of(python, overrides=(), observers=()):
    setup = load_setup("icub_v2_7", {**BACKED, "blf.python": python, **dict(overrides)})
    return SimulatedWalk(setup, observers=observers)


def walked(walk, duration, at_end=1.0):
    walk.get_ready()
    walk.follow(VelocityCommand(0.15, duration=duration), at_end)
    return walk


@pytest.mark.walk
@pytest.mark.parametrize("control", [{}, pytest.param(BY_TORQUE, marks=pytest.mark.long)], ids=["position", "torque"])
def test_a_walk_whose_worker_is_killed_finishes_its_step_and_stands(stand_in, control):
    killed = []

    def kill(walk):
        if walk.time > 4.0 and not killed:
            killed.append(walk.layers.whole_body.backed.worker.pid)
            os.kill(killed[0], signal.SIGKILL)

    walk = walked(walk_of(stand_in, control, (kill,)), 6.0)
    worker = walk.layers.whole_body.backed.worker
    assert killed
    assert walk.robot.fall is None
    assert walk.controller.state is WalkingState.STOPPED
    assert "the worker has died" in walk.controller.reason
    assert [str(event.finding.kind) for event in walk.controller.safety_events] == ["stale_reference"]
    assert worker.pid != killed[0]
    limits = walk.layers.torque_limits
    signals = torque_signals(JointCommand(ControlMode.TORQUE, limits), limits, walk.layers.whole_body)
    assert signals == {"torque_control::saturated_joints": len(limits)}
    assert worker.timeout > 10.0  # [s] a simulation waits
    walk.layers.answer_in_time()
    assert worker.timeout == process.TICK_LIMIT


@pytest.mark.walk
def test_a_robot_that_stands_by_torque_goes_on_standing_when_its_worker_dies(stand_in):
    walk = walk_of(stand_in, BY_TORQUE)
    walk.get_ready(0.1)
    assert walk.layers.whole_body.warning == ""
    os.kill(walk.layers.whole_body.backed.worker.pid, signal.SIGKILL)
    walk.tick()
    assert "the worker has died" in walk.layers.whole_body.warning
    walk.run(0.3)
    assert walk.robot.fall is None
    assert walk.controller.qp_failures == 0


@pytest.mark.walk
@pytest.mark.long
def test_a_walk_by_position_goes_on_to_its_end(stand_in):
    walk = walked(walk_of(stand_in), 4.0)
    assert walk.controller.state is WalkingState.PAUSED
    assert walk.controller.qp_failures == 0
    assert walk.layers.whole_body.warning == ""
    assert walk.log.own["own::whole_body::round_trip"] > 0.0


def test_the_other_mpc_agrees_with_ours_and_while_its_worker_is_away_the_instantaneous_law_balances(stand_in):
    setup = load_setup("icub_v3", {**BY_MPC, "blf.python": stand_in})
    layer, own = (balance_layer(each.walking.balance, SETUP.robot) for each in (setup, SETUP))
    alone = balance_layer(load_setup("icub_v3").walking.balance, SETUP.robot)
    plan, found = plan_from_start(SETUP, VelocityCommand(0.15, duration=4.0)), {}
    time = 0.5 * (plan.steps[3].lift_off + plan.steps[3].touch_down)
    for lead in (0.0, 0.02):
        now = balance_plan(plan, time + lead)
        state = state_on(now.reference, (0.01, 0.0))
        for each in (layer, own):
            found[each] = each.update(state, now, time + lead, PERIOD).zmp_position
        np.testing.assert_allclose(found[layer], found[own], atol=MPC_DIFFERENCE)
    solution, tolerated = layer.law.solution, setup.walking.balance.law.mpc.tolerated_failures
    np.testing.assert_allclose(solution.com_positions[0], state.com_position)
    os.kill(layer.law.mpc.worker.pid, signal.SIGKILL)
    for decision in range(1, 2 + tolerated):
        now = balance_plan(plan, time + 0.02 + 0.02 * decision)
        state = state_on(now.reference, (0.01, 0.0))
        assert layer.warning == ""
        zmp = layer.update(state, now, now.reference.time, PERIOD).zmp_position
    assert "the worker has died" in layer.warning
    assert layer.failures == 1 + tolerated
    np.testing.assert_array_equal(zmp, alone.update(state, now, now.reference.time, PERIOD).zmp_position)


def test_an_external_wrench_shifts_the_com_that_the_other_mpc_is_asked_about():
    com = np.array([0.02, 0.01, 0.6])
    state = CentroidalState(com, np.zeros(3), np.zeros(3), np.zeros((2, 3)))
    shift = shifted_state(state, np.array([30.0, -10.0, 5.0, 0.0, 0.0, 0.0]), 40.0).com_position - com
    np.testing.assert_allclose(shift, 0.6 / (40.0 * GRAVITY) * np.array([30.0, -10.0, 0.0]))


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
        WorkerProcess(sys.executable, {"kind": "ik", "size": 0})


def test_answers_of_another_size_or_that_are_not_finite_are_refused_before_they_are_integrated(stand_in, monkeypatch):
    record = recorded("ik")
    worker = WorkerProcess(stand_in, kinematic_problem(record, record["cases"]["tight_limits"]))
    for answer, why in ((np.full(29, np.nan), "numbers that are not finite"), (np.zeros(3), "24 bytes in place of 29")):
        monkeypatch.setattr(worker, "_receive", lambda timeout, answer=answer: answer.tobytes())
        with pytest.raises(BackendRefusal, match=why):
            worker.solve(np.zeros(3))
    worker.close()


def test_a_late_worker_and_a_restart_that_hangs_are_given_up(stand_in, monkeypatch):
    record = recorded("ik")
    case = record["cases"]["tight_limits"]
    numbers = kinematic_numbers(case["samples"][0], case)
    worker = WorkerProcess(stand_in, kinematic_problem(record, case), timeout=0.05)
    os.kill(worker.pid, signal.SIGSTOP)
    late = worker.pid
    with pytest.raises(BackendLost, match=r"no answer for 0\.05 s"):
        worker.solve(numbers)
    restarted = worker.pid
    os.kill(restarted, signal.SIGSTOP)
    monkeypatch.setattr(process, "_START_TIMEOUT", 0.0)
    with pytest.raises(BackendLost, match="no problem for 0 s after a restart"):
        worker.solve(numbers)
    assert len({late, restarted, worker.pid}) == 3
    worker.close()


def test_another_interpreter_does_not_get_the_paths_of_this_one(monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    monkeypatch.setenv("PYTHONHOME", "/elsewhere")
    assert process._environment(Path(sys.executable))["PYTHONPATH"] == "/somewhere"
    assert not {"PYTHONPATH", "PYTHONHOME"} & set(process._environment(tmp_path / "python"))


def test_the_way_to_the_worker_and_back_is_what_a_solution_takes_beyond_the_framework(stand_in):
    record = recorded("ik")
    case = record["cases"]["tight_limits"]
    worker = WorkerProcess(stand_in, kinematic_problem(record, case))
    assert math.isnan(worker.median_overhead)
    ways = []
    for _ in range(5):
        worker.solve(kinematic_numbers(case["samples"][0], case))
        ways.append(worker.round_trip - worker.own_time)
    assert list(worker.overheads) == ways
    assert min(ways) > 0.0
    assert worker.median_overhead == np.median(ways)
