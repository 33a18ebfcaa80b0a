"""SIGINT and SIGTERM end a module between two cycles."""

import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

from pureyarp.application.rf_module import RFModule, TerminationSignals
from tests.waiting import TIMEOUT

DEADLINE = 30  # [s]


def test_a_signal_calls_stop_and_the_former_handlers_come_back():
    stopped = threading.Event()
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with TerminationSignals(stopped.set):
        os.kill(os.getpid(), signal.SIGTERM)
        assert stopped.wait(DEADLINE)
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_stop_may_wait_for_what_the_main_thread_does():
    """A handler in the main thread would wait for itself here."""
    lock, stopped = threading.Lock(), threading.Event()

    def stop() -> None:
        with lock:
            stopped.set()

    with TerminationSignals(stop):
        with lock:
            os.kill(os.getpid(), signal.SIGINT)
        assert stopped.wait(DEADLINE)


class TerminatedModule(RFModule):
    def updateModule(self):
        os.kill(os.getpid(), signal.SIGTERM)
        return True


def test_the_signal_is_named_outside_of_a_module_that_takes_it_over():
    with TerminationSignals(lambda: None) as outer:
        assert TerminatedModule().runModule() == 0
    assert outer.first == "SIGTERM"


def test_outside_the_main_thread_nothing_is_touched():
    seen = []

    def enter() -> None:
        with TerminationSignals(lambda: None):
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]


def test_no_thread_stays_behind():
    with TerminationSignals(lambda: None) as signals:
        watcher = signals._watcher
    watcher.join(DEADLINE)
    assert not watcher.is_alive()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_fourth_signal_ends_the_process(number):
    script = """
        import logging, sys, threading
        from pureyarp.application.rf_module import TerminationSignals
        logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s")
        with TerminationSignals(lambda: None):
            print("ready", flush=True)
            while True:
                threading.Event().wait(1.0)
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout as output:
        assert output.readline() == "ready\n"
        for _ in range(3):
            process.send_signal(number)
            assert "the module" in output.readline()
        assert process.poll() is None
        process.send_signal(number)
        assert process.wait(DEADLINE) == -number


SCRIPT = """
    import sys
    from gradiva.middleware import yarp

    class Module(yarp.RFModule):
        def configure(self, rf):
            print(rf.find("name").asString(), flush=True)
            return True

        def getPeriod(self):
            return 3600.0

        def updateModule(self):
            return True

        def close(self):
            print("closed", flush=True)
            return True

    finder = yarp.ResourceFinder()
    finder.configure(sys.argv)
    sys.exit(Module().runModule(finder))
"""


def start_script() -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", textwrap.dedent(SCRIPT), "--name", "/me"]
    environment = {**os.environ, "GRADIVA_YARP": "pureyarp"}
    process = subprocess.Popen(
        arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, bufsize=1
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "/me\n"
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_closes_a_module_of_its_own_process(number):
    with start_script() as process:
        process.send_signal(number)
        assert process.communicate(timeout=TIMEOUT)[0] == "closed\n"
        assert process.returncode == 0
