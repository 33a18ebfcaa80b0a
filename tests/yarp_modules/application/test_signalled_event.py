import signal
import threading

import pytest

from gradiva.yarp_modules.application import SignalledEvent


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
