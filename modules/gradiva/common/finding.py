"""What a check found, as one line and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

OK, WARN, FAIL = "ok", "warn", "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found.

    Attributes:
        verdict: ``ok``, ``warn`` (it works, with less comfort or more risk) or ``fail``.
        text: One line.
        remedy: What to do, or empty.
    """

    verdict: str
    text: str
    remedy: str = ""


def summed_up(what: str, objections: Iterable[str], verdict: str, remedy: str) -> list[Finding]:
    """Return a finding for each objection, or one that ``what`` is as it should be."""
    return [Finding(verdict, f"{what}: {objection}", remedy) for objection in objections] or [Finding(OK, what)]
