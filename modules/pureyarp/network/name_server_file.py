"""The file in which all YARP programs of a user find their name server."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pureyarp.data.ini import YarpFolders, parse_ini
from pureyarp.errors import SettingsError
from pureyarp.wire.elements import Element

DEFAULT_NAMESPACE = "/root"
_EXAMPLE = "'127.0.0.1 10000 yarp'"
_MOST_PORT = 65535


@dataclass(frozen=True, slots=True)
class NameServerAddress:
    """Where the name server listens.

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
    text = _text_of(path)
    words = text.split() if text is not None else []
    return _checked_namespace(words[0].strip('"'), str(path)) if words else DEFAULT_NAMESPACE


def name_server_file(environment: Mapping[str, str], namespace: str | None = None) -> Path:
    """Return the path of the file that tells the address of a namespace's name server; it need not exist."""
    name = namespace or namespace_of(environment)
    base = "yarp" if name == DEFAULT_NAMESPACE else re.sub(r"[^A-Za-z0-9]", "_", name)
    return YarpFolders.of(environment).config_home / f"{base}.conf"


def read_name_server_file(path: Path) -> NameServerAddress | None:
    """Return the address in a file, None if there is no such file; raise `SettingsError` if it tells none."""
    text = _text_of(path)
    if text is None:
        return None
    is_ini = text.lstrip().startswith("[")
    words = _ini_words(text) if is_ini else text.split()
    return _address(words, path)


def write_name_server_file(path: Path, address: NameServerAddress) -> None:
    """Write the file, so that all YARP programs of this user find the name server there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{address.host} {address.port} yarp\n", encoding="utf-8")


def _ini_words(text: str) -> list[str]:
    """Return host, port and mode of the group ``[name]``."""
    keys: dict[str, str] = {}
    for group in parse_ini(text, {}):
        if isinstance(group, list) and group and group[0] == "name":
            keys |= {str(pair[0]): str(pair[1]) for pair in _pairs(group[1:])}
    return [keys.get("host", ""), keys.get("port", ""), keys.get("mode", "yarp")]


def _pairs(elements: Iterable[Element]) -> list[list[Element]]:
    return [element for element in elements if isinstance(element, list) and len(element) > 1]


def _address(words: list[str], path: Path) -> NameServerAddress:
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


def _text_of(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}") from error
