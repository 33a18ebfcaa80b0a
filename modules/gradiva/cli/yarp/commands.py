"""The shapes of ``gradiva yarp …``; what they do is imported when they run."""

from __future__ import annotations

from typing import Annotated

import typer

from gradiva.cli.interrupts import leaving_at_once
from gradiva.cli.yarp.late_options import note_late_options

yarp_app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Look into a network of YARP ports: read, write, connect them. Exit status: 0 done, 1 a port or the name"
    " server does not answer, 2 wrong input.",
)
_OPTIONS_FIRST = {"allow_interspersed_args": False}  # messages may hold negative numbers

Carrier = Annotated[
    str, typer.Option(metavar="C", help="tcp, fast_tcp, udp, text, text_ack; the port's usual one by default.")
]


@yarp_app.command()
def read(
    port: Annotated[str, typer.Argument(metavar="PORT", help="Our own name; ... is chosen by the server.")] = "...",
    source: Annotated[
        str | None, typer.Argument(metavar="SOURCE", help="Port to read from; waited for, and connected again.")
    ] = None,
    carrier: Carrier = "",
    count: Annotated[int | None, typer.Option(min=1, metavar="N", help="End after so many lines.")] = None,
    envelope: Annotated[bool, typer.Option("--envelope", help="Print (counter time) before each message.")] = False,
    rate: Annotated[bool, typer.Option("--rate", help="Print rate, intervals and losses each second instead.")] = False,
) -> int:
    """Print every message that arrives, one line each, until Ctrl-C."""
    with leaving_at_once():
        from gradiva.cli.yarp import reading

    return reading.read(reading.ReadRequest(port, source, carrier, count, envelope, rate))


@yarp_app.command(context_settings=_OPTIONS_FIRST)
def write(
    port: Annotated[str, typer.Argument(metavar="PORT", help="Our own name; ... is chosen by the server.")],
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="DESTINATION MESSAGE", help="Port to send to, if it begins with /; the message."),
    ] = None,
    carrier: Carrier = "",
) -> int:
    """Send MESSAGE once, or every line of standard input; options stand before PORT."""
    with leaving_at_once():
        from gradiva.cli.yarp import writing

    given = list(words or [])
    note_late_options(given, "--carrier")
    destination = given.pop(0) if given and given[0].startswith("/") else None
    return writing.write(writing.WriteRequest(port, destination, given, carrier))


@yarp_app.command(context_settings=_OPTIONS_FIRST)
def name(
    words: Annotated[
        list[str], typer.Argument(metavar="COMMAND", help="list, query /p, register /p, unregister /p, get, set, help")
    ],
) -> int:
    """Ask the name server and print its answer as it comes."""
    with leaving_at_once():
        from gradiva.cli.yarp import naming

    return naming.ask_name_server(words)


@yarp_app.command()
def ping(
    port: Annotated[str, typer.Argument(metavar="PORT")],
    count: Annotated[int, typer.Option(min=1, max=100000, metavar="N", help="Round trips to time.")] = 10,
) -> int:
    """Print a port's report of its connections and how fast it answers."""
    with leaving_at_once():
        from gradiva.cli.yarp import pinging

    return pinging.ping(port, count)


@yarp_app.command()
def connect(
    source: Annotated[str, typer.Argument(metavar="SRC", help="Port that sends.")],
    destination: Annotated[str, typer.Argument(metavar="DST", help="Port that receives.")],
    carrier: Annotated[str, typer.Argument(metavar="CARRIER", help="The port's usual one by default.")] = "",
) -> int:
    """Let a port send to another one."""
    with leaving_at_once():
        from gradiva.cli.yarp import connecting

    return connecting.connect(source, destination, carrier)


@yarp_app.command()
def disconnect(
    source: Annotated[str, typer.Argument(metavar="SRC", help="Port that sends.")],
    destination: Annotated[str, typer.Argument(metavar="DST", help="Port that receives.")],
) -> int:
    """Let a port no longer send to another one."""
    with leaving_at_once():
        from gradiva.cli.yarp import connecting

    return connecting.disconnect(source, destination)


@yarp_app.command()
def exists(port: Annotated[str, typer.Argument(metavar="PORT")]) -> int:
    """Check whether a port answers, by the exit status."""
    with leaving_at_once():
        from gradiva.cli.yarp import connecting

    return connecting.exists(port)


@yarp_app.command()
def clean(
    timeout: Annotated[float, typer.Option(min=0.01, max=60.0, metavar="S", help="For each port to answer.")] = 2.0,
) -> int:
    """Let the name server forget ports that no longer answer; prints their names."""
    with leaving_at_once():
        from gradiva.cli.yarp import naming

    return naming.clean(timeout)


@yarp_app.command()
def where() -> int:
    """Print the name server's address, how it was found, and whether it answers (exit status 0) or not (1)."""
    with leaving_at_once():
        from gradiva.cli.yarp import naming

    return naming.where()
