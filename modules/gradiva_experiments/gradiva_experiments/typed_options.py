"""Options of a command as one dataclass, whose fields are annotated as typer has it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import wraps
from typing import Any, get_type_hints

Command = Callable[..., int]
_OPTIONS = "options"  # parameter of a command that takes them


def with_options(kind: type[Any]) -> Callable[[Command], Command]:
    """Give a command the fields of a dataclass as options, in the place of its parameter ``options``.

    The command is called with one value of that class, and all of its parameters by keyword.

    Args:
        kind: Each of its fields has a default.
    """
    assert all(each.default is not MISSING for each in fields(kind)), f"{kind.__name__} has fields without a default"
    hints = get_type_hints(kind, include_extras=True)
    chosen = [
        inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=hints[each.name])
        for each in fields(kind)
    ]

    def add_to(command: Command) -> Command:
        own = inspect.signature(command, eval_str=True).parameters
        shown = [each for name in own for each in (chosen if name == _OPTIONS else [own[name]])]

        @wraps(command)
        def called(**given: Any) -> int:
            options = kind(**{each.name: given.pop(each.name) for each in chosen if each.name in given})
            return command(**given, **{_OPTIONS: options})

        keywords = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in shown]
        called.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
        return called

    return add_to
