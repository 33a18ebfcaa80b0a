"""Runs recorded programs in processes of their own: ``python -m tests.middleware.behaviour.runner``.

Reads batches of program names as a line of JSON and writes ``[name, answer, seconds]`` as lines. Each batch has a
process, forked from this one so that nothing is imported twice; a program that does not end in time is written as
``{"hangs": true}``, one that ends its process as ``{"ends": status}``, and the rest of its batch gets a new process.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence

from gradiva.middleware import yarp
from tests.middleware.behaviour.programs import Scene, programs

TIME_LIMIT = 20.0  # [s] of one program
_BEFORE_INIT = ("net.no_init", "net.object", "clock.before_init")


def run_batch(names: Sequence[str]) -> None:
    """Run programs in forked processes and write their answers."""
    rest = list(names)
    while rest:
        readable, writable = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(readable)
            _run_all(rest, writable)
        os.close(writable)
        rest = _collected(rest, child, readable)
        os.close(readable)


def _collected(names: list[str], child: int, readable: int) -> list[str]:
    """Write the answers of a process; return the programs that it has not run."""
    buffer = b""
    for position, name in enumerate(names):
        while b"\n" not in buffer:
            if not select.select([readable], [], [], TIME_LIMIT)[0]:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                _write(name, {"hangs": True}, TIME_LIMIT)
                return names[position + 1 :]
            piece = os.read(readable, 65536)
            if not piece:
                _write(name, {"ends": os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}, 0.0)
                return names[position + 1 :]
            buffer += piece
        line, _, buffer = buffer.partition(b"\n")
        answer, seconds = json.loads(line)
        _write(name, answer, seconds)
    os.waitpid(child, 0)
    return []


def _run_all(names: Sequence[str], writable: int) -> None:
    """Run programs one after the other in this process, write an answer a line, and end it."""
    os.setpgrp()  # a signal of a program is for this process alone
    if not names[0].startswith(_BEFORE_INIT):
        yarp.Network.init()
    for number, name in enumerate(names):
        folder = tempfile.mkdtemp()
        os.chdir(folder)
        begin = time.monotonic()
        scene = Scene(f"/p{os.getpid()}x{number}", folder)
        answer = scene.run(programs()[name].source)
        os.write(writable, json.dumps([answer, time.monotonic() - begin]).encode() + b"\n")
        scene.close()
        os.chdir("/")
        shutil.rmtree(folder)
    os._exit(0)


def _write(name: str, answer: object, seconds: float) -> None:
    print(json.dumps([name, answer, round(seconds, 3)]), flush=True)


if __name__ == "__main__":
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115 (the log of what is provoked on purpose)
    for batch in json.loads(sys.stdin.readline()):
        run_batch(batch)
