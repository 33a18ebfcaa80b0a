"""Declare ``gradiva yarp …``, ``gradiva rpc`` and ``gradiva yarpserver``; what they do is imported when they run."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Annotated

import typer

from gradiva.cli.main import leaving_at_once

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
        from gradiva.cli.yarp import streams

    return streams.read(streams.ReadRequest(port, source, carrier, count, envelope, rate))


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
        from gradiva.cli.yarp import streams

    given = list(words or [])
    note_late_options(given, "--carrier")
    destination = given.pop(0) if given and given[0].startswith("/") else None
    return streams.write(streams.WriteRequest(port, destination, given, carrier))


@yarp_app.command(context_settings=_OPTIONS_FIRST)
def name(
    words: Annotated[
        list[str], typer.Argument(metavar="COMMAND", help="list, query /p, register /p, unregister /p, get, set, help")
    ],
) -> int:
    """Ask the name server and print its answer as it comes."""
    with leaving_at_once():
        from gradiva.cli.yarp import name_server

    return name_server.ask_name_server(words)


@yarp_app.command()
def ping(
    port: Annotated[str, typer.Argument(metavar="PORT")],
    count: Annotated[int, typer.Option(min=1, max=100000, metavar="N", help="Round trips to time.")] = 10,
) -> int:
    """Print a port's report of its connections and how fast it answers."""
    with leaving_at_once():
        from gradiva.cli.yarp import connections

    return connections.ping(port, count)


@yarp_app.command()
def connect(
    source: Annotated[str, typer.Argument(metavar="SRC", help="Port that sends.")],
    destination: Annotated[str, typer.Argument(metavar="DST", help="Port that receives.")],
    carrier: Annotated[str, typer.Argument(metavar="CARRIER", help="The port's usual one by default.")] = "",
) -> int:
    """Let a port send to another one."""
    with leaving_at_once():
        from gradiva.cli.yarp import connections

    return connections.connect(source, destination, carrier)


@yarp_app.command()
def disconnect(
    source: Annotated[str, typer.Argument(metavar="SRC", help="Port that sends.")],
    destination: Annotated[str, typer.Argument(metavar="DST", help="Port that receives.")],
) -> int:
    """Let a port no longer send to another one."""
    with leaving_at_once():
        from gradiva.cli.yarp import connections

    return connections.disconnect(source, destination)


@yarp_app.command()
def exists(port: Annotated[str, typer.Argument(metavar="PORT")]) -> int:
    """Check whether a port answers, by the exit status."""
    with leaving_at_once():
        from gradiva.cli.yarp import connections

    return connections.exists(port)


@yarp_app.command()
def clean(
    timeout: Annotated[float, typer.Option(min=0.01, max=60.0, metavar="S", help="For each port to answer.")] = 2.0,
) -> int:
    """Let the name server forget ports that no longer answer; prints their names."""
    with leaving_at_once():
        from gradiva.cli.yarp import name_server

    return name_server.clean(timeout)


@yarp_app.command()
def where() -> int:
    """Print the name server's address, how it was found, and whether it answers (exit status 0) or not (1)."""
    with leaving_at_once():
        from gradiva.cli.yarp import name_server

    return name_server.where()


def rpc(
    port: Annotated[str, typer.Argument(metavar="PORT", help="Name of the port, such as /walking-coordinator/rpc.")],
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="COMMAND", help="Command to send; without it, commands are read from the terminal or a pipe."
        ),
    ] = None,
    timeout: Annotated[float, typer.Option(min=0.01, max=3600.0, metavar="S", help="Timeout of the reply.")] = 5.0,
    text: Annotated[bool, typer.Option("--text", help="Speak in text (carrier text_ack) instead of binary.")] = False,
) -> int:
    """Send a command to a port and print its reply; without a command, ask for commands (or read a pipe).

    COMMAND is the text of a Bottle: words, numbers, "(1.0 0.5)", '"two words"'. Options stand before PORT.

    Exit status: 0 replied, 1 refused (its reply begins with fail) or no reply, 2 wrong input.
    """
    with leaving_at_once():
        from gradiva.cli.yarp.calling import Caller, call_once, call_repeatedly

    note_late_options(command or [], "--text", "--timeout")
    caller = Caller(port, "text_ack" if text else "tcp", timeout)
    return call_once(caller, command) if command else call_repeatedly(caller)


def yarpserver(
    host: Annotated[
        str | None, typer.Option(metavar="H", help="Address of this machine; as configured, or 127.0.0.1.")
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, metavar="N", help="TCP port; as configured, or 10000.")
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Write the file in which programs find it.")] = False,
    namespace: Annotated[
        str | None, typer.Option(metavar="/NAME", help="Of the network; as configured, or /root.")
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Print registrations as they come and go.")] = False,
) -> int:
    """Run a YARP name server until Ctrl-C or SIGTERM.

    Exit status: 0 ended by either, 2 the address is taken or not of this machine.
    """
    with leaving_at_once():
        from gradiva.cli.yarp.name_server import ServerRequest, serve

    return serve(ServerRequest(host, port, write, namespace, verbose))


def note_late_options(words: Iterable[str], *options: str) -> None:
    """Print a note where a word of a message looks like an option: it is sent as part of the message."""
    for word in words:
        if word.partition("=")[0] in options:
            print(f"note: {word} is sent as part of the message; options stand before PORT", file=sys.stderr)
