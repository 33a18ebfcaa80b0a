"""List the keys of the configuration: value, unit, range, meaning, and the file that sets it (``gradiva config``)."""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gradiva.cli.main import leaving_at_once
from gradiva.cli.walk import DEFAULT_ROBOT, From, Plant, Robot, Set

if TYPE_CHECKING:
    from gradiva.setup import Setup

UNIT = re.compile(r"\[(?!-?[\d.]+,)([^\]\[]{1,24})\]")  # not a list of numbers
_ITEM = re.compile(r"^(\w+)(?: \([^)]*\))?: ?(.*)$")  # of the section Attributes of a docstring
_LINE = re.compile(r"^\s*([\w-]+)\s*=[^#]*?(?:#\s*(.*))?$")
_HEADER = re.compile(r"^\s*\[+([\w.-]+)\]+\s*(?:#\s*(.*))?$")
_MARKUP = re.compile(r"(?::\w+:)?`+~?([^`]*)`+")
_VALUE, _RANGE = 28, 28  # [characters] of columns, beyond which they are broken
_MOST_OTHERS = 8  # keys in whose names a word stands as well
_NAMES = {"float": "number", "int": "integer", "bool": "true or false", "str": "text"}


@dataclasses.dataclass(slots=True)
class Key:
    """One key as its class has it.

    Attributes:
        path: Name with that of its table, ``table.key``.
        type: Type of the values, in words.
        unit: Unit of the values; empty without one.
        range: Range of the values; empty where all are allowed.
        text: Meaning, from the docstring.
        default: Value where no file sets one, in TOML; empty where there is none.
    """

    path: str
    type: str = ""
    unit: str = ""
    range: str = ""
    text: str = ""
    default: str = ""

    @property
    def table(self) -> str:
        """Name of the table."""
        return self.path.rpartition(".")[0]


def configuration_classes() -> dict[str, type]:
    """Return the dataclass of each table: of the controller and its laws, the simulation, and modules of a robot."""
    from gradiva.robot_model import FlexibilityConfig
    from gradiva.session import CoordinatorConfig
    from gradiva.simplified_model import balance_law, shipped_laws
    from gradiva.simulation import SimulationConfig
    from gradiva.walking import WalkingConfig
    from gradiva.yarp_modules.bring_up.checks import BringUpConfig
    from gradiva.yarp_modules.joypad.keys import JoypadConfig
    from gradiva.yarp_modules.remote_layers import RemoteConfig
    from gradiva.yarp_modules.robot import RobotIoConfig

    tables = typing.get_type_hints(WalkingConfig) | {
        law.table: getattr(balance_law(law.name).kind, "Config", None) for law in shipped_laws()
    }
    tables |= {"simulation": SimulationConfig, "flexibility": FlexibilityConfig, "robot_io": RobotIoConfig}
    tables |= {"bring_up": BringUpConfig, "coordinator": CoordinatorConfig, "remote": RemoteConfig}
    tables["joypad"] = JoypadConfig
    return {name: kind for name, kind in tables.items() if isinstance(kind, type) and dataclasses.is_dataclass(kind)}


def class_keys() -> dict[str, Key]:
    """Return the keys of all configuration classes by their dotted path."""
    return {key.path: key for table, kind in configuration_classes().items() for key in _keys_of(kind, table)}


def _keys_of(kind: type, path: str) -> Iterator[Key]:
    hints, texts = typing.get_type_hints(kind), attribute_texts(kind)
    for field in dataclasses.fields(kind):
        name, hint = f"{path}.{field.name}", hints[field.name]
        inner = _dataclass_of(hint)
        if inner is not None:
            yield from _keys_of(inner, name)
            continue
        limits = field.metadata.get("limits")
        allowed = "" if limits is None else limits.text + (f" ({limits.why})" if limits.why else "")
        unit, text = field.metadata.get("unit", ""), texts.get(field.name, "")
        yield Key(name, type_in_words(hint), unit, allowed, text, in_toml(field.default))


def _dataclass_of(hint: Any) -> type | None:
    """Return the dataclass of a nested table; None for a value, or for a list of tables."""
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return hint
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return next((found for member in typing.get_args(hint) if (found := _dataclass_of(member))), None)
    return None


def type_in_words(hint: Any) -> str:
    """Return the type of a key's values as one would say it."""
    if isinstance(hint, type) and issubclass(hint, Enum):
        return " or ".join(f'"{member.value}"' for member in hint)
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return " or ".join(type_in_words(member) for member in typing.get_args(hint) if member is not type(None))
    if typing.get_origin(hint) in (tuple, list):
        members = [type_in_words(member) for member in typing.get_args(hint) if member is not Ellipsis]
        return f"list of {members[0]}" if len(set(members)) == 1 else f"list of {', '.join(members)}"
    if dataclasses.is_dataclass(hint):
        return f"{{ {', '.join(field.name for field in dataclasses.fields(hint))} }}"
    if hint is dict or typing.get_origin(hint) in (dict, Mapping) or str(hint).startswith("collections.abc.Mapping"):
        return "table"
    name = getattr(hint, "__name__", str(hint))
    return _NAMES.get(name, name)


def in_toml(value: Any) -> str:
    """Return a value as it is written in a file; empty for none."""
    if isinstance(value, Enum):
        return f'"{value.value}"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(in_toml, value))}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {in_toml(item)}" for key, item in value.items()) + "}"
    return "" if value is None or value is dataclasses.MISSING else str(value)


def attribute_texts(kind: type) -> dict[str, str]:
    """Return the text of each attribute in the docstrings of a class and of those from which it derives."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__[:-1]):
        found.update(_attributes(inspect.cleandoc(base.__doc__ or "")))
    return found


def _attributes(doc: str) -> dict[str, str]:
    _, _, section = doc.partition("Attributes:\n")
    found, name = dict[str, str](), ""
    for line in section.splitlines():
        if line and not line.startswith(" "):
            break
        item = _ITEM.match(line[4:]) if not line.startswith("     ") else None
        if item:
            name = item[1]
            found[name] = item[2]
        elif name and line.strip():
            found[name] += f" {line.strip()}"
    return found


def without_unit(text: str) -> str:
    """Return a text without its unit and shape; nothing where no words are left."""
    text = re.sub(r",? *(\[[^\]]*\])?,? *shape \([^)]*\)", "", text)
    text = re.sub(r"^\[[^\]]*\]|,? *\[[^\]]*\](?=\.?$)", "", text).strip(" .,")
    return f"{text[:1].upper()}{text[1:]}." if re.search(r"\w{3}", text) else ""


def reason_of(comment: str, text: str) -> str:
    """Return of a key's comment in a file, without its unit, the clauses that say more than its meaning, ``text``."""
    clauses = UNIT.sub("", comment, count=1).strip().split("; ")
    return "; ".join(clause for clause in clauses if not _words(clause) <= _words(text))


def _words(text: str) -> set[str]:
    """Return the beginnings of the words of a text that say something, and its numbers."""
    return {word[:6] for word in re.findall(r"[a-z]{4,}|[0-9][0-9.]*", text.lower())}


def file_comments(path: Path) -> dict[str, str]:
    """Return the comment of each key and table of a TOML file, by its dotted path."""
    found, prefix = {}, ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if header := _HEADER.match(line):
            prefix = header[1]
            found[prefix] = header[2] or ""
        elif item := _LINE.match(line):
            found[f"{prefix}.{item[1]}" if prefix else item[1]] = item[2] or ""
    return found


# -- gradiva config ----------------------------------------------------------------------------------------------------


def config(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[TABLE | KEY | WORD]...", help="Of which keys; tables without it.")
    ] = None,
    robot: Robot = None,
    plant: Plant = None,
    from_files: From = None,
    settings: Set = None,
) -> int:
    """List configuration keys: value for a robot, unit, range, meaning, and where a robot's own value is set.

    The name of a table or of a key chooses that alone, another word all keys in whose name or meaning it stands:
    gradiva config planner; gradiva config stiff --robot talos. Without one the tables are listed.
    """
    with leaving_at_once():
        from gradiva.cli.output import text_console
        from gradiva.common import ConfigError, nearest_name
        from gradiva.setup import load_setup, robot_of

    files = [Path(name) for name in from_files or ()]
    setup = load_setup(robot or robot_of(files) or DEFAULT_ROBOT, settings or (), files, plant)
    rows = [_Row.of(key, setup) for key in class_keys().values()]
    console = text_console()
    chosen = {row.key.path for word in words or () for row in _chosen(rows, word.lower())}
    found = [row for row in rows if row.key.path in chosen]
    if words and not found:
        names = {name for row in rows for name in (row.key.path, row.key.table, row.key.path.rpartition(".")[2])}
        raise ConfigError(f"no table and no key has '{' '.join(words)}'{nearest_name(words[0], sorted(names))}")
    console.print(f"[bold]{setup.robot.title}[/], plant {setup.plant}; set one by --set TABLE.KEY=VALUE")
    if not words:
        console.print(_tables(rows))
    for table in dict.fromkeys(row.key.table for row in found):
        console.print(f"\n[bold]\\[{table}][/]")
        console.print(_keys([row for row in found if row.key.table == table]))
    left = [row.key.path for row in rows if row.key.path not in chosen]
    if others := [name for word in words or () for name in _named_like(left, word.lower())]:
        more = ", …" if len(others) > _MOST_OTHERS else ""
        console.print(f"others with such names: {', '.join(others[:_MOST_OTHERS])}{more}", soft_wrap=True)
    return 0


@dataclasses.dataclass(frozen=True, slots=True)
class _Row:
    """A key with its value for one robot, the comment beside it, and its place where that is not ``config/``."""

    key: Key
    value: str
    reason: str
    place: str

    @classmethod
    def of(cls, key: Key, setup: Setup) -> _Row:
        """Return a key with value, reason and file of a setup."""
        from gradiva.setup import place_of

        value: Any = setup.tables
        place = place_of(key.path, setup.layers) or ""
        for part in key.path.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        comment = _comments_of(place, setup.robot_argument).get(key.path, "")
        unit = key.unit or next(iter(UNIT.findall(comment)), "")
        reason = reason_of(comment, key.text)
        shown = key.default if value is None else in_toml(value)
        is_own = place != "" and not place.startswith("config/")
        return cls(dataclasses.replace(key, unit=unit.strip("-")), shown, reason, place if is_own else "")

    @property
    def allowed(self) -> str:
        """Type or range, and unit."""
        kind = self.key.range or self.key.type
        return ", ".join(filter(None, (kind, self.key.unit)))

    @property
    def meaning(self) -> str:
        """Meaning, the reason of the value, and its place."""
        from rich.markup import escape

        text = _MARKUP.sub(r"\1", without_unit(self.key.text))
        value = "; ".join(filter(None, (self.reason, self.place and f"set {_in(self.place)}")))
        return " — ".join(filter(None, (escape(text), value and f"[dim]{escape(value)}[/]")))


def _chosen(rows: Sequence[_Row], word: str) -> list[_Row]:
    """Return the keys of a table or name, or of inner ones; else those in whose name or meaning a word stands."""
    table = [row for row in rows if f"{row.key.path}.".startswith(f"{word}.")]
    named = [row for row in rows if row.key.path.endswith(f".{word}") or word in row.key.path.split(".")]
    return table or named or [row for row in rows if word in f"{row.key.path} {row.key.text}".lower()]


def _named_like(paths: Iterable[str], word: str) -> list[str]:
    """Return the tables and keys in whose own names a word stands; of a table none of its keys."""
    found: dict[str, None] = {}
    for path in paths:
        parts = path.split(".")
        ends = (k for k, part in enumerate(parts, 1) if word in part)
        found |= {".".join(parts[:end]): None for end in list(ends)[:1]}
    return list(found)


def _in(place: str) -> str:
    return "by --set" if place.startswith("by ") else f"in {place}"


@lru_cache(maxsize=64)
def _comments_of(place: str, robot: str) -> Mapping[str, str]:
    """Return the comments of a shipped file or of one of the robot; none of other places."""
    from gradiva.setup import data_folder, file_place, robot_folder

    for path in (data_folder("config") / Path(place).name, robot_folder(robot) / Path(place).name):
        if path.is_file() and file_place(path.resolve()) == place:
            return file_comments(path)
    return {}


def _tables(rows: Sequence[_Row]) -> Any:
    """Return the names of the tables, with the number of their keys and the values that this robot has of its own."""
    grid = _grid("table", "keys", "set otherwise than in config/")
    for table in dict.fromkeys(row.key.path.partition(".")[0] for row in rows):
        inside = [row for row in rows if row.key.path.startswith(f"{table}.")]
        own = ", ".join(row.key.path.removeprefix(f"{table}.") for row in inside if row.place)
        grid.add_row(table, str(len(inside)), own)
    return grid


def _keys(rows: Iterable[_Row]) -> Any:
    from rich.markup import escape

    grid = _grid("key", "value", "range, unit", "meaning — reason of the value")
    grid.columns[1].max_width, grid.columns[2].max_width = _VALUE, _RANGE
    for row in rows:
        value = escape(row.value)
        own = f"[bold]{value}[/]" if row.place else value
        grid.add_row(row.key.path.rpartition(".")[2], own, escape(row.allowed), row.meaning)
    return grid


def _grid(*columns: str) -> Any:
    from rich import box
    from rich.table import Table

    grid = Table(*columns, box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    grid.columns[0].no_wrap = True
    return grid
