"""Look at what the threads of this process wait for."""

import sys
import threading

from tests.waiting import TIMEOUT


def threads_named(start: str) -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(start)]


def is_waiting(thread: threading.Thread) -> bool:
    """Return whether a thread sleeps at a condition at this moment."""
    frame = sys._current_frames().get(thread.ident or 0)
    while frame is not None and frame.f_code is not threading.Condition.wait.__code__:
        frame = frame.f_back
    return frame is not None


def in_background(act) -> tuple[threading.Thread, list]:
    """Run something on a thread of its own; return that and a list for its result."""
    results: list = []
    thread = threading.Thread(target=lambda: results.append(act()), daemon=True)
    thread.start()
    return thread, results


def joined(thread: threading.Thread) -> None:
    thread.join(TIMEOUT)
    assert not thread.is_alive()
