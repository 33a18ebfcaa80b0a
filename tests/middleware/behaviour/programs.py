"""The recorded programs, each with the answer of the real bindings, and how one is run.

``recordings/behaviour_3_12.json`` holds, by name, a program and the value of its last expression as YARP 3.12.3 gave
it; ``@PART@`` stands for one of the parts that many programs share. ``recordings/behaviour_differences.json`` holds
where pureyarp answers otherwise, what it answers and why: ``kinder`` where the real bindings hang,
end a process or leave their memory, ``different`` elsewhere. What is ``unstable`` has several good answers, and what is
``long`` takes longer than a quarter of a second, or for ever.

A program sees ``yarp``, ``os``, ``time``, ``threading``, ``math`` and

============================ ========================================================================================
``N``                        prefix of port names that this program alone has; ``/N`` in answers
``W``                        the empty working directory; ``W`` in answers
``BOARD``, ``SENSORS``       names of a control board and of analog sensors that are served
``B(text)``, ``keep(x)``     a Bottle, anything else, that lives as long as the program
``until(f, seconds)``        waits until ``f()`` is true; returns whether it is
``go(f, *arguments)``        runs ``f`` in a thread
``other(text)``              runs another program in a process of its own, which lives until ``.end()``
``tri(f)``                   the value of ``f()``, or the name of the exception that left it
============================ ========================================================================================
"""

from __future__ import annotations

import ast
import json
import math
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from gradiva.middleware import yarp

RECORDINGS = Path(__file__).parents[1] / "recordings"
OTHER = "tests.middleware.behaviour.other"
_ENDINGS = {"hangs", "crashes", "ends", "server_ends"}  # of a program, or of what it speaks to
_UNSTABLE = (  # what differs from run to run, and how it is written
    (re.compile(r"/tmp/port/\d+"), "ANONYMOUS"),
    (re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}\b"), "IP"),
    (re.compile(r"(?<=IP)([: )]+(?:\(port )?)\d{3,5}\b"), r"\1PORT"),
    (re.compile(r"\b(port|port_number) \d+"), r"\1 PORT"),
    (re.compile(r"/IP:PORT/?"), "ANONYMOUS"),
)


@dataclass(frozen=True, slots=True)
class Program:
    """A program and the answer of the real bindings.

    Attributes:
        name: ``group.what``.
        source: Python; its value is that of the last expression.
        answer: The value as JSON; ``{"hangs": true}`` and the like where there was none.
    """

    name: str
    source: str
    answer: Any

    @property
    def group(self) -> str:
        """Return the first word of the name."""
        return self.name.partition(".")[0]

    @property
    def has_an_answer(self) -> bool:
        """Return whether the real bindings neither hung nor ended a process."""
        return not (isinstance(self.answer, dict) and _ENDINGS & set(self.answer))


@dataclass(frozen=True, slots=True)
class Differences:
    """Lists where pureyarp answers otherwise, by names of programs.

    Attributes:
        kinder: Our answer and the reason, where the real bindings have none.
        different: The same, where they have one.
        unstable: The reason why a program has several good answers.
        long: Programs that are left to the long run.
    """

    kinder: dict[str, tuple[Any, str]]
    different: dict[str, tuple[Any, str]]
    unstable: dict[str, str]
    long: tuple[str, ...]

    def expected(self, program: Program) -> Any:
        """Return what pureyarp answers to a program."""
        ours = self.kinder.get(program.name) or self.different.get(program.name)
        return program.answer if ours is None else ours[0]


@cache
def differences() -> Differences:
    """Return where and why pureyarp answers otherwise."""
    return Differences(**json.loads((RECORDINGS / "behaviour_differences.json").read_text(encoding="utf-8")))


@cache
def programs() -> dict[str, Program]:
    """Return all recorded programs by their names."""
    record = json.loads((RECORDINGS / "behaviour_3_12.json").read_text(encoding="utf-8"))
    parts = record["parts"]

    def whole(source: str) -> str:
        for name in reversed(parts):  # the longest may hold shorter ones
            source = source.replace(f"@{name}@", parts[name])
        return source

    return {name: Program(name, whole(source), answer) for name, (source, answer) in record["programs"].items()}


class Scene:
    """Holds what one program sees, and ends what it leaves."""

    def __init__(self, prefix: str, folder: str) -> None:
        self._prefix, self._folder = prefix, folder
        self._kept: list[Any] = []

    def run(self, source: str) -> Any:
        """Return the value of a program, or ``{"raises": name}``, as JSON without what differs from run to run."""
        tree = ast.parse(source)
        last = tree.body.pop()
        assert isinstance(last, ast.Expr)
        names = self.names()
        try:
            exec(compile(tree, "program", "exec"), names)
            value = as_json(eval(compile(ast.Expression(last.value), "program", "eval"), names))
        except Exception as error:
            value = {"raises": type(error).__name__}
        return self._stable(value)

    def close(self) -> None:
        """End the processes and close the ports and devices that the program has left."""
        for kept in self._kept:
            for ending in ("end", "interrupt", "close"):
                if hasattr(kept, ending) and not isinstance(kept, yarp.RFModule):
                    getattr(kept, ending)()

    def names(self) -> dict[str, Any]:
        """Return what a program can name."""
        return {
            "yarp": yarp,
            "os": os,
            "time": time,
            "threading": threading,
            "math": math,
            "N": self._prefix,
            "W": self._folder,
            "BOARD": os.environ.get("BEHAVIOUR_BOARD", ""),
            "SENSORS": os.environ.get("BEHAVIOUR_SENSORS", ""),
            "keep": self._keep,
            "B": lambda text: self._keep(yarp.Bottle(text)),
            "until": _until,
            "go": _go,
            "tri": _tried,
            "other": lambda text: self._keep(Other(text, self._prefix, self._folder)),
        }

    def _keep(self, kept: Any) -> Any:
        self._kept.append(kept)
        return kept

    def _stable(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._stable(one) for one in value]
        if isinstance(value, dict):
            return {key: self._stable(one) for key, one in value.items()}
        if not isinstance(value, str):
            return value
        for found, written in ((self._prefix, "/N"), (os.path.realpath(self._folder), "W"), (self._folder, "W")):
            value = value.replace(found, written)
        for pattern, written in _UNSTABLE:
            value = pattern.sub(written, value)
        return value


class Other:
    """Another process, which has run a program and lives until `end`."""

    def __init__(self, source: str, prefix: str, folder: str) -> None:
        command = [sys.executable, "-m", OTHER]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([source, prefix, folder]), file=self._process.stdin, flush=True)
        while (line := self._process.stdout.readline()) and line != "READY\n":
            pass

    def end(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.communicate()


def as_json(value: Any) -> Any:
    """Return a value as JSON: bindings' data by its text, anything else unknown by its class."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, list | tuple):
        return [as_json(one) for one in value]
    if isinstance(value, yarp.Bottle | yarp.Property | yarp.Value | yarp.Vector):
        return {type(value).__name__: value.toString()}
    return {"object": type(value).__name__}


def _until(condition: Callable[[], Any], seconds: float = 3.0) -> bool:
    end = time.monotonic() + seconds
    while not (is_true := bool(condition())) and time.monotonic() < end:
        time.sleep(0.002)
    return is_true


def _go(function: Callable[..., Any], *arguments: Any) -> threading.Thread:
    thread = threading.Thread(target=function, args=arguments, daemon=True)
    thread.start()
    return thread


def _tried(function: Callable[[], Any]) -> Any:
    try:
        return function()
    except Exception as error:
        return f"raises {type(error).__name__}"
