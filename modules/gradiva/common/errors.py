"""Errors that are reported by name, and findings of checks. Each carries what its reader needs next."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

_MANY = 12  # [names] a longer list is not read
_NEAREST = 3  # [names] listed of many
_MEANT = {
    frozenset({"robot", "ideal", "noisy"}): {
        "real": "robot",
        "realistic": "robot",
        "hardware": "robot",
        "perfect": "ideal",
        "exact": "ideal",
    },
    frozenset({"rigid", "soft"}): {"hard": "rigid", "flat": "rigid", "compliant": "soft", "viscoelastic": "soft"},
    frozenset({"off", "place", "place_and_time"}): {"none": "off", "on": "place_and_time"},
}
"""Words that mean one of these plants, grounds or modes of step adaptation and are not spelt like it."""


class WalkingError(Exception):
    """Anything that Gradiva reports by name.

    Attributes:
        keys: Configuration keys that decide, as ``table.key``; empty where none does.
    """

    def __init__(self, message: str = "", keys: Iterable[str] = ()) -> None:
        """Take what is reported, and the keys that decide."""
        super().__init__(message)
        self.keys = tuple(keys)


class ConfigError(WalkingError):
    """A configuration value, key or file is missing, unknown or out of range."""


class ModelError(WalkingError):
    """A robot model is missing, unreadable, or does not have a joint, link or frame."""


class ModelNotInstalled(ModelError):  # noqa: N818 (it reads as the sentence it is)
    """The model of a robot comes with a package that Gradiva does not bring; the message names where it is searched."""


class PlanningError(WalkingError):
    """No footsteps or trajectories satisfy the constraints; the message names the constraint."""


class NoSolutionFound(WalkingError):  # noqa: N818 (it reads as the sentence it is)
    """An optimisation problem has no usable solution.

    Attributes:
        problem: Its name.
        status: The solver's answer.
        task: What is the hardest to meet; None where that is not known.
    """

    def __init__(self, problem: str, status: str, task: str | None = None) -> None:
        hardest = "" if task is None else f", the hardest to meet is '{task}'"
        super().__init__(f"{problem}: the solver answered '{status}'{hardest}")
        self.problem = problem
        self.status = status
        self.task = task


class EstimationError(WalkingError):
    """A measurement is not usable: NaN, stale, or of the wrong size."""


class RobotInterfaceError(WalkingError):
    """The robot (simulated or real) could not be read or commanded."""


class ControlModeLost(RobotInterfaceError):  # noqa: N818 (it reads as the sentence it is)
    """Reports joints that are not in the mode of the commands, and the mode that they are in.

    Attributes:
        joints: Name to mode.
    """

    def __init__(self, text: str, joints: Mapping[str, str]) -> None:
        super().__init__(text)
        self.joints = dict(joints)


class StateError(WalkingError):
    """A command that the walking state machine refuses in its present state."""


def nearest_name(name: str, valid: Iterable[str]) -> str:
    """Return "; did you mean 'x'? (valid: …)" for a message about an unknown ``name``.

    A name that means what was written comes first (`_MEANT`), then one that is spelt like it, then one that holds it or
    is a word of it. Of many valid names the message lists the nearest, and how many others there are; it is empty where
    there is none.
    """
    names = sorted(set(valid))
    if not names:
        return ""
    words = re.split(r"[_.\- ]", name)
    meant = [words[name] for family, words in _MEANT.items() if family <= set(names) and name in words]
    close = meant or [known for known in names if known.casefold() == name.casefold()]
    close = close or difflib.get_close_matches(name, names, n=1)
    close = close or [known for known in names if known in words or (len(name) > 2 and name in known)]
    hint = f"; did you mean '{close[0]}'?" if close else ""
    listed = ", ".join(names)
    if len(names) > _MANY:
        nearest = difflib.get_close_matches(name, names, n=_NEAREST, cutoff=0.0)
        listed = f"{', '.join(nearest)} and {len(names) - len(nearest)} others"
    return f"{hint} (valid: {listed})"


def unreadable(path: Path, error: OSError, wanted: str) -> str:
    """Return the message about a file that cannot be read; of a folder it says which file is ``wanted``."""
    why = f"it is a folder, expected {wanted}" if path.is_dir() else error.strerror
    return f"cannot read {path}: {why}"


OK, WARN, FAIL = "ok", "warn", "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """Record the result of a check of `gradiva doctor` or of a bring-up.

    Attributes:
        verdict: ``ok``, ``warn`` (it works, with less comfort or more risk) or ``fail``.
        text: One line.
        remedy: What to do, or empty.
    """

    verdict: str
    text: str
    remedy: str = ""


def summed_up(subject: str, objections: Iterable[str], verdict: str, remedy: str) -> list[Finding]:
    """Return a finding for each objection, or one that the ``subject`` is as it should be."""
    return [Finding(verdict, f"{subject}: {objection}", remedy) for objection in objections] or [Finding(OK, subject)]
