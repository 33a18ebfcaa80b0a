"""The process in which a worker runs its calls: one function after the other, without threads, until the worker ends.

It is started by its path and imports the standard library alone before the first call: a new one begins at once.
"""

from __future__ import annotations

import gc
import importlib
import os
import resource
import signal
import sys
import time
import traceback
from functools import cache
from itertools import count
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any

_LOOK_PERIOD = 1.0  # [s] between looks at whether the worker still lives


def main() -> None:
    """Answer calls until the worker closes the connection, or is gone."""
    sys.path[:] = [path for path in sys.path if path != os.path.dirname(os.path.abspath(__file__))]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal: the driver answers it
    end_with_parent()
    connection = Connection(int(sys.argv[1]))
    try:
        for number in count():
            name, argument = connection.recv()
            connection.send(answer(name, argument))
            forget(is_first=number == 0)
    except EOFError:
        pass


def forget(is_first: bool) -> None:
    """Free what a call has left in cycles, 2 MB a walk; what there is after the first call is not looked at again."""
    gc.collect()
    if is_first:
        gc.freeze()


def answer(name: str, argument: Any) -> dict[str, Any]:
    """Call a function, ``package.module:function``; return its ``value`` or the ``error``, time and memory.

    The memory is that before `forget`, with what the call has left in cycles.
    """
    started, value, error = time.perf_counter(), None, ""
    try:
        value = _function(name)(argument)
    except Exception:
        error = traceback.format_exc()
    return {"value": value, "error": error, "wall_s": time.perf_counter() - started, "memory_mb": memory()}


def memory() -> float:
    """Return the resident memory of this process, [MB]; where there is no /proc, the largest that it has had."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize() / 2**20
    except OSError:
        unit = 2**20 if sys.platform == "darwin" else 2**10  # of ru_maxrss: bytes on macOS, else kilobytes
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


@cache
def _function(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)


def end_with_parent() -> None:
    """End this process, also in the middle of a call, when its parent is gone."""
    parent = os.getppid()

    def look(number: int, frame: FrameType | None) -> None:
        if os.getppid() != parent:
            os._exit(1)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, _LOOK_PERIOD, _LOOK_PERIOD)


if __name__ == "__main__":
    main()
