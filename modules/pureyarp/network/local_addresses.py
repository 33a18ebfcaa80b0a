"""IPv4 addresses of this machine."""

from __future__ import annotations

import contextlib
import socket
import struct
import sys

_GET_INTERFACE_ADDRESS = 0x8915  # Linux: SIOCGIFADDR
_LONGEST_NAME = 15
_ADDRESS_IN_REPLY = slice(20, 24)


def local_addresses() -> list[str]:
    """Return the IPv4 addresses of this machine's interfaces, loopback among them, sorted."""
    addresses = {"127.0.0.1"} | _interface_addresses()
    with contextlib.suppress(OSError):
        addresses |= set(socket.gethostbyname_ex(socket.gethostname())[2])
    return sorted(addresses)


def _interface_addresses() -> set[str]:
    """Return what the kernel tells of each interface; of other systems than Linux we ask the host's name alone."""
    if sys.platform != "linux":
        return set()
    import fcntl

    addresses = set()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for _, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode()[:_LONGEST_NAME])
            with contextlib.suppress(OSError):  # an interface without an IPv4 address
                reply = fcntl.ioctl(sock.fileno(), _GET_INTERFACE_ADDRESS, request)
                addresses.add(socket.inet_ntoa(reply[_ADDRESS_IN_REPLY]))
    return addresses
