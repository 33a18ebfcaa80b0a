"""The simulator by its ports, as a controller sees them."""

from __future__ import annotations

import time

import numpy as np
import pytest

from gradiva.common import ConfigError
from gradiva.middleware import as_items, yarp
from gradiva.setup import load_setup
from gradiva.yarp_modules.module_options import parse_options
from gradiva.yarp_modules.robot.sensors import FlexibleJointsPort
from gradiva.yarp_modules.simulator import SimulatedWorld
from gradiva.yarp_modules.simulator.simulator_module import Simulator
from gradiva.yarp_modules.simulator.simulator_ports import SimulatorPorts
from tests.waiting import wait_until
from tests.yarp_modules.simulator.conftest import posture_of

LEG = ("l_hip_pitch", "l_hip_roll", "l_hip_yaw", "l_knee", "l_ankle_pitch", "l_ankle_roll")
AT_ONCE = ("--lockstep", "--paused", "--speed", "0")  # no time passes but what a test lets pass


class Board:
    """A remapped client of some joints."""

    def __init__(self, joints=LEG, boards=("/icubSim/left_leg",)):
        config = yarp.Property()
        config.fromString(
            f"(device remotecontrolboardremapper) (axesNames ({' '.join(joints)})) "
            f"(remoteControlBoards ({' '.join(boards)})) (localPortPrefix /test)"
        )
        self.number = len(joints)
        self.driver = yarp.PolyDriver()
        assert self.driver.open(config)
        self.modes = self.driver.viewIControlMode()
        self.encoders = self.driver.viewIEncodersTimed()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.close()

    def enter(self, mode):
        for joint in range(self.number):
            assert self.modes.setControlMode(joint, mode)

    def sample(self, since=-1.0):
        """Return positions [deg] and time [s] of the first sample after ``since``."""
        positions, times = yarp.DVector(self.number), yarp.DVector(self.number)

        def is_new():
            return self.encoders.getEncodersTimed(positions, times) and min(times) > since

        wait_until(is_new, f"a sample after {since} s")
        return np.array(list(positions)), min(times)


@pytest.fixture
def reader():
    """Connect readers to ports."""
    ports = []

    def connect(source, kind=yarp.BufferedPortBottle):
        port = kind()
        assert port.open(f"/reader{len(ports)}")
        assert yarp.Network.connect(source, f"/reader{len(ports)}", "", True)
        ports.append(port)
        return port

    yield connect
    for port in ports:
        port.close()


def read(port):
    """Return the next message and its time."""
    messages = []
    wait_until(lambda: (message := port.read(False)) is not None and not messages.append(message), "a message")
    stamp = yarp.Stamp()
    port.getEnvelope(stamp)
    return messages[0], stamp.getTime()


def test_a_leg_is_driven_in_every_mode_and_its_settings_are_read_back(simulator):
    running = simulator(*AT_ONCE)
    with Board() as leg:
        start, _ = leg.sample()
        assert start[3] == pytest.approx(running.module._world.parts["left_leg"].read().joint_position[3])
        follow_a_trajectory(running, leg, start)
        follow_positions(running, leg, start)
        follow_velocities_and_torques(running, leg)
        read_back_the_settings(leg)


@pytest.mark.parametrize(("mode", "age"), [((), 0.004), (("--lockstep",), 0.0)])
def test_stamps_are_of_the_instant_at_which_a_sensor_was_sampled_but_in_lockstep(simulator, reader, mode, age):
    running = simulator("--paused", "--speed", "0", "--set", "simulation.sensors.wrenches.delay=0.004", *mode)
    wrenches = reader("/wholeBodyDynamics/left_foot/cartesianEndEffectorWrench:o", yarp.BufferedPortVector)
    running.ask("advance 0.2")
    with Board() as leg:
        assert leg.sample(0.19)[1] == pytest.approx(0.2)
    times = []
    wait_until(lambda: times.append(read(wrenches)[1]) or times[-1] > 0.19, "a wrench of the end")
    assert times[-1] == pytest.approx(0.2 - age)


def follow_a_trajectory(running, leg, start):
    position = leg.driver.viewIPositionControl()
    assert position.setRefSpeed(2, 20.0)
    assert position.positionMove(2, start[2] + 2.0)
    running.ask("advance 0.5")
    moved, when = leg.sample(0.49)
    assert moved[2] == pytest.approx(start[2] + 2.0, abs=0.5)
    assert when == pytest.approx(0.5)
    is_done = yarp.BVector(1)
    assert position.checkMotionDone(2, is_done)
    assert is_done[0]


def follow_positions(running, leg, start):
    leg.enter(yarp.VOCAB_CM_POSITION_DIRECT)
    goal = start.copy()
    goal[3] -= 3.0
    assert leg.driver.viewIPositionDirect().setPositions(yarp.DVector(goal.tolist()))
    wait_until(lambda: running.module._world.parts["left_leg"].commands, "the command arrives")
    running.ask("advance 0.01")
    leg.enter(yarp.VOCAB_CM_POSITION)
    running.ask("advance 0.3")
    assert leg.sample(0.8)[0][3] == pytest.approx(start[3] - 3.0, abs=1.0)


def follow_velocities_and_torques(running, leg):
    assert leg.modes.setControlMode(5, yarp.VOCAB_CM_VELOCITY)
    assert leg.driver.viewIVelocityControl().velocityMove(5, 3.0)
    assert leg.modes.setControlMode(4, yarp.VOCAB_CM_TORQUE)
    torque = leg.driver.viewITorqueControl()
    before = yarp.DVector(1)
    assert torque.getTorque(4, before)
    assert torque.setRefTorque(4, before[0])
    wait_until(lambda: running.module._world.parts["left_leg"].commands >= 3, "the commands arrive")
    running.ask("advance 0.01")
    torques = yarp.DVector(6)
    leg.sample(0.815)
    assert torque.getTorques(torques)
    assert torques[4] == pytest.approx(before[0], abs=1e-6)
    modes = yarp.IVector(6)
    assert leg.modes.getControlModes(modes)
    assert (modes[5], modes[4]) == (yarp.VOCAB_CM_VELOCITY, yarp.VOCAB_CM_TORQUE)
    assert modes[0] == yarp.VOCAB_CM_POSITION


def read_back_the_settings(leg):
    """Read interaction modes, gains and limits back."""
    interaction = leg.driver.viewIInteractionMode()
    assert interaction.setInteractionMode(0, yarp.VOCAB_IM_COMPLIANT)
    pids = yarp.PidVector(1)
    assert leg.driver.viewIPidControl().getPid(yarp.encode("pos"), 3, pids)
    assert pids[0].kp == pytest.approx(np.radians(3000.0))  # robot.toml
    lower, upper = yarp.DVector(1), yarp.DVector(1)
    assert leg.driver.viewIControlLimits().getLimits(3, lower, upper)
    assert (lower[0], upper[0]) == pytest.approx((-124.0, 4.0), abs=1.0)


def test_sensors_ground_wrenches_and_base_are_published_with_the_simulated_time(simulator, reader):
    running = simulator(*AT_ONCE)
    names = ("/icubSim/left_leg/FT/measures:o", "/icubSim/xsens_inertial/measures:o", "/icubSim/floating_base/state:o")
    sensors = [reader(name) for name in names]
    feet = [
        reader(f"/wholeBodyDynamics/{side}_foot/cartesianEndEffectorWrench:o", yarp.BufferedPortVector)
        for side in ("left", "right")
    ]
    wait_until(lambda: len(running.module._ports._listeners._with_listeners) == 5, "all listeners are noticed")
    running.ask("advance 0.05")
    readings = []
    for port in sensors:
        message, when = read(port)
        while when < 0.05:
            message, when = read(port)
        readings.append(as_items(message))
    forces = readings[0][5]
    assert len(forces) == 2
    assert np.linalg.norm(forces[1][0][:3]) == pytest.approx(157.0, abs=15.0)
    assert np.linalg.norm(readings[1][1][0][0]) == pytest.approx(9.81, abs=0.1)
    assert len(readings[2]) == 18
    assert readings[2][2] == pytest.approx(0.6, abs=0.05)
    weights = []
    for port in feet:
        vector, when = read(port)
        while when < 0.05:
            vector, when = read(port)
        weights.append(vector.get(2))
    assert sum(weights) == pytest.approx(33.06 * 9.81, rel=0.02)


def test_a_push_moves_the_base_and_the_clock_sends_seconds_and_nanoseconds(simulator, reader):
    running = simulator(*AT_ONCE)
    clock = reader("/clock")
    wait_until(lambda: running.module._ports._listeners.has_listeners("/clock"), "the listener is noticed")
    assert as_items(read(clock)[0]) == [0, 0]
    push_the_chest(running)
    running.ask("advance 1.15")
    latest = []
    wait_until(lambda: latest.append(as_items(read(clock)[0])) or latest[-1] == [1, 250_000_000], "the clock")
    assert all(isinstance(number, int) for number in latest[-1])


def push_the_chest(running):
    port = yarp.RpcClient()
    assert port.open("/pushing")
    assert yarp.Network.connect("/pushing", "/icubSim/applyExternalWrench/rpc:i")
    assert "[ERROR]" in running.ask("nolink 0 1 0 0 0 0 1", port)[0]
    assert running.ask("chest 0 60 0 0 0 0 0.2", port)[0].startswith("[ACK] ")
    before = running.module._world.truth().base_twist[1]
    running.ask("advance 0.1")
    assert running.module._world.truth().base_twist[1] > before + 0.02
    port.close()


def test_lockstep_waits_for_the_controller_and_logs_its_silence(simulator, caplog):
    running = simulator("--lockstep", "--paused", "--timeout", "1.5")
    with Board() as leg:
        leg.enter(yarp.VOCAB_CM_POSITION_DIRECT)
        assert running.status()["streaming"] == ["left_leg"]
        running.ask("advance 0.01")  # a board counts from the next sample on
        positions, _ = leg.sample(0.005)
        direct = leg.driver.viewIPositionDirect()
        running.ask("resume")
        for tick in range(1, 6):
            assert running.status()["time"] == pytest.approx(0.01 * tick)
            assert direct.setPositions(yarp.DVector(positions.tolist()))
            leg.sample(0.01 * tick + 0.005)
        wait_until(lambda: "no command for left_leg within 1.5 s" in caplog.text, "the silence is readings")
        leg.sample(0.1)  # time goes on without it


def test_in_lockstep_the_first_sample_after_a_stall_of_all_sensors_waits_for_its_answer_as_each_other(simulator):
    running = simulator(*AT_ONCE, "--timeout", "60")
    with Board() as leg:
        leg.enter(yarp.VOCAB_CM_POSITION_DIRECT)
        running.ask("advance 0.01")
        positions, _ = leg.sample(0.005)
        running.ask("fault silence 0.3")
        running.ask("resume")
        assert leg.driver.viewIPositionDirect().setPositions(yarp.DVector(positions.tolist()))
        _, when = leg.sample(0.015)
        assert when == pytest.approx(0.31)
        assert running.status()["time"] == pytest.approx(0.31)


def run_in_lockstep(simulator):
    running = simulator(*AT_ONCE, "--timeout", "60", "--plant", "robot")
    assert running.status()["plant"] == "robot"
    seen = []
    with Board() as leg:
        leg.enter(yarp.VOCAB_CM_POSITION_DIRECT)
        running.ask("advance 0.01")  # a board counts from the next sample on
        positions, when = leg.sample(0.005)
        direct = leg.driver.viewIPositionDirect()
        running.module._pause._until = 0.21  # as advance, without waiting for it
        for _ in range(20):
            goal = positions + 10.0 * when * np.eye(6)[2]
            assert direct.setPositions(yarp.DVector(goal.tolist()))
            sample, when = leg.sample(when)
            seen.append((when, sample.tolist()))
    running.stop()
    return seen


def test_two_lockstep_runs_are_equal_to_the_last_digit(simulator):
    first = run_in_lockstep(simulator)
    assert len(first) == 20
    assert first == run_in_lockstep(simulator)


def test_real_time_passes_at_the_speed_and_a_fall_ends_nothing(simulator, caplog):
    running = simulator("--speed", "4")
    started, begin = time.monotonic(), running.status()["time"]  # in this order: the bound holds on a busy machine
    assert running.ask("push chest 0 400 0 0 0 0 1.0")[0].startswith("[ACK]")
    wait_until(lambda: running.status()["state"] == "fallen", "the robot falls")
    passed = running.status()["time"] - begin
    assert 0.2 < passed < 4.4 * (time.monotonic() - started) + 0.1
    wait_until(lambda: "the robot fell after" in caplog.text, "the module says so")  # after the status, once an update
    assert running.ask("reset")
    wait_until(lambda: running.status()["state"] == "running", "it stands again")


def test_commands_in_the_wrong_place_are_refused_with_the_reason(simulator):
    running = simulator("--speed", "0.1")
    assert running.ask("advance 1")[1] == "time passes; pause comes first"
    assert running.ask("advance")[1] == "expected: advance SECONDS"
    assert "no command" in running.ask("jump")[1]
    assert "[ERROR] expected:" in running.ask("push chest 1")[0]
    assert any("applies" in line or "push link" in line for line in running.ask("help")[1:])


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--speed", "-1"], "--speed -1.0: expected a factor"),
        (["--speed", "fast"], "--speed fast: expected a number"),
        (["--pose", "1 2"], "--pose '1 2': expected 'x y yaw'"),
        (["--set", "simulation.timestep=1.0"], "timestep=1.0"),
        (["--plant", "robto"], "unknown plant 'robto'; did you mean 'robot'"),
    ],
)
def test_wrong_options_are_refused_with_the_reason(arguments, reason):
    with pytest.raises(ConfigError, match=reason.replace("(", "[(]")):
        Simulator(parse_options(["--robot", "icub_v2_7", *arguments], "gradiva-simulator", "", Simulator.OPTIONS))


def test_the_robot_stands_where_it_is_put():
    options = parse_options(["--robot", "icub_v2_7", "--pose", "2 -1 90"], "gradiva-simulator", "", Simulator.OPTIONS)
    truth = Simulator(options)._world.truth()
    middle = 0.5 * (truth.left_foot_position + truth.right_foot_position)
    np.testing.assert_allclose(middle[:2], [2.0, -1.0], atol=1e-6)
    assert truth.left_foot_rotation[1, 0] == pytest.approx(1.0, abs=1e-3)


def test_true_deflections_come_over_a_port_and_in_the_status(network):
    setup = load_setup("talos", {"simulation.flexibility.stiffness": 1e3})
    world = SimulatedWorld(setup.robot, setup.simulation, posture_of("talos"))
    world.push("torso_2_link", (0.0, 150.0, 0.0), (0.0, 0.0, 0.0), 0.2)
    world.advance(0.2)
    ports, port = SimulatorPorts(world, world.push), FlexibleJointsPort("/talosSim/flexible_joints/state:o")
    ports.open()
    port.open("/controller", "tcp")
    sample = world.sample()
    wait_until(lambda: ports.publish(sample) or port.read() is not None, "a message")
    found, truth = port.read(), world.truth()
    assert set(found.stiffness.values()) == {1e3}
    assert next(iter(found.stiffness)) == "leg_left_1_joint_roll"
    motion = truth.flexible_positions, truth.flexible_velocities, truth.flexible_torques
    np.testing.assert_allclose(found.motion, motion, rtol=1e-12)
    assert np.abs(found.motion[0]).max() > 5e-3
    port.close()
    ports.close()
