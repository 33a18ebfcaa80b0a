"""An application of several modules as a user runs it: ``gradiva app run`` in a process of its own, asked over RPC."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gradiva.common import WalkingError
from gradiva.middleware import Element, Vocab32, as_items, ask, yarp

PATIENCE = 120.0  # [s] of the machine, for what takes some seconds of it while nothing else runs
_LOOK = 0.02  # [s]
_RESULT = "result.json"


class ApplicationFailed(WalkingError):  # noqa: N818
    """An application did not do what it was told; carries what its runner or its modules said."""


class RunningApplication:
    """One run of an application, its records and logs in a folder of its own; to be entered as a context.

    Attributes:
        folder: All that the run writes lies in it.
        result: What the runner told in the end; empty before.
    """

    def __init__(self, name: str, network: Mapping[str, str], folder: Path, *options: str) -> None:
        """Start it.

        Args:
            name: As in ``gradiva app list``.
            network: Environment in which processes find their name server; this process has joined it as well.
            folder: Exists, and is empty.
            options: Further ones of ``gradiva app run``.
        """
        self.folder = folder
        self.result: dict[str, Any] = {}
        command = [sys.executable, "-m", "gradiva.cli", "app", "run", name, "--json", _RESULT, *options]
        with (folder / "runner.log").open("wb") as log:
            self._runner = subprocess.Popen(
                command,
                cwd=folder,
                env={**network, "XDG_STATE_HOME": str(folder / "state")},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def __enter__(self) -> RunningApplication:
        return self

    def __exit__(self, *_: object) -> None:
        if self._runner.poll() is None:
            self.stop()

    def ask(self, port: str, command: str) -> list[Element]:
        """Return what a port replies to a command, behind ``[ok]``.

        Raises:
            ApplicationFailed: It refuses, or nobody answers.
        """
        reply = ask(port, yarp.Bottle(command), PATIENCE)
        items = [] if reply is None else as_items(reply)
        if not items or not isinstance(items[0], Vocab32) or yarp.decode(int(items[0])) != "ok":
            told = "no answer" if reply is None else reply.toString()
            raise ApplicationFailed(f"{port}: {command}: {told}")
        return items[1:]

    def wait_until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until ``condition`` holds; an answer that does not come yet is one that does not hold.

        Raises:
            ApplicationFailed: The runner has ended, or it takes longer than the patience.
        """
        deadline = time.monotonic() + PATIENCE
        while not _holds(condition):
            if self._runner.poll() is not None:
                raise ApplicationFailed(f"{what}: the application ended: {self._last_words()}")
            if time.monotonic() > deadline:
                raise ApplicationFailed(f"{what}: not within {PATIENCE:g} s")
            time.sleep(_LOOK)

    def process_of(self, module: str) -> int:
        """Return the number of a module's process.

        Raises:
            ApplicationFailed: It does not run.
        """
        numbers = {each["name"]: each["process"] for each in self._status().get("modules", [])}
        if numbers.get(module) is None:
            raise ApplicationFailed(f"{module} does not run; there are {', '.join(numbers)}")
        return int(numbers[module])

    def stop(self) -> dict[str, Any]:
        """End it as Ctrl-C does; return what the runner tells.

        Raises:
            ApplicationFailed: It does not end.
        """
        self._runner.send_signal(signal.SIGINT)
        try:
            self._runner.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._runner.kill()
            self._runner.wait()
            raise ApplicationFailed(f"the runner did not end: {self._last_words()}") from None
        if (self.folder / _RESULT).is_file():
            self.result = json.loads((self.folder / _RESULT).read_text(encoding="utf-8"))
        return self.result

    def log_of(self, module: str) -> str:
        """Return what a module has printed so far."""
        paths = self.folder.glob(f"runs/*/{module}.log")
        return "".join(path.read_text(encoding="utf-8", errors="replace") for path in sorted(paths))

    def _status(self) -> dict[str, Any]:
        found = sorted(self.folder.glob("runs/*/status.json"))
        return dict(json.loads(found[-1].read_text(encoding="utf-8"))) if found else {}

    def _last_words(self) -> str:
        lines = (self.folder / "runner.log").read_text(encoding="utf-8", errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "without a word")


def _holds(condition: Callable[[], bool]) -> bool:
    try:
        return condition()
    except ApplicationFailed:
        return False
