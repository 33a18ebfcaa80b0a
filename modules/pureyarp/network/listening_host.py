"""Which address peers are told, and whether the name server shares this machine."""

from __future__ import annotations

import ipaddress

from pureyarp.network.settings import NetworkSettings

EVERYWHERE = "0.0.0.0"


def is_loopback(host: str) -> bool:
    """Tell whether a host can only be this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def registered_host(settings: NetworkSettings) -> str:
    """Return the host that is registered with the ports of this process; empty lets the name server see for itself.

    It sees the address that the request came from, which is right for ports that listen everywhere, or on loopback
    when the name server does, too.
    """
    if settings.listen_host == EVERYWHERE:
        return ""
    if is_loopback(settings.listen_host) and is_loopback(settings.name_server_host):
        return ""
    return settings.listen_host
