"""One module of an application: restarts, its end, the event of a signal handler."""

import signal
import threading

import pytest

from gradiva.yarp_modules.application.running_module import (
    Ending,
    EndTimeouts,
    RestartBackoff,
    SignalledEvent,
    end_process,
)

SHORT = EndTimeouts(after_quit=0.05, after_terminate=0.05, after_kill=0.05)


class Process:
    """Ends at one kind of request."""

    def __init__(self, ends_at):
        self.ends_at = ends_at
        self.received = []
        self.is_alive = ends_at != "before"

    def ask_to_quit(self):
        self._tell("quit")
        return self.ends_at != "deaf"

    def send(self, number):
        self._tell(number)

    def _tell(self, what):
        self.received.append(what)
        self.is_alive = self.is_alive and what != self.ends_at


@pytest.mark.parametrize(
    ("ends_at", "ending", "received"),
    [
        ("before", Ending.QUIT, []),
        ("quit", Ending.QUIT, ["quit"]),
        (signal.SIGTERM, Ending.TERMINATED, ["quit", signal.SIGTERM]),
        (signal.SIGKILL, Ending.KILLED, ["quit", signal.SIGTERM, signal.SIGKILL]),
        ("never", Ending.IMMORTAL, ["quit", signal.SIGTERM, signal.SIGKILL]),
    ],
)
def test_a_process_is_asked_then_terminated_then_killed(ends_at, ending, received):
    process = Process(ends_at)
    assert end_process(process, SHORT, threading.Event()) is ending
    assert process.received == received


def test_a_process_that_cannot_be_asked_is_not_waited_for():
    process = Process("deaf")
    end_process(process, EndTimeouts(after_quit=60.0, after_terminate=0.01, after_kill=0.01), threading.Event())
    assert process.received == ["quit", signal.SIGTERM, signal.SIGKILL]


def test_haste_leaves_out_the_polite_part():
    hurry = threading.Event()
    hurry.set()
    process = Process(signal.SIGKILL)
    assert end_process(process, EndTimeouts(), hurry) is Ending.KILLED
    assert process.received == [signal.SIGTERM, signal.SIGKILL]


def test_the_delay_doubles_up_to_half_a_minute():
    delay, durations = RestartBackoff(), []
    for _ in range(7):
        delay.note_end(lifetime=0.1)
        durations.append(delay.duration)
    assert durations == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    assert not delay.is_over()


def test_a_long_life_makes_it_short_again():
    delay = RestartBackoff()
    for lifetime in (0.1, 0.1, 100.0):
        delay.note_end(lifetime)
    assert delay.duration == 1.0


def test_there_is_none_before_the_first_end():
    assert RestartBackoff().is_over()


def test_it_is_set_once_and_for_all():
    event = SignalledEvent()
    assert not event.is_set()
    assert not event.wait(0.0)
    event.set()
    assert event.is_set()
    assert event.wait()
    assert event.wait()
    with pytest.raises(RuntimeError, match="stays asked for"):
        event.clear()


def test_all_who_wait_go_on():
    event = SignalledEvent()
    threads = [threading.Thread(target=event.wait, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    event.set()
    for thread in threads:
        thread.join(10.0)
        assert not thread.is_alive()


def test_a_signal_may_come_at_any_instruction_of_its_wait():
    before = signal.getsignal(signal.SIGALRM)
    try:
        for microseconds in range(1, 200):
            event = SignalledEvent()
            signal.signal(signal.SIGALRM, lambda *_, event=event: event.set())
            signal.setitimer(signal.ITIMER_REAL, microseconds * 1e-6)
            assert event.wait(10.0)
    finally:
        signal.signal(signal.SIGALRM, before)
