"""Plug-ins: classes outside the package that the configuration names.

A plug-in is named in one of two ways: by an entry point that an installed package declares in its ``pyproject.toml`` ::

    [project.entry-points."gradiva.safety_checks"]
    battery = "my_package.battery:BatteryCheck"

or, without an installation, as ``package.module:Class`` on the Python path. Each seam has a `Registry` of its kinds.
"""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, is_dataclass
from functools import cache, lru_cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from inspect import Parameter, getattr_static, isfunction, signature
from types import NoneType
from typing import Any, TypeVar

from gradiva.common.configuration import from_table
from gradiva.common.errors import ConfigError, WalkingError, nearest_name

T = TypeVar("T")
_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def installed_plugins(group: str) -> EntryPoints:
    """Return the installed entry points of ``group``, such as ``gradiva.safety_checks``.

    The packages are read once for each Python path, a hundred times as long as the rest of a look-up: what is installed
    later is found by the next process.
    """
    return _entry_points(group, tuple(sys.path))


@lru_cache
def _entry_points(group: str, path: tuple[str, ...]) -> EntryPoints:
    points: EntryPoints = _all_entry_points(path).select(group=group)
    return points


@lru_cache
def _all_entry_points(path: tuple[str, ...]) -> Any:
    return entry_points()


def plugin_names(group: str) -> list[str]:
    """Return the names of the installed entry points of ``group``, sorted."""
    return sorted({point.name for point in installed_plugins(group)})


def load_plugin(group: str, name: str) -> Any:
    """Import the object that ``name`` stands for.

    Args:
        group: Entry-point group, such as ``gradiva.safety_checks``.
        name: Of an entry point of that group, or ``package.module:Class``.

    Raises:
        ConfigError: No entry point has that name, two packages claim it, or the module or class cannot be imported.
    """
    if ":" in name:
        return _load(EntryPoint(name, name, group))
    found = {point.value: point for point in installed_plugins(group) if point.name == name}
    if not found:
        installed = plugin_names(group)
        known = nearest_name(name, installed) if installed else "; no installed package declares one"
        raise ConfigError(f"no entry point '{name}' in the group '{group}'{known}; or write 'package.module:Class'")
    if len(found) > 1:
        raise ConfigError(f"the entry point '{name}' of '{group}' is declared twice: {', '.join(sorted(found))}")
    return _load(next(iter(found.values())))


@contextmanager
def plugin_errors(where: str, made: object) -> Iterator[None]:
    """Name an error of any type that the code of a plug-in raises while it is set up.

    Args:
        where: The plug-in in the configuration, such as ``[tasks.NAME]``.
        made: Object or class of the plug-in; errors of Gradiva's own pass as they are.

    Raises:
        ConfigError: The plug-in raised; the message has its file and line.
    """
    try:
        yield
    except WalkingError:
        raise
    except Exception as error:  # the code of others may fail in any way
        kind = made if isinstance(made, type) else type(made)
        if kind.__module__.partition(".")[0] == "gradiva":
            raise
        raise ConfigError(f"{where}: {type(error).__name__}: {error} ({_line(error, kind)})") from error


def _line(error: Exception, kind: type) -> str:
    """Return file, line and text of the last line of the plug-in's own module; of the last line where none is."""
    frames = traceback.extract_tb(error.__traceback__)
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    last = next((frame for frame in reversed(frames) if frame.filename == file), frames[-1])
    return f"{last.filename}:{last.lineno}: {last.line}" if last.line else f"{last.filename}:{last.lineno}"


@cache
def _misfit(kind: type, base: type, noun: str) -> str:
    """Say which method of ``base`` cannot be called with all of its positional arguments; empty where all can."""
    for name, asked in vars(base).items():
        if name.startswith("_") or not isfunction(asked):
            continue
        method = getattr(kind, name, None)
        if not callable(method):
            return f"{kind.__name__} has no method '{name}', which a {noun} needs"
        given = [each.name for each in signature(asked).parameters.values() if each.kind in _POSITIONAL]
        try:
            signature(method).bind(*given[isinstance(getattr_static(kind, name), staticmethod | classmethod) :])
        except TypeError as error:
            return f"{kind.__name__}.{name}: {error}; it is asked as {name}({', '.join(given[1:])})"
    return ""


@dataclass(frozen=True, slots=True)
class Registry:
    """The kinds of one seam: those that Gradiva ships, and those of other packages.

    A kind is a class with its configuration class as ``Config``: a dataclass, or None where it has no settings.

    Attributes:
        group: Of the entry points, such as ``gradiva.planners``.
        noun: What one is called in messages.
        bases: Classes of which a kind derives from one; empty: any class that has the methods of ``interface``.
        interface: Protocol whose methods a kind has at least, where no base class brings them.
        shipped: Name to ``package.module:Class`` of those that Gradiva ships.
        tables: Name of the table in the configuration that holds the kinds' own tables; empty: the end of the group.
        returns: Method to the types of which it returns one.
        build: Makes an instance of a kind, its configuration, the name of its table and what `make` is given.
    """

    group: str
    noun: str
    bases: tuple[type, ...] = ()
    interface: type | None = None
    shipped: Mapping[str, str] = field(default_factory=dict)
    tables: str = ""
    returns: Mapping[str, tuple[type, ...]] = field(default_factory=dict)
    build: Callable[..., Any] = lambda kind, config, _name, *given: kind(*given, config)

    def names(self) -> list[str]:
        """Return the names of the shipped kinds and of those of installed packages."""
        return [*self.shipped, *(name for name in plugin_names(self.group) if name not in self.shipped)]

    def kind(self, name: str) -> Any:
        """Return the class of a name, or of ``package.module:Class``.

        Raises:
            ConfigError: There is none, it cannot be imported, or it is no kind of this seam.
        """
        names = self.names()
        if ":" not in name and name not in names:
            known = nearest_name(name, names) if names else f"; no installed package declares one in '{self.group}'"
            raise ConfigError(f"unknown {self.noun} '{name}'{known}; or write 'package.module:Class'")
        kind = load_plugin(self.group, self.shipped.get(name, name))
        self.check(kind, f"'{name}'")
        return kind

    def check(self, kind: object, where: str) -> None:
        """Pass when a class is a kind of this seam.

        Raises:
            ConfigError: It is not; the message says what it lacks.
        """
        if not isinstance(kind, type) or (self.bases and not issubclass(kind, self.bases)):
            raise ConfigError(f"{where} is {kind!r}, {self._wanted()}")
        for base in (*self.bases, *((self.interface,) if self.interface else ())):
            is_based = base is self.interface or issubclass(kind, base)
            if is_based and (misfit := _misfit(kind, base, self.noun)):
                raise ConfigError(f"{where}: {misfit}")
        config = getattr(kind, "Config", None)
        if config is not None and not is_dataclass(config):
            raise ConfigError(f"{where}: its Config {config!r} is no dataclass")

    def config(self, kind: Any, table: Mapping[str, Any], where: str) -> Any:
        """Return a kind's table as its configuration; None for one without settings.

        Raises:
            ConfigError: A key is unknown or missing, or a value is refused.
        """
        config = getattr(kind, "Config", None)
        if config is not None:
            return from_table(config, table, where)
        if table:
            raise ConfigError(f"{where}: unknown key '{next(iter(table))}', {kind.__name__} has no settings")
        return None

    def make(self, name: str, tables: Mapping[str, Mapping[str, Any]], *given: Any, place: str = "") -> Any:
        """Return an instance of a kind.

        Args:
            name: In the registry, or ``package.module:Class``.
            tables: Tables of the kinds of this seam, by name.
            given: Whatever ``build`` takes beside the configuration.
            place: Name of its table; empty: that of the kind.

        Raises:
            ConfigError: There is none of this name, its table is refused, or it cannot be built.
        """
        kind, place = self.kind(name), place or name.rpartition(":")[2]
        where = f"[{self.tables or self.group.rpartition('.')[2]}.{place}]"
        config = self.config(kind, tables.get(place, {}), where)
        with plugin_errors(where, kind):
            made = self.build(kind, config, place, *given)
        if self.bases and not isinstance(made, self.bases):
            raise ConfigError(f"{where}: {kind.__name__} made {made!r}, {self._wanted()}")
        return self.guarded(made, where)

    def guarded(self, made: T, where: str) -> T:
        """Return an instance of which methods of a user's own name themselves where they return a wrong type.

        Raises:
            ConfigError: It derives from none of the base classes, or is a class itself.
        """
        if isinstance(made, type):
            raise ConfigError(
                f"{where}: expected an object, got the class {made.__name__}: {made.__name__}(…) makes one"
            )
        if self.bases and not isinstance(made, self.bases):
            raise ConfigError(f"{where}: got {made!r:.80}, {self._wanted()}")
        kind = type(made)
        for name, wanted in {**self.returns, "signals": (Mapping,)}.items():
            own = getattr(kind, name, None)
            if isfunction(own) and (own.__module__ or "").partition(".")[0] != "gradiva":
                with suppress(AttributeError):  # of a class with slots
                    setattr(made, name, _returning(getattr(made, name), wanted, f"{where}: {kind.__name__}.{name}"))
        return made

    def make_all(self, tables: Mapping[str, Mapping[str, Any]], *given: Any) -> list[Any]:
        """Return an instance for each table ``[….NAME]``: its ``class`` names the kind, without one its name does.

        Raises:
            ConfigError: As of `make`.
        """
        own = {name: {key: value for key, value in table.items() if key != "class"} for name, table in tables.items()}
        return [self.make(str(table.get("class", name)), own, *given, place=name) for name, table in tables.items()]

    def _wanted(self) -> str:
        if not self.bases:
            return f"no class of a {self.noun}"
        room = ".".join(self.bases[0].__module__.split(".")[:2])
        names = [base.__name__ for base in self.bases]
        return f"{'neither a ' + ' nor a '.join(names) if len(names) > 1 else 'no ' + names[0]} of {room}"


def _returning(method: Callable[..., Any], wanted: tuple[type, ...], name: str) -> Callable[..., Any]:
    """Return a method that raises a ConfigError where it returns none of the ``wanted`` types."""

    def checked(*arguments: Any, **named: Any) -> Any:
        """Call the method and check the type of what it returns."""
        found = method(*arguments, **named)
        if not isinstance(found, wanted):
            types = " or ".join("None" if kind is NoneType else kind.__name__ for kind in wanted)
            raise ConfigError(f"{name} returned {found!r:.60}, not {types}")
        return found

    return checked


def _load(point: EntryPoint) -> Any:
    module, _, attribute = point.value.partition(":")
    try:
        found = importlib.import_module(module)
    except Exception as error:  # the code of others may fail in any way
        name, last = type(error).__name__, traceback.extract_tb(error.__traceback__)[-1]
        where = "" if last.filename.startswith("<frozen") else f" ({last.filename}:{last.lineno})"
        raise ConfigError(f"plug-in '{point.value}': importing '{module}' failed: {name}: {error}{where}") from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            public = [name for name in vars(found) if not name.startswith("_")]
            raise ConfigError(f"plug-in '{point.value}': '{module}' has no '{attribute}'{nearest_name(part, public)}")
        found = getattr(found, part)
    return found
