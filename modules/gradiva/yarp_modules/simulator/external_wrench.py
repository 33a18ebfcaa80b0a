"""Pushes as Gazebo's plug-in takes them: ``link fx fy fz tx ty tz duration``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gradiva.middleware import NAMED_ERRORS, Element
from gradiva.simulation import Push

FORMAT = "link fx fy fz tx ty tz duration"
HELP = f"{FORMAT}   forces in N, torques in N·m, axes of the world, at the link's centre of mass; duration in s"

PushLink = Callable[[str, tuple[float, ...], tuple[float, ...], float], Push]


def answer_push(items: Sequence[Element], push: PushLink) -> list[Element]:
    """Push as a request says; return ``[ACK] …`` or ``[ERROR] …`` with the reason."""
    if items and items[0] == "help":
        return [HELP]
    try:
        link, numbers = _taken_apart(items)
        return [f"[ACK] Correct command format: {push(link, numbers[:3], numbers[3:6], numbers[6])}"]
    except (ValueError, *NAMED_ERRORS) as error:
        return [f"[ERROR] {error}"]


def _taken_apart(items: Sequence[Element]) -> tuple[str, tuple[float, ...]]:
    if len(items) != 8 or not isinstance(items[0], str):
        raise ValueError(f"expected: {FORMAT}")
    numbers = tuple(float(item) for item in items[1:] if isinstance(item, int | float))
    if len(numbers) != 7:
        raise ValueError(f"expected seven numbers behind the link: {FORMAT}")
    return items[0], numbers
