"""Sensors of a foot that die at moments of a stride: which walks that are, and how robots that stand are counted."""

from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import PlanningError, Side
from gradiva.planner import VelocityCommand
from gradiva.setup import Plant
from gradiva.walking import WalkingState
from gradiva_experiments import ExperimentOptions, Trial, find_experiment
from gradiva_experiments.shipped.dead_sensor import Death, DyingKind, WalkWithDyingSensors, deaths
from tests.conftest import description_of
from tests.gradiva_experiments.fake_pool import ImmediatePool


def test_moments_lie_evenly_in_the_stride_that_begins_with_the_second_step():
    steps = [SimpleNamespace(lift_off=time) for time in (3.0, 4.0, 4.8, 5.6)]
    walk = WalkWithDyingSensors.__new__(WalkWithDyingSensors)
    walk._count, walk.walk = 16, SimpleNamespace(controller=SimpleNamespace(plan=SimpleNamespace(steps=steps)))
    times = list(walk._moments().values())
    np.testing.assert_allclose(times, np.arange(4.05, 5.6, 0.1))
    del steps[3]
    with pytest.raises(PlanningError, match="the walk has 3 steps, 4 are needed"):
        walk._moments()


class DyingPool(ImmediatePool):
    """Robots that fall at the first moment, or at the first two, and so on; no death is named at the eighth."""

    def value(self, job):
        robots = list(dict.fromkeys((each.trial.robot, each.ways.way.kind) for each in self.trials))
        moment = int(job.moment)
        outcome = {
            "stands": moment >= len(robots),
            "is_named": moment != 7,
            "reason": "base tilt at 6.00 s",
            "events": [],
            "time_s": 6.0,
        }
        return {"outcome": outcome, "time": 4.0 + 0.1 * moment, "failure": ""}


def test_feet_take_turns_and_one_fall_of_twenty_is_allowed(tmp_path):
    options = ExperimentOptions(robots=("g1", "talos"), plants=(Plant.ROBOT,))
    experiment = find_experiment("dead_sensor")
    run = experiment.start(options, tmp_path, pool := DyingPool(), lambda done, total, text: None)
    experiment.run(run)
    assert {job.trial.plant for job in pool.trials} == {Plant.ROBOT}
    assert [job.ways.way.subject for job in pool.trials[:20]] == [*Side] * 10
    found = [(row["robot"], row["sensor"], row["value"], row["needed"], row["outcome"]) for row in run.rows[:3]]
    assert found == [
        ("g1", "foot", 19, 19, "met"),
        ("talos", "foot", 18, 19, "missed"),
        ("g1", "gyroscope", 17, 19, "missed"),
    ]
    assert run.rows[0]["reason"] == "foot left at 4.00 s: base tilt at 6.00 s"
    assert run.rows[0]["unnamed"] == ["foot right"]
    assert [fall["died"] for fall in run.rows[1]["falls"]] == ["foot left", "foot right"]
    assert len(run.rows) == 6


@pytest.mark.parametrize(
    ("death", "kinds", "names"),
    [
        (Death(DyingKind.FOOT, "left"), ["dead_wrench"] * 2, ["l_foot_front_ft", "l_foot_rear_ft"]),
        (Death(DyingKind.GYROSCOPE), ["dead_gyroscope"], [""]),
        (Death(DyingKind.VELOCITY, "l_knee"), ["dead_velocity"], ["l_knee"]),
    ],
    ids=str,
)
def test_what_dies_is_a_fault_of_the_simulator(death, kinds, names):
    robot = description_of("icub_v3")
    faults = death.faults(robot, 4.0)
    assert ([fault.kind for fault in faults], sorted(fault.name for fault in faults)) == (kinds, names)
    event = SimpleNamespace(subject=death.subject or "IMU")
    assert (death.is_named(robot, [event]), death.is_named(robot, [])) == (True, False)


def test_velocities_of_all_joints_of_both_legs_die_in_turn():
    robot = description_of("icub_v3")
    died = [death.subject for death in deaths(DyingKind.VELOCITY, robot, 20)]
    assert died[:3] == ["l_hip_pitch", "r_hip_pitch", "l_hip_roll"]
    assert set(died) == {joint for side in Side for joint in robot.joint_groups[f"{side}_leg"].joints}


@pytest.mark.walk
def test_a_robot_whose_sensors_die_is_watched_until_it_has_stopped_and_stood():
    forked = WalkWithDyingSensors(Trial("icub_v2_7", VelocityCommand(0.2, duration=10.0)), 2)
    died = forked.advance("0")
    outcome = forked.continued(Death(DyingKind.FOOT, "left"))
    walk = forked.walk
    (event,) = walk.controller.safety_events
    assert (outcome["stands"], outcome["is_named"], outcome["events"]) == (True, True, [event.text])
    assert event.subject in ("left", "l_foot_ft")
    assert walk.controller.state is WalkingState.STOPPED
    assert died + 2.0 < outcome["time_s"] < died + 6.0
