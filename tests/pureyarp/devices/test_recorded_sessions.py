"""A whole session with a recorded control board: what leaves the client is what left the real one."""

from __future__ import annotations

import logging

import pytest

from pureyarp.data.vectors import DVector, IVector
from pureyarp.wire.elements import encode_vocab
from tests.middleware.recorded_board import BOARD, RecordedBoard
from tests.middleware.recorded_messages import recording
from tests.waiting import wait_until


def open_and_command(opened, **parameters):
    driver = opened("remote_controlboard", remote=BOARD, **parameters)
    assert driver.isValid()
    encoders = driver.viewIEncodersTimed()
    positions, times = DVector(3), DVector(3)
    wait_until(lambda: encoders.getEncodersTimed(positions, times))
    assert driver.viewIControlMode().setControlMode(0, encode_vocab("posd"))
    direct = driver.viewIPositionDirect()
    assert direct.setPosition(0, 12.5)
    assert direct.setPositions(DVector([1.0, 2.0, 3.0]))
    assert direct.setPositions(2, IVector([0, 2]), DVector([4.0, 5.0]))
    return driver, positions, times


def test_a_session_by_tcp(names, opened):
    recorded = recording("yarp_3_12", "rcb_open_tcp")
    with RecordedBoard(names, recorded) as board:
        driver, positions, times = open_and_command(opened, local="/gold/rcb", carrier="tcp")
        assert 1795244732.0 < times[0] < 1795244733.0
        assert list(positions)[1:] == [0.0, 0.0]
        driver.close()
        rpc, command = f"{BOARD}/rpc:i", f"{BOARD}/command:i"
        assert board.said[rpc] == board.recorded(rpc)
        wait_until(lambda: len(board.said[command]) >= 5)  # the last is the farewell
        assert board.said[command][:4] == board.recorded(command)[:4]
        assert board.administration == [
            '[list] [out] "/gold/rcb/stateExt:i"',
            '[add] "tcp://gold/rcb/stateExt:i"',
            '[del] "/gold/rcb/stateExt:i"',
        ]


def test_a_session_by_udp_which_is_the_default(names, opened):
    recorded = recording("yarp_3_12", "rcb_open_default_udp")
    with RecordedBoard(names, recorded) as board:
        driver, positions, _ = open_and_command(opened, local="/gold/rcb")
        assert list(positions) == [4.0, 0.0, 0.0]
        torques = DVector(3)
        assert driver.viewITorqueControl().getTorques(torques)
        assert driver.viewIControlMode().getControlMode(1) == encode_vocab("pos")
        driver.close()
        rpc, command = f"{BOARD}/rpc:i", f"{BOARD}/command:i"
        assert board.said[rpc] == board.recorded(rpc)
        assert board.said[command] == board.recorded(command)
        assert '[add] "udp://gold/rcb/stateExt:i"' in board.administration


def test_a_session_with_the_4_family(names, opened):
    recorded = recording("yarp_4_0", "v4_nwc_open")
    with RecordedBoard(names, recorded) as board:
        driver, positions, _ = open_and_command(
            opened, local="/gold/nwc", family="4", carrier="tcp", carrier_cmd="fast_tcp"
        )
        assert list(positions) == [0.0, 0.0, 0.0]
        driver.close()
        rpc, command = f"{BOARD}/nws/rpc:i", f"{BOARD}/command:i"
        assert board.said[rpc] == board.recorded(rpc)
        wait_until(lambda: len(board.said[command]) >= 4)
        assert board.said[command][:4] == board.recorded(command)[:4]


def test_a_board_that_is_not_there_is_refused_with_one_line(names, opened, caplog):
    with caplog.at_level(logging.ERROR, "pureyarp"):
        driver = opened("remote_controlboard", local="/client", remote="/nowhere")
    assert not driver.isValid()
    assert driver.viewIEncoders() is None
    assert "problem connecting to /nowhere, is the remote device available?" in caplog.text
    assert [contact.getName() for contact in names.list_names("/client")] == []


@pytest.mark.parametrize("parameters", [{"local": "/client"}, {"local": "/client", "remote": "/r", "carrier": "mcast"}])
def test_wrong_parameters_are_refused(names, opened, caplog, parameters):
    assert not opened("remote_controlboard", **parameters).isValid()
    assert "was not opened" in caplog.text


def test_an_unknown_device_is_refused_with_the_known_ones(opened, caplog):
    assert not opened("coffee_machine").isValid()
    assert "remotecontrolboardremapper" in caplog.text
