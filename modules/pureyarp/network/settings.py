"""How this process takes part in the network: where it listens, what it accepts, which family it speaks."""

from __future__ import annotations

from dataclasses import dataclass, field

from pureyarp.wire.elements import WireFamily


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """What a peer may ask of this process.

    Attributes:
        largest_frame: Bytes of one message; a larger one is refused and its connection closed.
        largest_text: Characters of one message on a text connection, which takes a hundred times longer to understand.
        most_connections: Of one port, at a time; further ones are closed at once.
        handshake_timeout: Until a new connection has said who it is, [s].
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
    """What the environment and YARP's files say.

    Attributes:
        namespace: Name of the name server's own port.
        name_server_host: IPv4 address.
        name_server_port: TCP port.
        found_in: File or variable that told the name server's address; empty for the default.
        listen_host: Where the ports of this process listen; loopback unless configured.
        port_prefix: Put in front of every port name that this process opens.
        authentication_key: Shared secret of the port authentication; None without.
        family: Spoken where the peer does not show which one it speaks.
        may_serve_names: Whether this process may start the embedded name server when none answers on loopback; the
            command-line tools may not, for a network of their own would only puzzle people.
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
