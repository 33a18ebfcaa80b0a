"""Connections that are lost and made again."""

from __future__ import annotations

import logging

from pureyarp.devices.device_ports import ConnectionKeeper
from tests.pureyarp.network.running_threads import threads_named
from tests.waiting import wait_until


class Connection:
    """A connection that needs several attempts."""

    def __init__(self) -> None:
        self.is_there = True
        self.attempts = 0
        self.needed = 3

    def reconnect(self) -> bool:
        self.attempts += 1
        self.is_there = self.attempts >= self.needed
        return self.is_there


def test_what_is_lost_is_tried_until_it_is_back_with_a_line_each_way(caplog):
    connection = Connection()
    keeper = ConnectionKeeper("/board", lambda: connection.is_there, connection.reconnect, 0.01, 0.01)
    with caplog.at_level(logging.WARNING, "pureyarp"):
        keeper.start()
        connection.is_there = False
        wait_until(lambda: "is back" in caplog.text)
        keeper.stop()
        keeper.join()
    assert connection.attempts == 3
    assert [record.message for record in caplog.records] == [
        "/board is gone; trying to reach it again every 0.0 s",
        "/board is back",
    ]


def test_a_connection_that_lives_is_left_alone():
    connection, looks = Connection(), []
    keeper = ConnectionKeeper("/board", lambda: looks.append(1) is None, connection.reconnect, 0.001, 0.001)
    keeper.start()
    wait_until(lambda: len(looks) > 5)
    keeper.stop()
    keeper.join()
    assert connection.attempts == 0


def test_stopping_ends_the_attempts_and_the_thread():
    connection = Connection()
    connection.needed = 10**9
    connection.is_there = False
    keeper = ConnectionKeeper("/stopped", lambda: connection.is_there, connection.reconnect, 0.001, 0.001)
    keeper.start()
    wait_until(lambda: connection.attempts > 2)
    keeper.stop()
    keeper.join()
    assert threads_named("keeper of /stopped") == []


def test_a_keeper_that_never_started_can_be_stopped():
    keeper = ConnectionKeeper("/never", lambda: True, lambda: True)
    keeper.stop()
    keeper.join()
    assert threads_named("keeper of /never") == []
