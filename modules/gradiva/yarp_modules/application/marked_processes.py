"""Processes that belong to one run of an application, known by a variable in their environment.

Children of a module inherit the mark, and a number that the system has given to another process in the meantime does
not carry it: whatever became of the runner, its processes are found and no others.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

MARK = "GRADIVA_APPLICATION_RUN"  # environment variable


def marked_processes(mark: str) -> list[int]:
    """Return the processes that carry ``mark``, without this one."""
    numbers = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal())
    return [number for number in numbers if number != os.getpid() and carries(number, mark)]


def carries(process: int, mark: str) -> bool:
    """Tell whether a living process carries ``mark``; one that has ended and is not yet buried does not."""
    try:
        environment = Path(f"/proc/{process}/environ").read_bytes()
    except OSError:  # it has ended, or belongs to somebody else
        return False
    return f"{MARK}={mark}".encode() in environment.split(b"\0")


def send_signal(process: int, number: signal.Signals) -> None:
    """Send a signal to a process and to its group, if it leads one."""
    with suppress(ProcessLookupError, PermissionError):
        if os.getpgid(process) == process:
            os.killpg(process, number)
        else:
            os.kill(process, number)
