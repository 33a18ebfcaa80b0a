"""Reads the XML of yarpmanager's applications, and finds their files.

What is read, with the same meaning: ``var``, ``module`` (``name``, ``parameters``, ``node``, ``workdir``, ``deployer``,
``prefix``, ``environment``, ``display``, ``rank``, ``dependencies``, ``ensure``), ``connection`` (``from``, ``to``,
``protocol``, ``external``, ``persist``), ``dependencies``, ``authors``, embedded ``application``. The rest is for
graphical windows or quality of service: it is reported, and ignored.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

from gradiva.common import ConfigError, nearest_name
from gradiva.middleware import yarp
from gradiva.yarp_modules.application.application import (
    Application,
    ApplicationConnection,
    ApplicationModule,
    PortDependency,
)
from gradiva.yarp_modules.application.application_xml import (
    ElementValues,
    UnknownVariableError,
    Variables,
    XmlElement,
    read_xml,
)

_TIMEOUT = 20.0  # [s] for a port, where the file has none
Finder = Callable[[str], Path]  # an application's file by its name; raises ConfigError
_KNOWN_TAGS = {
    "application": {
        *("name", "description", "version", "var", "authors", "dependencies", "module", "application", "connection")
    },
    "module": {
        *("name", "parameters", "node", "stdio", "workdir", "deployer", "prefix", "environment", "display", "rank"),
        *("dependencies", "ensure", "description", "version"),
    },
    "connection": {"from", "output", "to", "input", "protocol"},
    "dependencies": {"port"},
    "ensure": {"wait"},
    "authors": {"author"},
}
_FOR_WINDOWS = {"geometry"}  # saved by graphical managers


def read_application(path: Path, find: Finder | None = None) -> Application:
    """Return the application that a file describes; embedded ones become part of it.

    Args:
        path: XML file.
        find: How embedded applications are found; without it, they are refused.

    Raises:
        ConfigError: One line that names file, line and tag.
    """
    return _Reader(find, ()).read(path)


def load_application(name: str) -> Application:
    """Return the application that ``name`` means, with those that it embeds.

    Raises:
        ConfigError: There is none, or it is wrong.
    """
    return read_application(find_application(name), find_application)


def find_application(name: str) -> Path:
    """Return the file that ``name`` means: a path, the name of a file without ``.xml``, or an application's own name.

    Raises:
        ConfigError: There is none.
    """
    if name.endswith(".xml") or os.sep in name:
        return _existing(Path(name))
    files = application_files()
    if name in files:
        return files[name]
    for path in files.values():
        if _own_name(path) == name:
            return path
    raise ConfigError(f"no application '{name}'{nearest_name(name, files)}")


def application_files() -> dict[str, Path]:
    """Return the applications that are installed, by the name of the file without ``.xml``.

    They come with Gradiva or lie in a folder ``applications`` where YARP's ResourceFinder looks; the former win.
    """
    found: dict[str, Path] = {}
    for folder in _folders():
        for path in sorted(folder.glob("*.xml")):
            found.setdefault(path.stem, path)
    return found


def module_of(element: XmlElement, values: ElementValues) -> ApplicationModule:
    """Return the module that an element describes.

    Raises:
        ConfigError: It is wrong; names file, line and tag.
    """
    after_start, after_stop = _waits(element, values)
    return ApplicationModule(
        program=values.needed(element, "name"),
        parameters=_parameters(element, values),
        node=values.optional(element, "node") or "localhost",
        rank=values.integer(element, "rank", 0),
        work_folder=values.optional(element, "workdir"),
        deployer=values.optional(element, "deployer"),
        prefix=values.optional(element, "prefix"),
        environment=_environment(element, values),
        dependencies=port_dependencies(element, values),
        wait_after_start=after_start,
        wait_after_stop=after_stop,
        place=f"{element.file}:{element.line}",
    )


def port_dependencies(element: XmlElement, values: ElementValues) -> tuple[PortDependency, ...]:
    """Return the ports below the ``<dependencies>`` of a module or an application.

    Raises:
        ConfigError: One is wrong; names file, line and tag.
    """
    ports = (port for group in element.all("dependencies") for port in group.all("port"))
    return tuple(_dependency(port, values) for port in ports)


def _dependency(element: XmlElement, values: ElementValues) -> PortDependency:
    attributes = element.attributes
    timeout = values.number(element, attributes["timeout"], "timeout") if "timeout" in attributes else _TIMEOUT
    request = values.filled(element, attributes.get("request", ""))
    reply = values.filled(element, attributes.get("reply", ""))
    if reply and not request:
        raise element.error("a reply needs a request")
    return PortDependency(values.port(element), timeout, request, reply)


def _parameters(element: XmlElement, values: ElementValues) -> str:
    text = " ".join(values.optional(element, "parameters").split())
    try:
        shlex.split(text)
    except ValueError as error:
        raise element.error(f"parameters '{text}': {error}") from None
    return text


def _environment(element: XmlElement, values: ElementValues) -> dict[str, str]:
    variables: dict[str, str] = {}
    for assignment in filter(None, (part.strip() for part in values.optional(element, "environment").split(";"))):
        name, equals, value = assignment.partition("=")
        if not equals or not name.strip():
            raise element.error(f"environment '{assignment}': expected NAME=value, separated by ;")
        variables[name.strip()] = value.strip()
    if display := values.optional(element, "display"):
        variables["DISPLAY"] = display
    return variables


def _waits(element: XmlElement, values: ElementValues) -> tuple[float, float]:
    """Return how long to wait after the module's start and after its end, [s]."""
    waits = {"start": 0.0, "stop": 0.0}
    for wait in (wait for group in element.all("ensure") for wait in group.all("wait")):
        when = wait.attributes.get("when", "start").lower()
        if when not in waits:
            raise wait.error(f'when="{when}": expected start or stop')
        waits[when] = values.number(wait, wait.text, "seconds")
    return waits["start"], waits["stop"]


class _Reader:
    """Reads one file; knows the files that embed it."""

    def __init__(self, find: Finder | None, outer: tuple[Path, ...]) -> None:
        self._find = find
        self._outer = outer

    def read(self, path: Path) -> Application:
        """Return the application of a file, with those that it includes."""
        root = read_xml(path)
        if root.tag != "application":
            raise root.error("the root of an application is <application>")
        values = ElementValues(_variables_of(root))
        dependencies = port_dependencies(root, values)
        application = Application(
            name="_".join(values.needed(root, "name").split()),
            description=" ".join(values.optional(root, "description").split()),
            version=values.optional(root, "version"),
            authors={values.text(author): author.attributes.get("email", "") for author in _within(root, "authors")},
            dependencies=dependencies,
            modules=tuple(module_of(module, values) for module in root.all("module")),
            connections=tuple(_connection_of(child, values, dependencies) for child in root.all("connection")),
            file=path,
            notes=tuple(_notes(root)),
        )
        for element in root.all("application"):
            application = application.joined(self._embedded(element, values, path))
        return application

    def _embedded(self, element: XmlElement, values: ElementValues, path: Path) -> Application:
        name = values.needed(element, "name")
        if self._find is None:
            raise element.error(f"'{name}': an embedded application cannot be looked up here")
        try:
            file = self._find(name)
        except ConfigError as error:
            raise element.error(str(error)) from None
        outer = (*self._outer, path.resolve())
        if file.resolve() in outer:
            raise element.error(f"'{name}' contains itself")
        return _Reader(self._find, outer).read(file).moved(values.optional(element, "prefix"))


def _variables_of(root: XmlElement) -> Variables:
    variables = Variables(os.environ)
    for element in root.all("var"):
        name = element.attributes.get("name", "")
        if not name:
            raise element.error('a variable needs its name: <var name="robot">…</var>')
        try:
            variables.define(name, element.text)
        except UnknownVariableError as error:
            raise element.error(str(error)) from None
    return variables


def _connection_of(
    element: XmlElement, values: ElementValues, dependencies: tuple[PortDependency, ...]
) -> ApplicationConnection:
    ends = [values.child(element, "from", "output"), values.child(element, "to", "input")]
    source, destination = (values.port(end) for end in ends)
    external = {values.port(end) for end in ends if end.attributes.get("external", "").lower() == "true"}
    return ApplicationConnection(
        source=source,
        destination=destination,
        carrier=values.optional(element, "protocol"),
        is_persistent=element.attributes.get("persist", "").lower() == "true",
        external=frozenset(external | {dependency.port for dependency in dependencies} & {source, destination}),
    )


def _within(root: XmlElement, tag: str) -> Iterator[XmlElement]:
    return (child for group in root.all(tag) for child in group.children)


def _notes(element: XmlElement) -> Iterator[str]:
    known = _KNOWN_TAGS.get(element.tag)
    for child in element.children:
        if known is not None and child.tag not in known | _FOR_WINDOWS:
            hint = nearest_name(child.tag, known)
            yield f"{child.file}:{child.line}: <{child.tag}> in <{element.tag}> is ignored{hint}"
        elif child.tag != "application":
            yield from _notes(child)


def _folders() -> Iterator[Path]:
    from gradiva.setup import data_folder  # not before it is needed: it comes with all layers

    yield data_folder("apps")
    finder = yarp.ResourceFinder()
    finder.setQuiet(True)
    finder.configure(["gradiva"])
    places = finder.findPaths("applications")
    yield from (Path(places.get(index).asString()) for index in range(places.size()))


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise ConfigError(f"{path}: there is no such file (gradiva app list shows what is installed)")
    return path


def _own_name(path: Path) -> str:
    try:
        root = read_xml(path)
    except ConfigError:  # a file of other software, which was not asked for
        return ""
    name = root.first("name")
    return "" if name is None or root.tag != "application" else "_".join(name.text.split())
