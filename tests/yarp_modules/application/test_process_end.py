import signal
import threading

import pytest

from gradiva.yarp_modules.application.running_module import Ending, EndTimeouts, end_process

SHORT = EndTimeouts(after_quit=0.05, after_terminate=0.05, after_kill=0.05)


class Process:
    """Ends at what it is told to end at."""

    def __init__(self, ends_at):
        self.ends_at = ends_at
        self.told = []
        self.is_alive = ends_at != "before"

    def ask_to_quit(self):
        self._tell("quit")
        return self.ends_at != "deaf"

    def send(self, number):
        self._tell(number)

    def _tell(self, what):
        self.told.append(what)
        self.is_alive = self.is_alive and what != self.ends_at


@pytest.mark.parametrize(
    ("ends_at", "ending", "told"),
    [
        ("before", Ending.QUIT, []),
        ("quit", Ending.QUIT, ["quit"]),
        (signal.SIGTERM, Ending.TERMINATED, ["quit", signal.SIGTERM]),
        (signal.SIGKILL, Ending.KILLED, ["quit", signal.SIGTERM, signal.SIGKILL]),
        ("never", Ending.IMMORTAL, ["quit", signal.SIGTERM, signal.SIGKILL]),
    ],
)
def test_a_process_is_asked_then_told_then_killed(ends_at, ending, told):
    process = Process(ends_at)
    assert end_process(process, SHORT, threading.Event()) is ending
    assert process.told == told


def test_whoever_cannot_be_asked_is_not_waited_for():
    process = Process("deaf")
    end_process(process, EndTimeouts(after_quit=60.0, after_terminate=0.01, after_kill=0.01), threading.Event())
    assert process.told == ["quit", signal.SIGTERM, signal.SIGKILL]


def test_haste_leaves_out_the_polite_part():
    hurry = threading.Event()
    hurry.set()
    process = Process(signal.SIGKILL)
    assert end_process(process, EndTimeouts(), hurry) is Ending.KILLED
    assert process.told == [signal.SIGTERM, signal.SIGKILL]
