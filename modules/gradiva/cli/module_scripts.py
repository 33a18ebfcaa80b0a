"""``gradiva module``, and the programs ``gradiva-walking``, ``gradiva-planner``, … that yarpmanager starts."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from gradiva.cli.main import INTERRUPTED, leaving_at_once

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy comes


def module(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="As in: gradiva module --list.")] = None,
    wants_list: Annotated[bool, typer.Option("--list", help="List the modules.")] = False,
) -> int:
    """Run one module of the application until the command quit, Ctrl-C or SIGTERM.

    What follows NAME are the module's own options: gradiva module NAME --help. Exit status: 0 ended by one of them,
    1 its ports could not be opened, 2 wrong input.
    """
    if wants_list:
        return list_modules()
    if name is None:
        raise typer.BadParameter("which module? see gradiva module --list")
    return run_module(name, context.args)


def joypad_command(context: typer.Context) -> int:
    """Steer a walking robot with a joypad: the module joypad, whose options follow (gradiva joypad --help)."""
    return run_module("joypad", context.args)


def panel_command(context: typer.Context) -> int:
    """Open the operator's page of a robot over ports: the module panel, whose options follow (gradiva panel --help)."""
    return run_module("panel", context.args)


def run_module(title: str, arguments: Sequence[str]) -> int:
    """Run the module called ``title``; return the exit status.

    Raises:
        WalkingError: Wrong input.
        KeyboardInterrupt: Ctrl-C came before the module had begun.
    """
    with leaving_at_once():
        from gradiva.yarp_modules import gradiva_module

    try:
        return gradiva_module.run_module(gradiva_module.module_class(title), arguments)
    except SystemExit as asked_for_help:
        return int(asked_for_help.code or 0)


def list_modules() -> int:
    """Print which modules there are; return the exit status."""
    with leaving_at_once():
        from gradiva.yarp_modules.gradiva_module import MODULES, module_class

    for title in MODULES:
        print(f"{title:15s} {module_class(title).SUMMARY}")
    return 0


def _program(title: str) -> Callable[[], None]:
    def main() -> None:
        sys.exit(_run_program(title))

    main.__doc__ = f"Run the module {title}."
    return main


def _run_program(title: str) -> int:
    try:
        from gradiva.cli.commands import carry_out

        return carry_out(["module", title, *sys.argv[1:]])
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


planner = _program("planner")
model_control = _program("model_control")
whole_body = _program("whole_body")
walking = _program("walking")
simulator = _program("simulator")
logger = _program("logger")
joypad = _program("joypad")
panel = _program("panel")
