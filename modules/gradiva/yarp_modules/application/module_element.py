"""Reads ``<module>`` and what it depends on."""

from __future__ import annotations

import shlex

from gradiva.yarp_modules.application.application import ApplicationModule, PortDependency
from gradiva.yarp_modules.application.element_values import ElementValues
from gradiva.yarp_modules.application.xml_element import XmlElement

_PATIENCE = 20.0  # [s] for a port, where the file tells none


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
    told = element.attributes
    timeout = values.number(element, told["timeout"], "timeout") if "timeout" in told else _PATIENCE
    request = values.filled(element, told.get("request", ""))
    reply = values.filled(element, told.get("reply", ""))
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
