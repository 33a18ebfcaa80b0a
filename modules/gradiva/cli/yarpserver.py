"""``gradiva yarpserver``."""

from __future__ import annotations

from typing import Annotated

import typer

from gradiva.cli.interrupts import leaving_at_once


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
        from gradiva.cli.yarp.serving import ServerRequest, serve

    return serve(ServerRequest(host, port, write, namespace, verbose))
