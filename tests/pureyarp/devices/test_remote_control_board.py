"""The client of a control board with our server at the other end."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from pureyarp.data.vectors import BVector, DVector, IVector
from pureyarp.devices.control_board_messages import CommandKind, JointData
from pureyarp.devices.control_board_protocol import ControlMode, InteractionMode, PidType
from pureyarp.devices.device_servers import ControlBoardServer
from pureyarp.devices.poly_driver import PolyDriver
from pureyarp.devices.settings_views import Pid, PidVector
from pureyarp.network.network import Network
from pureyarp.network.peers import request
from pureyarp.network.settings import current_settings, use_settings
from pureyarp.wire.binary import DATA
from pureyarp.wire.elements import WireFamily
from tests.middleware.fake_board import IntegratingBoard
from tests.waiting import TIMEOUT, wait_until

FAMILIES = [WireFamily.YARP_3, WireFamily.YARP_4]
NAME = "/robot/arm"


@pytest.fixture
def serve(names) -> Iterator[Callable[..., ControlBoardServer]]:
    servers: list[ControlBoardServer] = []

    def serve(device: IntegratingBoard, name: str = NAME) -> ControlBoardServer:
        servers.append(ControlBoardServer(name, device, 0.01))
        servers[-1].open()
        return servers[-1]

    yield serve
    for server in servers:
        server.close()


@pytest.fixture(params=FAMILIES, ids=lambda family: f"family {family.value}")
def family(request, names) -> WireFamily:
    """Let the process speak either family."""
    use_settings(replace(current_settings(), family=request.param))
    return request.param


@pytest.fixture
def device() -> IntegratingBoard:
    return IntegratingBoard(3)


@pytest.fixture
def driver(family, serve, device, opened) -> PolyDriver:
    serve(device)
    driver = opened("remote_controlboard", local="/client", remote=NAME)
    assert driver.isValid()
    wait_until(lambda: driver.viewIEncoders().getEncoders(DVector(3)))
    return driver


def read(getter: Callable[..., bool], *arguments: object, size: int = 1) -> list[float]:
    data = DVector(size)
    assert getter(*arguments, data)
    return list(data)


def test_positions_come_with_their_time(driver, device):
    before = time.time()
    device.position[:] = [1.0, -2.0, 3.0]
    encoders = driver.viewIEncodersTimed()
    data, times = DVector(3), DVector(3)
    wait_until(lambda: encoders.getEncodersTimed(data, times) and list(data) == [1.0, -2.0, 3.0])
    assert all(before - 1.0 <= one <= time.time() for one in times)
    assert encoders.getEncoder(1) == -2.0
    assert encoders.getAxes() == 3
    one, at = DVector(1), DVector(1)
    assert encoders.getEncoderTimed(2, one, at)
    assert list(one) == [3.0]


@pytest.mark.parametrize(
    ("view", "setter", "kind", "mode"),
    [
        ("viewIPositionDirect", "setPositions", CommandKind.POSITION_DIRECT, ControlMode.POSITION_DIRECT),
        ("viewIVelocityControl", "velocityMove", CommandKind.VELOCITY, ControlMode.VELOCITY),
        ("viewITorqueControl", "setRefTorques", CommandKind.TORQUE, ControlMode.TORQUE),
    ],
)
def test_set_points_of_all_joints_are_streamed(driver, device, view, setter, kind, mode):
    assert driver.viewIControlMode().setControlModes(IVector([int(mode)] * 3))
    assert getattr(getattr(driver, view)(), setter)(DVector([0.5, 1.5, 2.5]))
    wait_until(lambda: len(device.commands) == 1)
    assert (device.commands[0].kind, device.commands[0].values) == (kind, (0.5, 1.5, 2.5))
    assert device.modes == [mode] * 3


def test_modes_are_set_and_measured(driver, device):
    control, interaction = driver.viewIControlMode(), driver.viewIInteractionMode()
    assert control.setControlMode(1, int(ControlMode.TORQUE))
    assert control.setControlModes(2, IVector([0, 2]), IVector([int(ControlMode.IDLE)] * 2))
    assert interaction.setInteractionMode(2, int(InteractionMode.COMPLIANT))
    assert device.modes == [ControlMode.IDLE, ControlMode.TORQUE, ControlMode.IDLE]
    wait_until(lambda: control.getControlMode(1) == int(ControlMode.TORQUE))
    wait_until(lambda: control.getControlMode(2) == int(ControlMode.IDLE))  # it was set later
    modes = IVector(2)
    assert control.getControlModes(2, IVector([1, 2]), modes)
    assert list(modes) == [int(ControlMode.TORQUE), int(ControlMode.IDLE)]
    wait_until(lambda: interaction.getInteractionMode(2) == int(InteractionMode.COMPLIANT))


def test_trajectories(driver, device):
    motion = driver.viewIPositionControl()
    assert motion.setRefSpeeds(DVector([5.0, 6.0, 7.0]))
    assert read(motion.getRefSpeeds, size=3) == [5.0, 6.0, 7.0]
    assert motion.positionMove(2, IVector([0, 2]), DVector([10.0, 30.0]))
    assert read(motion.getTargetPosition, 2) == [30.0]
    assert read(motion.getTargetPositions, 2, IVector([2, 0]), size=2) == [30.0, 10.0]
    assert not motion.checkMotionDone()
    flag = BVector(1)
    assert motion.checkMotionDone(2, IVector([0, 1]), flag)
    assert list(flag) == [False]
    device.step(100.0)
    assert motion.isMotionDone()
    assert motion.isMotionDone(0)
    assert motion.checkMotionDone(flag)
    assert list(flag) == [True]
    assert motion.relativeMove(1, -5.0)
    assert device.target[1] == -5.0
    assert motion.stop()
    assert device.target[1] == 0.0


def test_what_a_board_knows_of_itself(driver):
    axes, limits, motors = driver.viewIAxisInfo(), driver.viewIControlLimits(), driver.viewIMotor()
    assert [axes.getAxisName(j) for j in range(3)] == ["joint0", "joint1", "joint2"]
    lowest, highest = DVector(1), DVector(1)
    assert limits.setLimits(1, -10.0, 50.0)
    assert limits.getLimits(1, lowest, highest)
    assert (lowest[0], highest[0]) == (-10.0, 50.0)
    assert limits.getVelLimits(0, lowest, highest)
    assert (lowest[0], highest[0]) == (0.0, 50.0)
    assert motors.getNumberOfMotors() == 3
    assert read(motors.getTemperatures, size=3) == [37.5, 38.5, 39.5]


def test_loops_have_references_limits_and_a_switch(driver):
    loops, kind, flag = driver.viewIPidControl(), int(PidType.POSITION), BVector(1)
    assert loops.setPidReference(kind, 1, 4.5)
    assert read(loops.getPidReference, kind, 1) == [4.5]
    assert loops.setPidErrorLimits(kind, DVector([1.0, 2.0, 3.0]))
    assert read(loops.getPidErrorLimits, kind, size=3) == [1.0, 2.0, 3.0]
    assert loops.disablePid(kind, 2)
    assert loops.isPidEnabled(kind, 2, flag)
    assert list(flag) == [False]
    assert loops.isPidEnabled(kind, 0, flag)
    assert list(flag) == [True]


def test_gains_travel_in_the_3_family_and_are_refused_with_a_line_in_the_4_family(driver, family, caplog):
    loops, kind = driver.viewIPidControl(), int(PidType.TORQUE)
    gains = PidVector(1)
    is_spoken = family is WireFamily.YARP_3
    assert loops.setPid(kind, 1, Pid(2.0, 0.2, 0.02, 5.0, 1.0, 100.0)) is is_spoken
    assert loops.getPid(kind, 1, gains) is is_spoken
    assert gains[0].kp == (2.0 if is_spoken else 0.0)
    assert ("no method to set pid" in caplog.text) is not is_spoken


def test_a_board_refuses_by_false_and_a_line(driver, caplog):
    assert driver.viewIControlLimits().setLimits(7, 0.0, 1.0) is False
    assert NAME in caplog.text


def test_a_vector_that_is_too_short_is_refused(driver, caplog):
    assert driver.viewIEncoders().getEncoders(DVector(2)) is False
    assert driver.viewIPositionDirect().setPositions(DVector(2)) is False
    assert "a vector of 2 elements cannot take the 3" in caplog.text


def test_too_many_arguments_are_a_type_error(driver):
    with pytest.raises(TypeError, match="not 4 arguments"):
        driver.viewIPositionControl().positionMove(1, 2, 3, 4)


def test_closing_leaves_nothing_behind(driver, names):
    driver.close()
    assert not driver.isValid()
    assert driver.viewIEncoders() is None
    assert names.list_names("/client") == []
    wait_until(lambda: not [one.name for one in threading.enumerate() if "/client" in one.name or "keeper" in one.name])


@pytest.mark.parametrize("carrier", ["udp", "tcp", "fast_tcp"])
def test_a_restarted_board_is_reached_again(serve, device, opened, caplog, carrier):
    server = serve(device)
    driver = opened("remote_controlboard", local="/client", remote=NAME, carrier=carrier, timeout=0.3)
    encoders, direct, data = driver.viewIEncoders(), driver.viewIPositionDirect(), DVector(3)
    wait_until(lambda: encoders.getEncoders(data))
    with caplog.at_level(logging.WARNING, "pureyarp"):
        server.close()
        wait_until(lambda: not encoders.getEncoders(data))
        wait_until(lambda: "is gone" in caplog.text)
        assert encoders.getAxes() == 0
        serve(device)
        wait_until(lambda: encoders.getEncoders(data))
        wait_until(lambda: "is back" in caplog.text)
    assert encoders.getAxes() == 3
    device.modes = [ControlMode.POSITION_DIRECT] * 3
    assert direct.setPosition(1, 12.5)
    wait_until(lambda: encoders.getEncoder(1) == 12.5)
    said = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert len([line for line in said if "is gone" in line]) == len([line for line in said if "is back" in line]) == 1


def test_a_board_that_only_pauses_is_not_called_gone(names, device, opened, caplog):
    with ControlBoardServer(NAME, device, None) as server:  # nothing is published unless we do
        driver = opened("remote_controlboard", local="/client", remote=NAME, carrier="tcp", timeout=0.2)
        wait_until(lambda: Network.isConnected(f"{NAME}/stateExt:o", "/client/stateExt:i"))
        server.publish(device.read(), 1.0)
        wait_until(lambda: driver.viewIEncoders().getEncoders(DVector(3)))
        wait_until(lambda: not driver.viewIEncoders().getEncoders(DVector(3)))
        time.sleep(0.6)  # twice as long as the keeper waits between two looks
        assert "is gone" not in caplog.text


def test_closing_wakes_who_waits_for_an_answer(serve, opened):
    class SlowBoard(IntegratingBoard):
        """Answers questions about references when the test allows it."""

        def __init__(self) -> None:
            super().__init__(3)
            self.was_asked, self.may_answer = threading.Event(), threading.Event()

        def parameter(self, *asked: Any) -> Sequence[Any]:
            self.was_asked.set()
            self.may_answer.wait(TIMEOUT)
            return super().parameter(*asked)

    device = SlowBoard()
    serve(device)
    driver = opened("remote_controlboard", local="/client", remote=NAME)
    answers: list[bool] = []
    direct = driver.viewIPositionDirect()
    asking = threading.Thread(target=lambda: answers.append(direct.getRefPosition(1, DVector(1))))
    asking.start()
    assert device.was_asked.wait(TIMEOUT)
    driver.close()
    asking.join(TIMEOUT)
    device.may_answer.set()
    assert answers == [False]


def test_a_state_that_is_none_is_dropped_with_one_line(serve, device, opened, names, caplog):
    server = serve(device)
    driver = opened("remote_controlboard", local="/client", remote=NAME, carrier="tcp", timeout=5.0)
    wait_until(lambda: driver.viewIEncoders().getEncoders(DVector(3)))
    server.close()
    for _ in range(3):
        request(names.query("/client/stateExt:i"), [1.0, "nonsense"], DATA, sender="/stranger")
    encoders = driver.viewIEncoders()
    wait_until(lambda: encoders.getEncoders(DVector(3)) and "was sent no state" in caplog.text)  # when it is read
    assert encoders.getEncoders(DVector(3))  # the last good one
    assert len([one for one in caplog.records if "was sent no state" in one.message]) == 1


def test_a_state_says_what_is_not_valid(names, opened, caplog):
    class Blind(IntegratingBoard):
        """Measures positions alone."""

        def read(self) -> JointData:
            return JointData.of(self.position)

    with ControlBoardServer(NAME, Blind(3), 0.01):
        driver = opened("remote_controlboard", local="/client", remote=NAME, timeout=5.0)
        wait_until(lambda: driver.viewIEncoders().getEncoders(DVector(3)))
        for _ in range(3):
            assert driver.viewITorqueControl().getTorques(DVector(3)) is False
            assert driver.viewIEncoders().getEncoders(DVector(3))
    assert len([one for one in caplog.records if "no valid torque" in one.message]) == 1
