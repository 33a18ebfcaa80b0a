"""The settings of this process, from environment variables and YARP's files.

=========================== ============================================================================
Variable                    Meaning
=========================== ============================================================================
YARP_CONFIG_HOME            folder of the files; else $XDG_CONFIG_HOME/yarp, else ~/.config/yarp
YARP_NAMESPACE              name of the name server; else ``yarp_namespace.conf``, else ``/root``
YARP_IP                     beginning of the address of this machine on which ports listen
YARP_PORT_PREFIX            put in front of the name of every port
PUREYARP_LISTEN             address on which ports listen; 127.0.0.1 by default, 0.0.0.0 is everywhere
PUREYARP_FAMILY             3 or 4: the family of YARP that is spoken first
PUREYARP_LARGEST_FRAME      bytes of the largest message that is accepted
=========================== ============================================================================
"""

from __future__ import annotations

import ipaddress
import os
import threading
from collections.abc import Mapping

from pureyarp.errors import SettingsError
from pureyarp.network.authentication_file import authentication_key
from pureyarp.network.listening_host import is_loopback
from pureyarp.network.local_addresses import local_addresses
from pureyarp.network.log import log
from pureyarp.network.name_server_file import (
    NameServerAddress,
    name_server_file,
    namespace_of,
    read_name_server_file,
)
from pureyarp.network.settings import ConnectionLimits, NetworkSettings
from pureyarp.wire.elements import WireFamily

LISTEN = "PUREYARP_LISTEN"
FAMILY = "PUREYARP_FAMILY"
LARGEST_FRAME = "PUREYARP_LARGEST_FRAME"
_SMALLEST_FRAME = 1024  # [bytes] below, not even administration works
_LARGEST_FRAME = 2**31 - 1  # lengths are signed integers of 32 bits

_lock = threading.Lock()
_settings: NetworkSettings | None = None


def current_settings() -> NetworkSettings:
    """Return the settings of this process; environment and files are read at the first call."""
    global _settings
    with _lock:
        if _settings is None:
            _settings = load_settings(os.environ)
            _warn_if_unreachable(_settings)
        return _settings


def use_settings(settings: NetworkSettings | None) -> None:
    """Use these settings from now on; None reads environment and files again at the next use."""
    global _settings
    with _lock:
        _settings = settings


def load_settings(environment: Mapping[str, str]) -> NetworkSettings:
    """Return what the environment and the files that it names say; raise `SettingsError` that names what is wrong."""
    namespace = namespace_of(environment)
    path = name_server_file(environment, namespace)
    address = read_name_server_file(path)
    default = NameServerAddress("127.0.0.1", 10000)
    return NetworkSettings(
        namespace=namespace,
        name_server_host=(address or default).host,
        name_server_port=(address or default).port,
        found_in=str(path) if address else "",
        listen_host=_listen_host(environment),
        port_prefix=_port_prefix(environment),
        authentication_key=authentication_key(environment),
        family=_family(environment),
        limits=ConnectionLimits(largest_frame=_largest_frame(environment)),
    )


def _listen_host(environment: Mapping[str, str]) -> str:
    if host := environment.get(LISTEN):
        return _checked_address("127.0.0.1" if host == "localhost" else host)
    prefix = environment.get("YARP_IP")
    if not prefix:
        return "127.0.0.1"
    addresses = local_addresses()
    matching = [address for address in addresses if address.startswith(prefix)]
    if not matching:
        raise SettingsError(f"YARP_IP='{prefix}' begins no address of this machine (valid: {', '.join(addresses)})")
    return matching[0]


def _checked_address(host: str) -> str:
    try:
        return str(ipaddress.IPv4Address(host))
    except ValueError as error:
        valid = ", ".join(["0.0.0.0", *local_addresses()])
        raise SettingsError(f"{LISTEN}='{host}' is no IPv4 address (valid: {valid})") from error


def _port_prefix(environment: Mapping[str, str]) -> str:
    prefix = environment.get("YARP_PORT_PREFIX", "")
    if any(character.isspace() for character in prefix):
        raise SettingsError(f"YARP_PORT_PREFIX='{prefix}' must not have blanks, such as /robot")
    return prefix


def _family(environment: Mapping[str, str]) -> WireFamily:
    name = environment.get(FAMILY, WireFamily.YARP_3.value)
    try:
        return WireFamily(name)
    except ValueError as error:
        raise SettingsError(f"{FAMILY}='{name}' is no family of YARP (valid: 3, 4)") from error


def _largest_frame(environment: Mapping[str, str]) -> int:
    text = environment.get(LARGEST_FRAME)
    if text is None:
        return ConnectionLimits().largest_frame
    if not text.isdecimal() or not _SMALLEST_FRAME <= int(text) <= _LARGEST_FRAME:
        raise SettingsError(f"{LARGEST_FRAME}='{text}' must be bytes, from {_SMALLEST_FRAME} to {_LARGEST_FRAME}")
    return int(text)


def _warn_if_unreachable(settings: NetworkSettings) -> None:
    host = settings.name_server_host
    if is_loopback(settings.listen_host) and not is_loopback(host) and host not in local_addresses():
        log.warning(
            "the name server is at %s, but ports of this process listen on %s, where other machines do not reach "
            "them: set %s=0.0.0.0, or to this machine's address on that network",
            host,
            settings.listen_host,
            LISTEN,
        )
