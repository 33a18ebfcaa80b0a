"""Servers publish periodically in a thread of their own."""

import threading

from pureyarp.devices.server_ports import PeriodicPublisher
from tests.waiting import TIMEOUT, wait_until


def test_it_publishes_until_it_is_stopped():
    times = []
    publisher = PeriodicPublisher("a server", 0.005, lambda: times.append(1))
    publisher.start()
    wait_until(lambda: len(times) >= 3)
    publisher.stop()
    wait_until(lambda: all(thread.name != "publisher of a server" for thread in threading.enumerate()))


def test_without_a_period_others_publish():
    times = []
    publisher = PeriodicPublisher("a server", None, lambda: times.append(1))
    publisher.start()
    publisher.stop()
    assert times == []


def test_a_failure_is_logged_and_the_next_message_comes(caplog):
    times = []

    def fail() -> None:
        times.append(1)
        raise ZeroDivisionError("by zero")

    publisher = PeriodicPublisher("a server", 0.005, fail)
    publisher.start()
    wait_until(lambda: len(times) >= 3)
    publisher.stop()
    assert caplog.records[0].message == "a server: nothing is published: ZeroDivisionError('by zero')"


def test_it_may_stop_itself():
    stopped = threading.Event()

    def stop() -> None:
        publisher.stop()
        stopped.set()

    publisher = PeriodicPublisher("a server", 0.005, stop)
    publisher.start()
    assert stopped.wait(TIMEOUT)
