"""Work that leaves nothing behind when the process is told to end."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType


@contextmanager
def tidy_when_terminated() -> Iterator[None]:
    """Within it SIGTERM raises ``SystemExit`` with status 143, so that open contexts are left as by Ctrl-C.

    Where somebody else handles the signal already, and outside of the main thread, nothing changes.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def run_tidily(command: Sequence[str], timeout: float) -> tuple[int, str]:
    """Run a program that may start others; whatever ends the waiting ends all of them.

    Args:
        command: The program and its arguments.
        timeout: [s].

    Returns:
        Its exit status and what it wrote to standard error.

    Raises:
        OSError: It cannot be started.
        TimeoutExpired: It took too long.
    """
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            _, errors = process.communicate(timeout=timeout)
        except BaseException:
            with suppress(ProcessLookupError):  # it ended by itself meanwhile; that must not hide the interruption
                os.killpg(process.pid, signal.SIGTERM)  # compilers then remove their own files
            raise
        return process.returncode, errors


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
