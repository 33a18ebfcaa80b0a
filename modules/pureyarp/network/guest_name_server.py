"""The name server that lives as a guest in this process, when nobody else serves names on loopback."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from pureyarp.errors import NetworkError
from pureyarp.network.listening_host import is_loopback
from pureyarp.network.log import log
from pureyarp.network.name_client import NameClient
from pureyarp.network.settings import NetworkSettings

if TYPE_CHECKING:  # a name server is itself a port, and ports are kept registered here
    from pureyarp.network.name_server import NameServer

GUEST = "guest"  # property of the name server's own name: it lives and dies with some other program

_lock = threading.Lock()
_server: NameServer | None = None


def serve_names(settings: NetworkSettings) -> bool:
    """Start a name server in this process; False if the address is not on loopback, or somebody else was faster."""
    global _server
    if not is_loopback(settings.name_server_host):
        return False
    from pureyarp.network.name_server import NameServer

    with _lock:
        if _server is not None:
            return True
        server = NameServer(settings, is_guest=True)
        try:
            server.start()
        except NetworkError as error:
            log.info("%s", error)
            return False
        _server = server
    log.warning(
        "no name server answered: this process now serves names at %s:%d, until it ends",
        settings.name_server_host,
        settings.name_server_port,
    )
    return True


def stop_serving_names() -> None:
    """Stop the name server of this process, if there is one."""
    global _server
    with _lock:
        server, _server = _server, None
    if server is not None:
        server.stop()


def serves_names() -> bool:
    """Tell whether the name server lives in this process."""
    return _server is not None


def is_guest(client: NameClient, settings: NetworkSettings) -> bool:
    """Tell whether the name server lives in some program that does not exist for its sake."""
    return bool(client.get_property(settings.namespace, GUEST))
