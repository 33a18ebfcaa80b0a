"""``gradiva module``."""

from __future__ import annotations

from typing import Annotated

import typer

from gradiva.cli.interrupts import leaving_at_once


def module(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="As in: gradiva module --list.")] = None,
    wants_list: Annotated[bool, typer.Option("--list", help="List the modules.")] = False,
) -> int:
    """Run one module of the application until the command quit, Ctrl-C or SIGTERM.

    What follows NAME are the module's own options: gradiva module NAME --help. Exit status: 0 ended by one of them,
    1 its ports could not be opened, 2 wrong input.
    """
    with leaving_at_once():
        from gradiva.cli import module_scripts

    if wants_list:
        return module_scripts.list_modules()
    if name is None:
        raise typer.BadParameter("which module? see gradiva module --list")
    return module_scripts.run(name, context.args)
