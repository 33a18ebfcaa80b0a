"""A part that is put together from two boards."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pureyarp.data.values import Property
from pureyarp.data.vectors import BVector, DVector, IVector
from pureyarp.devices.control_board_messages import CommandKind, StreamedCommand
from pureyarp.devices.control_board_protocol import ControlMode
from pureyarp.devices.control_board_remapper import JointMap
from pureyarp.devices.device_servers import ControlBoardServer
from pureyarp.devices.poly_driver import PolyDriver
from pureyarp.devices.settings_views import Pid, PidVector
from pureyarp.wire.elements import encode_vocab
from tests.middleware.fake_board import IntegratingBoard
from tests.waiting import wait_until

POSITION = int(encode_vocab("pos"))


class NamedBoard(IntegratingBoard):
    def __init__(self, *names: str) -> None:
        super().__init__(len(names))
        self._names = names


@pytest.fixture
def leg() -> NamedBoard:
    return NamedBoard("hip", "knee", "ankle")


@pytest.fixture
def torso() -> NamedBoard:
    return NamedBoard("pitch", "roll")


def configuration(*axes: str) -> Property:
    config = Property()
    config.fromString(
        "(device remotecontrolboardremapper) (localPortPrefix /walking) "
        "(remoteControlBoards (/robot/torso /robot/leg)) "
        f"(axesNames ({' '.join(axes)})) (REMOTE_CONTROLBOARD_OPTIONS (carrier fast_tcp) (writeStrict on))"
    )
    return config


@pytest.fixture
def servers(names, leg, torso) -> Iterator[None]:
    with ControlBoardServer("/robot/leg", leg, 0.01), ControlBoardServer("/robot/torso", torso, 0.01):
        yield


@pytest.fixture
def driver(servers) -> Iterator[PolyDriver]:
    """Return a part of all joints of the torso in their order and two of the leg in another one."""
    driver = PolyDriver(configuration("ankle", "pitch", "hip", "roll"))
    assert driver.isValid()
    wait_until(lambda: driver.viewIEncoders().getEncoders(DVector(4)))
    yield driver
    driver.close()


def test_measurements_come_in_the_order_of_the_part(driver, leg, torso):
    leg.position[:], torso.position[:] = [1.0, 2.0, 3.0], [10.0, 20.0]
    encoders, data, times = driver.viewIEncodersTimed(), DVector(4), DVector(4)
    wait_until(lambda: encoders.getEncodersTimed(data, times) and list(data) == [3.0, 10.0, 1.0, 20.0])
    assert len(set(times)) <= 2
    assert encoders.getAxes() == 4
    assert encoders.getEncoder(2) == 1.0


def test_set_points_go_to_their_boards(driver, leg, torso):
    direct = driver.viewIPositionDirect()
    assert direct.setPositions(DVector([1.0, 2.0, 3.0, 4.0]))
    assert direct.setPosition(2, 5.0)
    assert direct.setPositions(2, IVector([3, 0]), DVector([6.0, 7.0]))
    wait_until(lambda: len(leg.commands) == 3 and len(torso.commands) == 2)
    kind = CommandKind.POSITION_DIRECT
    assert leg.commands == [
        StreamedCommand(kind, (2, 0), (1.0, 3.0)),
        StreamedCommand(kind, (0,), (5.0,)),
        StreamedCommand(kind, (2,), (7.0,)),
    ]
    assert torso.commands == [StreamedCommand(kind, None, (2.0, 4.0)), StreamedCommand(kind, (1,), (6.0,))]


def test_modes_and_targets_go_to_their_boards(driver, leg, torso):
    modes = [ControlMode.TORQUE, ControlMode.VELOCITY, ControlMode.IDLE, ControlMode.POSITION]
    assert driver.viewIControlMode().setControlModes(IVector([int(mode) for mode in modes]))
    assert leg.modes == [ControlMode.IDLE, ControlMode.POSITION, ControlMode.TORQUE]
    assert torso.modes == [ControlMode.VELOCITY, ControlMode.POSITION]
    motion, targets = driver.viewIPositionControl(), DVector(4)
    assert motion.positionMove(DVector([1.0, 2.0, 3.0, 4.0]))
    assert motion.getTargetPositions(targets)
    assert list(targets) == [1.0, 2.0, 3.0, 4.0]
    assert list(leg.target) == [3.0, 0.0, 1.0]
    assert motion.checkMotionDone() is False
    flag = BVector(1)
    assert motion.checkMotionDone(2, IVector([0, 1]), flag)
    assert list(flag) == [False]


def test_what_has_two_values_for_each_joint_is_put_together(driver):
    torques, lowest, highest = driver.viewITorqueControl(), DVector(4), DVector(4)
    assert torques.getTorqueRanges(lowest, highest)
    assert list(lowest) == [0.0] * 4
    limits = driver.viewIControlLimits()
    assert limits.setLimits(3, -7.0, 7.0)
    assert limits.getLimits(3, lowest, highest)
    assert (lowest[0], highest[0]) == (-7.0, 7.0)


def test_gains_of_all_joints(driver):
    loops, gains = driver.viewIPidControl(), PidVector(4)
    for index, pid in enumerate(gains):
        pid.kp = float(index + 1)
    assert loops.setPids(POSITION, gains)
    read = PidVector(4)
    assert loops.getPids(POSITION, read)
    assert [pid.kp for pid in read] == [1.0, 2.0, 3.0, 4.0]
    assert loops.setPid(POSITION, 1, Pid(9.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    assert loops.getPids(POSITION, read)
    assert [pid.kp for pid in read] == [1.0, 9.0, 3.0, 4.0]


def test_names_are_those_of_the_part(driver):
    axes = driver.viewIAxisInfo()
    assert [axes.getAxisName(joint) for joint in range(4)] == ["ankle", "pitch", "hip", "roll"]
    assert axes.getAxisName(4) == "unknown"
    assert driver.viewIPositionDirect().setPosition(4, 1.0) is False
    assert driver.viewIEncoders().getEncoder(-1) == 0.0


def test_an_axis_that_no_board_has_is_named(servers, names, caplog):
    assert not PolyDriver(configuration("hip", "wing")).isValid()
    assert "no board has the axes wing; there are pitch, roll, hip, knee, ankle" in caplog.text
    assert names.list_names("/walking") == []


def test_a_board_that_is_missing_closes_the_others(names, leg, torso, caplog):
    with ControlBoardServer("/robot/torso", torso, 0.01):
        assert not PolyDriver(configuration("pitch")).isValid()
    assert "problem connecting to /robot/leg" in caplog.text
    assert names.list_names("/walking") == []


def test_shares_keep_whole_boards_together():
    joints = JointMap(((1, 2), (0, 0), (1, 0), (0, 1)), (2, 3))
    assert [(share.board, share.joints, share.positions, share.is_whole) for share in joints.shares(None)] == [
        (1, (2, 0), (0, 2), False),
        (0, (0, 1), (1, 3), True),
    ]
    assert joints.shares([4]) == []
