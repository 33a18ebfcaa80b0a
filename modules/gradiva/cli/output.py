"""Write to the terminal and as JSON: consoles, progress bars, files that are checked before the work."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskProgressColumn, TimeRemainingColumn
from rich.table import Column
from rich.text import Text

from gradiva.common import ConfigError

STDOUT = "-"
_FILE_WIDTH = 160  # [characters] of what is read in a file or pager


class JsonTarget:
    """Writes a result as JSON to a file, to standard output alone, or not at all."""

    def __init__(self, where: str | None) -> None:
        """Check that the file can be written, before the work begins.

        Raises:
            ConfigError: It cannot.
        """
        self._path = None if where in (None, STDOUT) else Path(str(where))
        self.is_stdout = where == STDOUT
        if self._path is not None:
            check_writable(self._path)

    def write(self, result: Mapping[str, Any]) -> None:
        """Write ``result``; NaN and infinity become null."""
        from gradiva.telemetry import plain  # not before it is needed: it comes with all of telemetry

        text = json.dumps(plain(result), indent=2) + "\n"
        if self.is_stdout:
            sys.stdout.write(text)
            sys.stdout.flush()
        elif self._path is not None:
            self._path.write_text(text, encoding="utf-8")


def console_beside(target: JsonTarget) -> Console:
    """Return the console for text: standard error when standard output carries JSON."""
    return text_console(stderr=target.is_stdout)


def text_console(stderr: bool = False) -> Console:
    """Return a console as wide as the terminal, or wide enough for tables where there is none."""
    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, _FILE_WIDTH)
    return console


def check_writable(path: Path) -> None:
    """Pass when a file can be written.

    Raises:
        ConfigError: It cannot; the message says why.
    """
    existed = path.exists()
    try:
        with path.open("a", encoding="utf-8"):
            pass
        if not existed:
            os.unlink(path)
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from None


class _DoneColumn(ProgressColumn):
    """Text of a progress bar: of what is being done where that is known, else of what was done last."""

    def __init__(self, now: Callable[[], str]) -> None:
        super().__init__(Column(no_wrap=True, overflow="ellipsis"))
        self._now = now

    def render(self, task: Task) -> Text:
        """Return the text."""
        return Text(self._now() or task.description)


@contextmanager
def progress_bar(
    console: Console, text: str, total: float | None, now: Callable[[], str] = lambda: ""
) -> Iterator[Any]:
    """Show a bar that leaves nothing behind; yields a function of what is done, a text and the total.

    Args:
        console: Where to; one that is no terminal gets nothing.
        text: That it begins with.
        total: Of what is to be done; None: not known.
        now: Returns what is being done, looked at some times a second and shown instead of the text; empty: not known.
    """
    columns = (_DoneColumn(now), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(text, total=total)

        def update(done: float, text: str, total: float | None = total) -> None:
            """Show how much is done, of how much where that has changed, and a text."""
            progress.update(task, completed=done, description=text, total=total)

        yield update
