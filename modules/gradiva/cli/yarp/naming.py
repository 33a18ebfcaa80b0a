"""``gradiva yarp name``, ``clean``, ``where``: the name server."""

from __future__ import annotations

from collections.abc import Sequence

from gradiva.cli.yarp.failures import failing_with_one_line, failure_text, say
from gradiva.cli.yarp.name_server_address import address_of, origin_of
from gradiva.cli.yarp.port_search import accepts_connections
from gradiva.cli.yarp.session import require_name_server
from gradiva.middleware import Contact, NameClient, NameServerUnreachable, current_settings

_NO_PROCESS = "mcast"  # such entries are groups, nobody listens there


def ask_name_server(words: Sequence[str]) -> int:
    """Print the name server's answer to a command; return the exit status."""
    with failing_with_one_line():
        for line in NameClient(current_settings()).command(" ".join(words)):
            print(line)
    return 0


def clean(timeout: float) -> int:
    """Unregister ports that do not accept a connection within ``timeout`` [s]; return the exit status."""
    settings = current_settings()
    client = NameClient(settings)
    with failing_with_one_line():
        for contact in client.list_names():
            if _is_process(contact, settings.namespace) and not accepts_connections(contact, timeout):
                client.unregister(contact.getRegName())
                print(contact.getRegName(), flush=True)
        client.command("gc")
    return 0


def where() -> int:
    """Print the name server's address; tell how it was found and whether it answers."""
    settings = current_settings()
    print(f"{settings.namespace} {address_of(settings)}")
    say(f"address: {origin_of(settings)}")
    try:
        require_name_server()
    except NameServerUnreachable as error:
        say(failure_text(error))
        return 1
    say("it answers")
    return 0


def _is_process(contact: Contact, namespace: str) -> bool:
    return contact.getCarrier() != _NO_PROCESS and contact.getRegName() not in (namespace, "fallback")
