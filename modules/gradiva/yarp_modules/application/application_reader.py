"""Reads the XML of yarpmanager's applications.

What is read, with the same meaning: ``var``, ``module`` (``name``, ``parameters``, ``node``, ``workdir``, ``deployer``,
``prefix``, ``environment``, ``display``, ``rank``, ``dependencies``, ``ensure``), ``connection`` (``from``, ``to``,
``protocol``, ``external``, ``persist``), ``dependencies``, ``authors``, embedded ``application``. The rest is for
graphical windows or quality of service: it is told, and not heeded.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from gradiva.common import ConfigError, nearest_name
from gradiva.yarp_modules.application.application import (
    Application,
    ApplicationConnection,
    PortDependency,
)
from gradiva.yarp_modules.application.element_values import ElementValues
from gradiva.yarp_modules.application.module_element import module_of, port_dependencies
from gradiva.yarp_modules.application.variables import UnknownVariableError, Variables
from gradiva.yarp_modules.application.xml_element import XmlElement, read_xml

Finder = Callable[[str], Path]  # an application's file by its name; raises ConfigError

_HEEDED = {
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


class _Reader:
    """Reads one file; knows which files it stands in."""

    def __init__(self, find: Finder | None, outer: tuple[Path, ...]) -> None:
        self._find = find
        self._outer = outer

    def read(self, path: Path) -> Application:
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
    heeded = _HEEDED.get(element.tag)
    for child in element.children:
        if heeded is not None and child.tag not in heeded | _FOR_WINDOWS:
            hint = nearest_name(child.tag, heeded)
            yield f"{child.file}:{child.line}: <{child.tag}> in <{element.tag}> is ignored{hint}"
        elif child.tag != "application":
            yield from _notes(child)
