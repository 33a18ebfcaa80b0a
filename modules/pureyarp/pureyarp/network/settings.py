"""Hold the settings of this process, and where ports are: Contact, addresses of this machine, YARP's files."""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import os
import re
import socket
import struct
import sys
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from pureyarp.data import YarpFolders, parse_ini, read_ini
from pureyarp.errors import SettingsError
from pureyarp.wire import Element, WireFamily

log = logging.getLogger("pureyarp")


_ADDRESS = re.compile(r"/?(?P<host>[^/:]+):(?P<port>\d+)(?=/|$)")


class Contact:
    """Name, carrier, host and TCP port of a port; a contact without a port number is not valid.

    Also made from ``(host, port)``, ``(carrier, host, port)`` or another contact.
    """

    def __init__(self, name: str | Contact = "", carrier: str | int = "", host: str | int = "", port: int = -1) -> None:
        self._timeout = -1.0
        self._name, self._carrier, self._host, self._port = _parts(name, carrier, host, port)

    @staticmethod
    def fromString(txt: str) -> Contact:
        """Return the contact of ``/name``, ``carrier://name`` or ``carrier://host:port/name``."""
        carrier, separator, rest = txt.partition(":/")
        if not separator or txt.startswith("/"):
            return Contact(txt)
        address = _ADDRESS.match(rest)
        if address is not None:
            name = rest[address.end() :]
            return Contact("" if name == "/" else name, carrier, address["host"], int(address["port"]))
        return Contact(rest if rest.startswith("/") else f"/{rest}", carrier)

    @staticmethod
    def convertHostToIp(name: str) -> str:
        """Return the IPv4 address of a host, or the name itself if it is unknown."""
        try:
            return socket.gethostbyname(name)
        except OSError:
            return name

    def getName(self) -> str:
        """Return the registered name, or ``/host:port`` of a contact without one; empty without either."""
        return self._name or (f"/{self._host}:{self._port}" if self._host else "")

    def getRegName(self) -> str:
        """Return the registered name, empty without one."""
        return self._name

    def getCarrier(self) -> str:
        """Return the carrier, empty if it does not matter."""
        return self._carrier

    def getHost(self) -> str:
        """Return the host's address."""
        return self._host

    def getPort(self) -> int:
        """Return the TCP port, -1 if it is not known."""
        return self._port

    def isValid(self) -> bool:
        """Return whether a TCP port is known."""
        return self._port >= 0

    def toURI(self, includeCarrier: bool = True) -> str:
        """Return ``carrier://host:port/``."""
        carrier = f"{self._carrier}:/" if includeCarrier and self._carrier else ""
        address = f"/{self._host}:{self._port}/" if self._host and self.isValid() else ""
        return carrier + address

    def toString_c(self) -> str:
        """Return ``carrier://name``, or the address of a contact without a name."""
        if not self._name:
            return self.toURI()
        return f"{self._carrier}:/{self._name}" if self._carrier else self._name

    def setName(self, name: str) -> None:
        """Change the name."""
        self._name = name

    def setCarrier(self, carrier: str) -> None:
        """Change the carrier."""
        self._carrier = carrier

    def setHost(self, hostname: str) -> None:
        """Change the host."""
        self._host = hostname

    def setPort(self, port: int) -> None:
        """Change the TCP port."""
        self._port = port

    def setSocket(self, carrier: str, hostname: str, port: int) -> None:
        """Change carrier, host and TCP port."""
        self._carrier, self._host, self._port = carrier, hostname, port

    def hasTimeout(self) -> bool:
        """Return whether a timeout was set."""
        return self._timeout >= 0

    def getTimeout(self) -> float:
        """Return the timeout, [s]; negative without one."""
        return self._timeout

    def setTimeout(self, timeout: float) -> None:
        """Set how long to wait for this contact, [s]."""
        self._timeout = timeout

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Contact) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"Contact({self._name!r}, {self._carrier!r}, {self._host!r}, {self._port})"

    def _key(self) -> tuple[str, str, str, int]:
        return self._name, self._carrier, self._host, self._port


def _parts(name: str | Contact, carrier: str | int, host: str | int, port: int) -> tuple[str, str, str, int]:
    """Return name, carrier, host and port of any of the constructor's forms."""
    if isinstance(name, Contact):
        return name._key()
    if isinstance(carrier, int):
        return "", "", name, carrier
    if isinstance(host, int):
        return "", name, carrier, host
    return name, carrier, host, port


@dataclass(slots=True)
class ContactStyle:
    """Options for contacting a peer.

    Attributes:
        admin: Speak to the port itself, not to its owner.
        quiet: Failures are not logged.
        expectReply: Wait for an answer.
        timeout: Of the whole exchange, [s]; negative waits as long as it takes.
        carrier: Empty chooses the usual one.
        persistent: Whether the connection is to outlive its ports.
        persistenceType: One of the four constants: which port's end is the connection's.
        verboseOnSuccess: Log what was done.
    """

    NO_PERSISTENCE: ClassVar[int] = 0
    END_WITH_FROM_PORT: ClassVar[int] = 1
    END_WITH_TO_PORT: ClassVar[int] = 2
    OPENENDED: ClassVar[int] = 0

    admin: bool = False
    quiet: bool = False
    expectReply: bool = True
    timeout: float = -1.0
    carrier: str = ""
    persistent: bool = False
    verboseOnSuccess: bool = True
    persistenceType: int = NO_PERSISTENCE


_GET_INTERFACE_ADDRESS = 0x8915  # Linux: SIOCGIFADDR
_LONGEST_INTERFACE_NAME = 15
_ADDRESS_IN_REPLY = slice(20, 24)


def local_addresses() -> list[str]:
    """Return the IPv4 addresses of this machine's interfaces, loopback among them, sorted."""
    addresses = {"127.0.0.1"} | _interface_addresses()
    with contextlib.suppress(OSError):
        addresses |= set(socket.gethostbyname_ex(socket.gethostname())[2])
    return sorted(addresses)


def _interface_addresses() -> set[str]:
    """Return the address of each interface from the kernel; only on Linux."""
    if sys.platform != "linux":
        return set()
    import fcntl

    addresses = set()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for _, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode()[:_LONGEST_INTERFACE_NAME])
            with contextlib.suppress(OSError):  # an interface without an IPv4 address
                reply = fcntl.ioctl(sock.fileno(), _GET_INTERFACE_ADDRESS, request)
                addresses.add(socket.inet_ntoa(reply[_ADDRESS_IN_REPLY]))
    return addresses


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Limits of what a peer may request from this process.

    Attributes:
        largest_frame: Bytes of one message; a larger one is refused and its connection closed.
        largest_text: Characters of one message on a text connection, which takes a hundred times longer to understand.
        most_connections: Of one port, at a time; further ones are closed at once.
        handshake_timeout: Until a new connection has introduced itself, [s].
        stall_timeout: Without a byte in the middle of a message, [s]; between messages a connection may be silent.
        strict_queue: Messages that a strict reader keeps; then its senders wait for their acknowledgement.
    """

    largest_frame: int = 4 * 1024 * 1024
    largest_text: int = 512 * 1024
    most_connections: int = 128
    handshake_timeout: float = 2.0
    stall_timeout: float = 10.0
    strict_queue: int = 1000


@dataclass(frozen=True, slots=True)
class NetworkSettings:
    """Settings from the environment and YARP's files.

    Attributes:
        namespace: Name of the name server's own port.
        name_server_host: IPv4 address.
        name_server_port: TCP port.
        found_in: File or variable with the name server's address; empty for the default.
        listen_host: Where the ports of this process listen; loopback unless configured.
        port_prefix: Put in front of every port name that this process opens.
        authentication_key: Shared secret of the port authentication; None without.
        family: Spoken where the peer does not show which one it speaks.
        may_serve_names: Whether this process may start a name server when none answers on loopback; the
            command-line tools may not, since a network of their own would confuse their user.
        limits: What a peer may ask.
    """

    namespace: str = "/root"
    name_server_host: str = "127.0.0.1"
    name_server_port: int = 10000
    found_in: str = ""
    listen_host: str = "127.0.0.1"
    port_prefix: str = ""
    authentication_key: bytes | None = None
    family: WireFamily = WireFamily.YARP_3
    may_serve_names: bool = True
    limits: ConnectionLimits = field(default_factory=ConnectionLimits)


EVERYWHERE = "0.0.0.0"


def is_loopback(host: str) -> bool:
    """Return whether a host can only be this machine."""
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


DEFAULT_NAMESPACE = "/root"
_EXAMPLE = "'127.0.0.1 10000 yarp'"
_MOST_PORT = 65535


@dataclass(frozen=True, slots=True)
class NameServerAddress:
    """The address at which the name server listens.

    Attributes:
        host: IPv4 address or name.
        port: TCP port.
    """

    host: str
    port: int

    def __post_init__(self) -> None:
        if not 0 < self.port <= _MOST_PORT:
            raise SettingsError(f"name server port {self.port}: it must be 1 to {_MOST_PORT}")
        if not self.host or any(character.isspace() for character in self.host):
            raise SettingsError(f"name server host '{self.host}': it must be an address such as 127.0.0.1")


def namespace_of(environment: Mapping[str, str]) -> str:
    """Return the name server's own name: ``YARP_NAMESPACE``, else ``yarp_namespace.conf``, else ``/root``."""
    if named := environment.get("YARP_NAMESPACE"):
        return _checked_namespace(named, "YARP_NAMESPACE")
    path = YarpFolders.of(environment).config_home / "yarp_namespace.conf"
    text = _file_text(path)
    words = text.split() if text is not None else []
    return _checked_namespace(words[0].strip('"'), str(path)) if words else DEFAULT_NAMESPACE


def name_server_file(environment: Mapping[str, str], namespace: str | None = None) -> Path:
    """Return the path of the file with the address of a namespace's name server; it need not exist."""
    name = namespace or namespace_of(environment)
    base = "yarp" if name == DEFAULT_NAMESPACE else re.sub(r"[^A-Za-z0-9]", "_", name)
    return YarpFolders.of(environment).config_home / f"{base}.conf"


def read_name_server_file(path: Path) -> NameServerAddress | None:
    """Return the address in a file, None if there is no such file; raise `SettingsError` if it holds none."""
    text = _file_text(path)
    if text is None:
        return None
    is_ini = text.lstrip().startswith("[")
    words = _ini_words(text) if is_ini else text.split()
    return _parsed_address(words, path)


def write_name_server_file(path: Path, address: NameServerAddress) -> None:
    """Write the file, so that all YARP programs of this user find the name server there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{address.host} {address.port} yarp\n", encoding="utf-8")


def _ini_words(text: str) -> list[str]:
    """Return host, port and mode of the group ``[name]``."""
    keys: dict[str, str] = {}
    for group in parse_ini(text, {}):
        if isinstance(group, list) and group and group[0] == "name":
            keys |= {str(pair[0]): str(pair[1]) for pair in _entries_with_value(group[1:])}
    return [keys.get("host", ""), keys.get("port", ""), keys.get("mode", "yarp")]


def _entries_with_value(elements: Iterable[Element]) -> list[list[Element]]:
    return [element for element in elements if isinstance(element, list) and len(element) > 1]


def _parsed_address(words: list[str], path: Path) -> NameServerAddress:
    if len(words) < 2 or not words[1].isdecimal():
        raise SettingsError(f"{path}: it must hold address, port and mode of the name server, such as {_EXAMPLE}")
    if len(words) > 2 and words[2] != "yarp":
        raise SettingsError(f"{path}: mode '{words[2]}' is not spoken here (valid: yarp)")
    try:
        return NameServerAddress(words[0], int(words[1]))
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}") from error


def _checked_namespace(namespace: str, where: str) -> str:
    if not namespace.startswith("/") or any(character.isspace() for character in namespace):
        raise SettingsError(f"{where}: namespace '{namespace}' must begin with / and have no blanks, such as /root")
    return namespace


def _file_text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}") from error


KEY_FILE = "auth.conf"


def authentication_key(environment: Mapping[str, str]) -> bytes | None:
    """Return the key of ``[AUTH]`` in the first ``auth.conf`` on YARP's way of looking for files, None without one."""
    path = _find_key_file(environment)
    if path is None:
        return None
    for group in read_ini(path, environment) or []:
        if not isinstance(group, list) or not group or group[0] != "AUTH":
            continue
        for entry in group[1:]:
            if isinstance(entry, list) and len(entry) == 2 and entry[0] == "key":
                return str(entry[1]).encode("utf-8", "surrogateescape")
    raise SettingsError(f'{path}: it must have a group [AUTH] with a line: key "the shared secret"')


def _find_key_file(environment: Mapping[str, str]) -> Path | None:
    folders = YarpFolders.of(environment).standard
    robot = Path("robots", environment.get("YARP_ROBOT_NAME") or "default")
    places = [Path(), *(folder / robot for folder in folders), *folders]
    return next((place / KEY_FILE for place in places if (place / KEY_FILE).is_file()), None)


LISTEN = "PUREYARP_LISTEN"
FAMILY = "PUREYARP_FAMILY"
LARGEST_FRAME = "PUREYARP_LARGEST_FRAME"
_PREFIX, _FORMER_PREFIX = "PUREYARP_", "GRADIVA_YARP_"
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
    """Return the settings of an environment and its files; raise `SettingsError` that names a wrong one."""
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


def _own_variable(environment: Mapping[str, str], name: str) -> tuple[str, str | None]:
    """Return name and value of a variable of this package, by its former name where only that is set."""
    former = name.replace(_PREFIX, _FORMER_PREFIX)
    return (
        (former, environment[former])
        if former in environment and name not in environment
        else (name, environment.get(name))
    )


def _listen_host(environment: Mapping[str, str]) -> str:
    name, host = _own_variable(environment, LISTEN)
    if host:
        return _checked_address("127.0.0.1" if host == "localhost" else host, name)
    prefix = environment.get("YARP_IP")
    if not prefix:
        return "127.0.0.1"
    addresses = local_addresses()
    matching = [address for address in addresses if address.startswith(prefix)]
    if not matching:
        raise SettingsError(f"YARP_IP='{prefix}' begins no address of this machine (valid: {', '.join(addresses)})")
    return matching[0]


def _checked_address(host: str, variable: str) -> str:
    try:
        return str(ipaddress.IPv4Address(host))
    except ValueError as error:
        valid = ", ".join(["0.0.0.0", *local_addresses()])
        raise SettingsError(f"{variable}='{host}' is no IPv4 address (valid: {valid})") from error


def _port_prefix(environment: Mapping[str, str]) -> str:
    prefix = environment.get("YARP_PORT_PREFIX", "")
    if any(character.isspace() for character in prefix):
        raise SettingsError(f"YARP_PORT_PREFIX='{prefix}' must not have blanks, such as /robot")
    return prefix


def _family(environment: Mapping[str, str]) -> WireFamily:
    name, family = _own_variable(environment, FAMILY)
    try:
        return WireFamily(WireFamily.YARP_3.value if family is None else family)
    except ValueError as error:
        raise SettingsError(f"{name}='{family}' is no family of YARP (valid: 3, 4)") from error


def _largest_frame(environment: Mapping[str, str]) -> int:
    name, text = _own_variable(environment, LARGEST_FRAME)
    if text is None:
        return ConnectionLimits().largest_frame
    if not text.isdecimal() or not _SMALLEST_FRAME <= int(text) <= _LARGEST_FRAME:
        raise SettingsError(f"{name}='{text}' must be bytes, from {_SMALLEST_FRAME} to {_LARGEST_FRAME}")
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
