"""The programs ``gradiva-walking``, ``gradiva-planner``, … that yarpmanager starts."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy comes

_INTERRUPTED = 130  # exit status


def run(title: str, arguments: Sequence[str]) -> int:
    """Run the module called ``title``; return the exit status.

    Raises:
        WalkingError: Wrong input.
        KeyboardInterrupt: Somebody pressed Ctrl-C before the module had begun.
    """
    from gradiva.yarp_modules.module_process import module_class, run_module

    try:
        return run_module(module_class(title), arguments)
    except SystemExit as asked_for_help:
        return int(asked_for_help.code or 0)


def list_modules() -> int:
    """Print which modules there are; return the exit status."""
    from gradiva.yarp_modules.module_process import MODULES, module_class

    for title in MODULES:
        print(f"{title:15s} {module_class(title).SUMMARY}")
    return 0


def _program(title: str) -> Callable[[], None]:
    def main() -> None:
        sys.exit(_carried_out(title))

    main.__doc__ = f"Run the module {title}."
    return main


def _carried_out(title: str) -> int:
    try:
        from gradiva.cli.commands import carry_out

        return carry_out(["module", title, *sys.argv[1:]])
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return _INTERRUPTED


planner = _program("planner")
model_control = _program("model_control")
whole_body = _program("whole_body")
walking = _program("walking")
simulator = _program("simulator")
logger = _program("logger")
joypad = _program("joypad")
