"""Keeps the journal of the stand-in, which the processes of a test share, and ends a process."""

from __future__ import annotations

import os
import sys
from pathlib import Path

JOURNAL = "GRADIVA_STAND_IN_JOURNAL"
_OWN = str(Path(__file__).parent)
_EMBEDDED = os.sep + "pureyarp" + os.sep
_ABORTED = 134  # exit status of a process that aborts


def note(text: str) -> None:
    """Write a line into the journal, if there is one."""
    path = os.environ.get(JOURNAL)
    if path:
        with open(path, "a", encoding="utf-8") as journal:
            journal.write(f"{text}\n")


def end_process(reason: str) -> None:
    """End the process where the real bindings would hang or crash, and tell at which line of the suite."""
    text = f"ended: {reason}, at {place()}"
    note(text)
    sys.stderr.write(f"stand-in for YARP's bindings: {text}\n")
    sys.stderr.flush()
    os._exit(_ABORTED)


def place() -> str:
    """Return the line of the suite that is being carried out."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_OWN) and _EMBEDDED not in name and not name.startswith("<frozen"):
            return f"{name}:{frame.f_lineno}"
        frame = frame.f_back
    return "a thread of YARP's own"
