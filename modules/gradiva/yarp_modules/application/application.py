"""Data of an application: modules, the ports that they depend on, connections."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

LOCAL_NODES = ("", "localhost", "127.0.0.1")


@dataclass(frozen=True, slots=True)
class PortDependency:
    """Names a port that has to be there before a module starts.

    Attributes:
        port: Its full name.
        timeout: How long it is waited for, [s].
        request: Sent to it, if not empty, until the reply is ``reply``.
        reply: Text of a Bottle.
    """

    port: str
    timeout: float = 20.0
    request: str = ""
    reply: str = ""


@dataclass(frozen=True, slots=True)
class ApplicationModule:
    """Describes a program of an application.

    Attributes:
        program: Name of the executable, or of the device when ``deployer`` is ``yarpdev``.
        parameters: As on a command line.
        node: Computer that it runs on.
        rank: Modules of lower rank start earlier.
        work_folder: Where it runs; empty for where the application is started.
        deployer: Empty for a program, ``yarpdev`` for a device, else the interpreter of a script.
        prefix: Put in front of the names of its ports (``YARP_PORT_PREFIX``).
        environment: Variables that it gets besides those of the runner.
        dependencies: Ports that it waits for.
        wait_after_start: [s].
        wait_after_stop: [s].
        place: File and line.
    """

    program: str
    parameters: str = ""
    node: str = "localhost"
    rank: int = 0
    work_folder: str = ""
    deployer: str = ""
    prefix: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    dependencies: tuple[PortDependency, ...] = ()
    wait_after_start: float = 0.0
    wait_after_stop: float = 0.0
    place: str = ""

    @property
    def is_local(self) -> bool:
        """Whether it runs on the runner's machine."""
        return self.node in LOCAL_NODES

    @property
    def arguments(self) -> list[str]:
        """Its parameters, word by word."""
        return shlex.split(self.parameters)

    @property
    def port(self) -> str:
        """Prefix of its own ports, given by ``--name`` in its parameters; empty without."""
        words = self.arguments
        for index, word in enumerate(words):
            option, _, value = word.partition("=")
            name = value or "".join(words[index + 1 : index + 2])
            if option == "--name" and name:
                return f"{self.prefix}/{name.lstrip('/')}"
        return ""


@dataclass(frozen=True, slots=True)
class ApplicationConnection:
    """Describes a connection between two ports.

    Attributes:
        source: Full name of the port that sends.
        destination: Full name of the port that receives.
        carrier: Empty for the destination's own.
        is_persistent: Made again by the name server whenever an end of it comes back.
        external: Which of its ports belong to others: not moved by the prefix of an embedded application.
    """

    source: str
    destination: str
    carrier: str = ""
    is_persistent: bool = False
    external: frozenset[str] = frozenset()

    def moved(self, prefix: str) -> ApplicationConnection:
        """Return it with ``prefix`` in front of the ports that belong to the application."""
        source, destination = (
            port if port in self.external else prefix + port for port in (self.source, self.destination)
        )
        return dataclasses.replace(self, source=source, destination=destination)


@dataclass(frozen=True, slots=True)
class Application:
    """Describes programs that belong together, and their connections.

    Attributes:
        name: Without blanks.
        description: In a line.
        version: Of the file.
        authors: Name to mail address, which may be empty.
        dependencies: Ports of others that have to be there.
        modules: In the order of the file.
        connections: In the order of the file.
        file: Where it was read.
        notes: Parts of the file that are ignored, in lines.
    """

    name: str
    description: str = ""
    version: str = ""
    authors: Mapping[str, str] = field(default_factory=dict)
    dependencies: tuple[PortDependency, ...] = ()
    modules: tuple[ApplicationModule, ...] = ()
    connections: tuple[ApplicationConnection, ...] = ()
    file: Path = Path()
    notes: tuple[str, ...] = ()

    def moved(self, prefix: str) -> Application:
        """Return it with ``prefix`` in front of the ports of its modules and connections."""
        return dataclasses.replace(
            self,
            modules=tuple(dataclasses.replace(module, prefix=prefix + module.prefix) for module in self.modules),
            connections=tuple(connection.moved(prefix) for connection in self.connections),
        )

    def joined(self, other: Application) -> Application:
        """Return it with the modules, connections and dependencies of ``other``."""
        return dataclasses.replace(
            self,
            dependencies=(*self.dependencies, *other.dependencies),
            modules=(*self.modules, *other.modules),
            connections=(*self.connections, *other.connections),
            notes=(*self.notes, *other.notes),
        )

    def in_order(self) -> list[ApplicationModule]:
        """Return the modules in the order in which they start: by rank, then as in the file."""
        return sorted(self.modules, key=lambda module: module.rank)

    def titles(self) -> dict[str, ApplicationModule]:
        """Return the modules in the order in which they start, by a name that no other has."""
        named: dict[str, ApplicationModule] = {}
        for module in self.in_order():
            title, twins = Path(module.program).name, 1
            while title in named:
                twins += 1
                title = f"{Path(module.program).name}-{twins}"
            named[title] = module
        return named
