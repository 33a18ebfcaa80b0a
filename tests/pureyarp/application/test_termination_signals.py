import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

from pureyarp.application.rf_module import TerminationSignals

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
    with process.stdout as told:
        assert told.readline() == "ready\n"
        for _ in range(3):
            process.send_signal(number)
            assert "the module" in told.readline()
        assert process.poll() is None
        process.send_signal(number)
        assert process.wait(DEADLINE) == -number
