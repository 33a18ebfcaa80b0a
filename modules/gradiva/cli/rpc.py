"""``gradiva rpc``."""

from __future__ import annotations

from typing import Annotated

import typer

from gradiva.cli.interrupts import leaving_at_once
from gradiva.cli.yarp.late_options import note_late_options


def rpc(
    port: Annotated[str, typer.Argument(metavar="PORT", help="Name of the port, such as /walking-coordinator/rpc.")],
    command: Annotated[
        list[str] | None, typer.Argument(metavar="COMMAND", help="What to send; without it, you are asked.")
    ] = None,
    timeout: Annotated[float, typer.Option(min=0.01, max=3600.0, metavar="S", help="How long to wait.")] = 5.0,
    text: Annotated[bool, typer.Option("--text", help="Speak in text (carrier text_ack) instead of binary.")] = False,
) -> int:
    """Send a command to a port and print its reply; without a command, ask for commands (or read a pipe).

    COMMAND is the text of a Bottle: words, numbers, "(1.0 0.5)", '"two words"'. Options stand before PORT.

    Exit status: 0 replied, 1 refused ([fail]) or no reply, 2 wrong input.
    """
    with leaving_at_once():
        from gradiva.cli.yarp.calling import Caller, call_once, call_repeatedly

    note_late_options(command or [], "--text", "--timeout")
    caller = Caller(port, "text_ack" if text else "tcp", timeout)
    return call_once(caller, command) if command else call_repeatedly(caller)
