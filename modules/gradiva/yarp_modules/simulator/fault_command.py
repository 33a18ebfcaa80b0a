"""Faults by text: ``KIND SECONDS [NAME [VALUE]]``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gradiva.common import nearest_name
from gradiva.middleware import NAMED_ERRORS, Element
from gradiva.simulation import Fault, FaultKind
from gradiva.yarp_modules.rpc_commands import fail, ok, word

FORMAT = "KIND SECONDS [NAME [VALUE]]"
HELP = f"fault {FORMAT}   from now on, for ever if 0 s; KIND: {' '.join(FaultKind)}"


def answer_fault(items: Sequence[Element], time: float, inject: Callable[[Fault], None]) -> list[Element]:
    """Let a sensor or a motor fail as a request says.

    Args:
        items: Of the request, behind the word.
        time: Since the robot's start, [s]: when the fault begins.
        inject: Takes the fault; `WalkingError` where the robot has no such joint or sensor.
    """
    try:
        fault = parse_fault(items, time)
        inject(fault)
    except NAMED_ERRORS as error:
        return fail(str(error))
    except ValueError as error:
        return fail(f"{error}; expected: fault {FORMAT}")
    return ok(str(fault.kind), ["start", time])


def parse_fault(items: Sequence[Element], time: float) -> Fault:
    """Return the fault that a request tells.

    Raises:
        ValueError: It tells none.
        ConfigError: Its values do not fit its kind.
    """
    if not 2 <= len(items) <= 4:
        raise ValueError(f"{len(items)} words")
    kind, duration = items[:2]
    name: Element = items[2] if len(items) > 2 else ""
    value: Element = items[3] if len(items) > 3 else 0.0
    if word(kind) not in list(FaultKind):
        raise ValueError(f"no kind of fault '{word(kind)}'{nearest_name(word(kind), list(FaultKind))}")
    if not isinstance(duration, int | float) or not isinstance(value, int | float) or not isinstance(name, str):
        raise ValueError("seconds and value have to be numbers, the name a word")
    return Fault(FaultKind(word(kind)), time, float(duration) or None, name, float(value))
