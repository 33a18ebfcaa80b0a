"""Keeps the figures of a robot's exercises over time, in a file of the user, so that a drift is seen."""

from __future__ import annotations

import json
import math
import os
import statistics
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from gradiva.common.errors import FAIL
from gradiva.session.exercise import Figure

_FORMER = 10  # exercises of which a drift is counted
_KEPT = 200  # exercises, a line each
_MOST_NAMED = 3


class HealthRecord:
    """Holds the exercises of one robot in one environment, newest last; a line of JSON each.

    Attributes:
        path: Of the file, which may be missing.
    """

    def __init__(self, robot: str, environment: str, folder: Path | None = None) -> None:
        """Take the robot's name, its environment and the folder, by default that of the user's data."""
        self.path = (folder or data_folder() / "health") / f"{robot}-{environment}.jsonl"

    def entries(self) -> list[dict[str, Any]]:
        """Return the exercises; lines that are none are left out."""
        found = []
        with suppress(OSError, UnicodeDecodeError):
            for line in self.path.read_text(encoding="utf-8").splitlines():
                with suppress(ValueError):
                    entry = json.loads(line)
                    found += [entry] if isinstance(entry, dict) and "figures" in entry else []
        return found

    def append(self, posture: str, figures: Sequence[Figure], failure: str = "") -> None:
        """Add an exercise of today.

        Args:
            posture: In which it was done.
            figures: That it gave.
            failure: Why it was ended early; empty where it was not.

        Raises:
            OSError: The disk does not take it; the former ones stay.
        """
        entry = {
            "date": f"{datetime.now():%Y-%m-%d %H:%M}",
            "posture": posture,
            "figures": {figure.key: round(figure.value, 6) for figure in figures},
            "red": [failure] * bool(failure) + [figure_text(each) for each in figures if each.verdict == FAIL],
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(each) for each in [*self.entries(), entry][-_KEPT:]]
        scratch = self.path.with_suffix(".new")
        scratch.write_text("\n".join(lines) + "\n", encoding="utf-8")
        scratch.replace(self.path)

    def former(self, posture: str) -> Mapping[str, float]:
        """Return the median of each figure of the last exercises in the same posture, by its key."""
        entries = [each["figures"] for each in self.entries() if each.get("posture") == posture][-_FORMER:]
        keys = {key for figures in entries for key in figures}
        return {key: statistics.median(each[key] for each in entries if key in each) for key in keys}

    def refusal(self) -> str:
        """Return why the robot should not be prepared: what the last exercise found; empty where all was well."""
        entries = self.entries()
        red = entries[-1].get("red", []) if entries else []
        if not red:
            return ""
        more = f" and {len(red) - _MOST_NAMED} more" if len(red) > _MOST_NAMED else ""
        return f"the exercise of {entries[-1].get('date')} found {'; '.join(red[:_MOST_NAMED])}{more}"


def figure_text(figure: Figure) -> str:
    """Return a figure with its healthy range."""
    value = f"{figure.value:.3g} {figure.unit}".rstrip()
    healthy = f"up to {figure.most:.3g}" if math.isinf(figure.least) else f"{figure.least:.3g} to {figure.most:.3g}"
    return f"{figure.key} {value}, healthy {healthy}"


def data_folder() -> Path:
    """Return the folder of the user's data of Gradiva."""
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "gradiva"
