"""Where a port is: its name and its address."""

from __future__ import annotations

import re
import socket

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
        """Tell whether a TCP port is known."""
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
        """Tell whether a timeout was set."""
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
