"""Five processes walk as one."""

import numpy as np
import pytest

from gradiva.common import altered
from gradiva.middleware import SensorClass
from gradiva.planner import VelocityCommand
from gradiva.robot_model import IdynTreeModel, force_torque_mount
from gradiva.setup import load_setup
from gradiva.simulated_walk.running_application import WalkerInProcess
from gradiva.simulated_walk.simulated_walk import SimulatedWalk
from gradiva.simulated_walk.walk_score import com_error, rms_and_max
from gradiva.simulation import Push
from gradiva.telemetry import footprints
from gradiva.yarp_modules.simulator.body_sensors import BodySensors
from gradiva_experiments.shipped.application_walk import LIMIT, Timetable, com_error_figure, walk_as_application

# Towards the right foot, which is in the air and lands as soon as it can.
PUSH = Push("chest", (0.0, -80.0, 0.0), start=0.0, duration=0.1)
TABLE = Timetable(
    VelocityCommand(0.2), VelocityCommand(0.1, angular=0.1), 1.9, PUSH, balanced=1.0, turn=2.5, closed=3.0
)
SHORT_PREPARATION = "walking.prepare_duration=0.5"
MEASURED = ("com::position::measured", "left_foot::position::measured", "right_foot::position::measured")
UPRIGHT = tuple(f"hip_strategy.{way}=0.0" for way in ("forward", "backward", "sideways"))


class Listener:
    """Records the commands of a timetable."""

    def __init__(self):
        self.commands = []

    def __getattr__(self, name):
        return lambda *arguments: self.commands.append((name, *arguments))


def test_a_timetable_walks_is_pushed_walks_otherwise_pauses_and_stops():
    listener = Listener()
    TABLE.follow(listener)
    assert [word for word, *_ in listener.commands if word != "wait_until"] == [
        *("prepare", "start", "walk", "push", "walk", "pause", "stop")
    ]
    times = [time for word, *time in listener.commands if word == "wait_until"]
    assert times == sorted(times)
    assert times[1][0] - times[0][0] == pytest.approx(TABLE.duration)


def walk_in_process(*settings, by_sensors=False):
    walk = SimulatedWalk(load_setup("icub_v2_7", (SHORT_PREPARATION, *settings)))
    if by_sensors:
        walk.robot.read = read_by_sensors(walk)
    TABLE.follow(WalkerInProcess(walk))
    return walk.recorder.log


def read_by_sensors(walk):
    """Return the reading of a simulated robot over ports: its feet's sensors weigh what moves below them."""
    robot, read = walk.setup.robot, walk.robot.read
    model, sensors = IdynTreeModel(robot), BodySensors(robot, robot.ports, walk.robot.probes())
    feet = []
    for contact in robot.force_torque_sensors:
        server, sensor = robot.ports.sensor_of(contact.name)
        feet.append((server.name, server.sensors.index(sensor), force_torque_mount(model, sensor, contact)))

    def by_sensors():
        measurement = read()
        readings = sensors.read(measurement, walk.time, {server for server, *_ in feet})
        rows = []
        for server, index, mount in feet:
            rows.append(mount.ground_wrench(np.array(readings[server][SensorClass.FORCE_TORQUE][index].values)))
        return altered(measurement, contact_wrenches=np.array(rows))

    return by_sensors


def assert_same_walk(one, other, tolerance):
    assert len(other) == len(one), "one tick a sample"
    for name in MEASURED:
        np.testing.assert_allclose(other[name], one[name], atol=tolerance)
    steps = [[(each.side, *each.position[:2]) for each in footprints(log)] for log in (one, other)]
    assert [side for side, *_ in steps[0]] == [side for side, *_ in steps[1]]
    np.testing.assert_allclose([place for _, *place in steps[1]], [place for _, *place in steps[0]], atol=tolerance)


@pytest.mark.long
@pytest.mark.walk
def test_by_the_sensors_of_its_feet_an_upright_robot_walks_as_by_the_grounds_wrenches():
    # They weigh what moves below them: the wrenches differ by some newtons, and a sole counts as one in the air
    # by its load, some ticks earlier or later. One that tilts hops from this push: 0.01 N ahead moves it by 2 cm.
    assert_same_walk(walk_in_process(*UPRIGHT), walk_in_process(*UPRIGHT, by_sensors=True), 3e-3)


@pytest.mark.long
@pytest.mark.walk
def test_five_processes_in_lockstep_walk_and_step_aside_from_a_push_as_one():
    one = walk_in_process(by_sensors=True)
    options = f"gradiva-whole-body=--set robot_io.wrenches=sensors --set {SHORT_PREPARATION}"
    five = walk_as_application("icub_v2_7", "lockstep", TABLE, options)
    assert_same_walk(one, five.log, 1e-9)
    errors = [rms_and_max(com_error(log)[1]) for log in (one, five.log)]
    assert errors[1]["rms"] < LIMIT * errors[0]["rms"]
    assert errors[1]["max"] < LIMIT * errors[0]["max"]
    assert five.status["adaptations"] > 0
    assert (five.status["state"], five.status["safety_events"]) == ("stopped", 0)
    assert [module["exit_status"] for module in five.result["modules"]] == [0] * 5
    (axis,) = com_error_figure({"icub_v2_7": {"one process": one, "lockstep": five.log}}).axes
    assert [line.get_label() for line in axis.lines] == ["one process", "lockstep"]
