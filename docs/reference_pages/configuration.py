"""The keys of the configuration, from the TOML files and from the classes that read them."""

import dataclasses
import itertools
import re
import tomllib
import types
import typing
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

from gradiva.robot_model import FlexibilityConfig, RobotDescription
from gradiva.robot_model.robot_description import ForceTorqueSensor, JointGroup
from gradiva.robot_model.robot_ports import RobotPorts
from gradiva.session import CoordinatorConfig
from gradiva.setup import data_folder, shipped_robot_names
from gradiva.setup.load_setup import CONSTANTS, GONE, MOVED
from gradiva.simplified_model import balance_law, shipped_laws
from gradiva.simulation import SimulationConfig
from gradiva.walking import WalkingConfig
from gradiva.yarp_modules.bring_up.checks import BringUpConfig
from gradiva.yarp_modules.joypad.keys import JoypadConfig
from gradiva.yarp_modules.remote_layers import RemoteConfig
from gradiva.yarp_modules.robot import RobotIoConfig
from reference_pages.markdown import UNIT, attributes, code, prose, summary, table, without_unit

OVERLAYS = ("first_run", "plant_noisy", "plant_robot", "soft_ground", "torque", "velocity")
_OF_NO_FILE = {"whole_body": ["whole_body", "blf"]}  # tables whose keys keep the defaults of their classes
_MODULES = {
    "simulation": SimulationConfig,
    "flexibility": FlexibilityConfig,
    "robot_io": RobotIoConfig,
    "bring_up": BringUpConfig,
    "coordinator": CoordinatorConfig,
    "remote": RemoteConfig,
    "joypad": JoypadConfig,
}
_LINE = re.compile(r"^\s*([\w-]+)\s*=[^#]*?(?:#\s*(.*))?$")
_OPTION = re.compile(r"(?<!`)(--[a-z][\w-]*)")
_HEADER = re.compile(r"^\s*\[+([\w.-]+)\]+\s*(?:#\s*(.*))?$")


_STACKED = "```{rst-class} stacked\n```\n\n"
"""Stands before a table whose rows become paragraphs where the page is narrow, see ``site.css``."""


@dataclasses.dataclass(slots=True)
class Key:
    """One key: what its file and its class say of it, and which files change it."""

    path: str
    type: str = ""
    default: str = ""
    unit: str = ""
    range: str = ""
    comment: str = ""
    text: str = ""
    differs: list[str] = dataclasses.field(default_factory=list)


def configuration_pages() -> dict[str, str]:
    """Return a page for each file of ``config/``, the page of ``robot.toml`` and the overview."""
    keys = all_keys()
    pages = {f"configuration_{stem}": _page(stem, tables, keys) for stem, tables in _tables_of_files().items()}
    pages["configuration_robot"] = _robot_page()
    pages["configuration_former"] = _former_page()
    pages["configuration"] = _overview(pages, keys)
    return pages


def all_keys() -> dict[str, Key]:
    """Return every key that a shipped file sets or that a configuration class has, by its dotted path."""
    keys: dict[str, Key] = {}
    for table_name, kind in _classes().items():
        for path, key in _keys_of_class(kind, table_name):
            keys[path] = key
    for path in _shipped_files():
        overlay = path.parent.name if path.parent.name != "config" else ""
        overlay = " ".join(filter(None, [overlay, path.stem if path.stem in OVERLAYS else ""]))
        comments = _comments(path)
        for name, value in _leaves(tomllib.loads(path.read_text(encoding="utf-8"))):
            key = keys.setdefault(name, Key(name))
            comment = comments.get(name, "")
            if overlay:
                key.differs.append(f"{overlay}: {code(_toml(value))}" + _bracketed(comment))
            else:
                key.default, key.comment = _toml(value), prose(comment)
    for key in keys.values():
        if not key.unit:
            unit = UNIT.search(key.comment) or UNIT.search(key.text)
            key.unit = unit[1] if unit else ""
    return keys


def _bracketed(comment: str) -> str:
    """Return the reason of an overlaid value, its unit left out."""
    reason = UNIT.sub("", comment, count=1).strip()
    return f" ({prose(reason)})" if reason else ""


def _classes() -> dict[str, type]:
    hints = typing.get_type_hints(WalkingConfig)
    found = {name: kind for name, kind in hints.items() if dataclasses.is_dataclass(kind)}
    found |= {law.table: kind for law in shipped_laws() if (kind := getattr(_law_class(law.name), "Config", None))}
    return found | _MODULES


def _law_class(name: str) -> Any:
    return balance_law(name).kind


def _shipped_files() -> list[Path]:
    config = data_folder("config")
    robots = [data_folder("robots") / name for name in shipped_robot_names()]
    files = [*sorted(config.glob("*.toml"), key=lambda path: path.stem in OVERLAYS)]
    return files + [path for robot in robots for path in sorted(robot.glob("*.toml")) if path.name != "robot.toml"]


def _tables_of_files() -> dict[str, list[str]]:
    """Return the tables of each file that is no overlay, in order."""
    found = {}
    for path in sorted(data_folder("config").glob("*.toml")):
        if path.stem not in OVERLAYS:
            found[path.stem] = list(tomllib.loads(path.read_text(encoding="utf-8")))
    for stem, tables in _OF_NO_FILE.items():
        found[stem] += tables
    return found


def _default(field: dataclasses.Field[Any]) -> str:
    """Return the default of a key that no file sets, in TOML; empty where it has none."""
    is_plain = isinstance(field.default, str | int | float)
    return _toml(field.default.value if isinstance(field.default, Enum) else field.default) if is_plain else ""


def _keys_of_class(kind: type, path: str) -> Iterator[tuple[str, Key]]:
    hints, texts = typing.get_type_hints(kind), attributes(kind)
    for field in dataclasses.fields(kind):
        name, hint = f"{path}.{field.name}", hints[field.name]
        inner = _dataclass_of(hint)
        if inner is not None:
            yield from _keys_of_class(inner, name)
            continue
        key = Key(
            name,
            _type(hint),
            default=_default(field),
            text=texts.get(field.name, ""),
            unit=field.metadata.get("unit", ""),
        )
        if (limits := field.metadata.get("limits")) is not None:
            key.range = limits.text + (f" ({limits.why})" if limits.why else "")
        if field.default is not dataclasses.MISSING:
            key.default = _toml(field.default)
        yield name, key


def _dataclass_of(hint: Any) -> type | None:
    """Return the dataclass of a nested table; None for a value, or for a list of tables."""
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return hint
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return next((found for member in typing.get_args(hint) if (found := _dataclass_of(member))), None)
    return None


def _type(hint: Any) -> str:
    if isinstance(hint, type) and issubclass(hint, Enum):
        return " or ".join(f'"{member.value}"' for member in hint)
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return " or ".join(_type(member) for member in typing.get_args(hint) if member is not type(None))
    if typing.get_origin(hint) in (tuple, list):
        members = [_type(member) for member in typing.get_args(hint) if member is not Ellipsis]
        return f"list of {members[0]}" if len(set(members)) == 1 else f"list of {', '.join(members)}"
    if hint is dict or typing.get_origin(hint) in (dict, Mapping) or str(hint).startswith("collections.abc.Mapping"):
        return "table"
    return {"float": "number", "int": "integer", "bool": "true or false", "str": "text"}.get(
        getattr(hint, "__name__", ""), getattr(hint, "__name__", str(hint))
    )


def _toml(value: Any) -> str:
    if isinstance(value, Enum):
        return f'"{value.value}"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + "}"
    return "" if value is None or value is dataclasses.MISSING else str(value)


def _leaves(tree: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        inner = f"{path}.{name}" if path else name
        if isinstance(value, Mapping):
            yield from _leaves(value, inner)
        else:
            yield inner, value


def _comments(path: Path) -> dict[str, str]:
    """Return the comment of each key and table of a file, by its dotted path."""
    found, prefix = {}, ""
    for line in path.read_text(encoding="utf-8").splitlines():
        header = _HEADER.match(line)
        if header:
            prefix = header[1]
            found[prefix] = header[2] or ""
        elif (item := _LINE.match(line)) is not None:
            found[f"{prefix}.{item[1]}" if prefix else item[1]] = item[2] or ""
    return found


def _page(stem: str, tables: list[str], keys: Mapping[str, Key]) -> str:
    comments, classes = _comments(data_folder("config") / f"{stem}.toml"), _classes()
    parts = [f"# {stem}.toml\n"]
    mine = [key for key in keys.values() if key.path.split(".")[0] in tables]
    for name in dict.fromkeys(key.path.rpartition(".")[0] for key in mine):
        parts.append(f"({_anchor(name)})=\n## [{name}]\n")
        kind = classes.get(name)
        parts += [text + "\n" for text in (prose(comments.get(name, "")), summary(kind) if kind else "") if text]
        parts.append(_key_table([key for key in mine if key.path.rpartition(".")[0] == name]))
    return "\n".join(parts)


def _anchor(name: str) -> str:
    return "config-" + name.replace(".", "-").replace("_", "-")


def _key_table(keys: list[Key]) -> str:
    rows = []
    for key in keys:
        reason = UNIT.sub("", key.comment, count=1).strip()
        text = " — ".join(part for part in (without_unit(key.text), reason) if part)
        kind = ", ".join(part for part in (key.type, key.unit.strip("-"), key.range) if part)
        value = ": ".join(part for part in (code(key.default), kind) if part)
        rows.append((code(key.path), value, text, "; ".join(key.differs)))
    return _STACKED + table(("key", "default: type, unit, range", "meaning — reason of the value", "differs in"), rows)


def _overview(pages: Mapping[str, str], keys: Mapping[str, Key]) -> str:
    stems = sorted(name.removeprefix("configuration_") for name in pages)
    lines = [
        "# Configuration keys\n",
        f"Generated from `config/*.toml`, `robots/*/*.toml` and the classes that read them: {len(keys)} keys. The",
        "column",
        "*differs in* names robots, and the overlays that come with a choice, such as `torque`. In which order",
        "files are laid",
        "over each other: [configuration](../../how_to/configure.md).\n",
        "One key is set by `gradiva walk --set TABLE.KEY=VALUE`, for good in a file of the robot's folder.\n",
        table(("file", "what stands there", "tables"), map(_overview_row, stems)),
        "```{toctree}",
        ":hidden:\n",
        *(f"configuration_{stem}" for stem in stems),
        "```\n",
    ]
    return "\n".join(lines)


def _overview_row(stem: str) -> tuple[str, str, str]:
    """Return link, first comment and tables of a file."""
    known = {"robot": "Facts of a robot, in its folder.", "former": "Keys of earlier versions: what became of them."}
    if stem in known:
        return f"[{stem}](configuration_{stem}.md)", known[stem], ""
    lines = (data_folder("config") / f"{stem}.toml").read_text(encoding="utf-8").splitlines()
    heading = itertools.takewhile(lambda line: line.startswith("#"), lines)
    tables = _tables_of_files()[stem]
    return (
        f"[{stem}.toml](configuration_{stem}.md)",
        _OPTION.sub(r"`\1`", prose(" ".join(line.lstrip("# ") for line in heading))),
        ", ".join(map(code, tables)),
    )


def _former_page() -> str:
    constants = [(code(table_name), ", ".join(map(code, keys.split()))) for table_name, keys in CONSTANTS.items()]
    gone = [(code(table_name), ", ".join(map(code, keys.split()))) for table_name, keys in GONE.items()]
    moved = [(code(old), code(new)) for old, new in MOVED.items()]
    return "\n".join(
        [
            "# Keys of earlier versions\n",
            "They are refused; the message says what became of them.\n",
            "## Constants now\n",
            "Each stands beside the equation that uses it, with its reason.\n",
            table(("table", "keys"), constants),
            "## Moved\n",
            table(("table or key", "is now"), moved),
            "## Gone\n",
            "Nothing is in their place: leave them out.\n",
            table(("table", "keys"), gone),
        ]
    )


def _robot_page() -> str:
    parts = [
        "# robot.toml\n",
        "Facts of a robot, in `robots/<name>/robot.toml`; the types are those of the class `RobotDescription`.\n",
    ]
    for title, kind in (
        ("Robot", RobotDescription),
        ("[[force_torque_sensors]]", ForceTorqueSensor),
        ("[joint_groups.NAME]", JointGroup),
        ("[ports]", RobotPorts),
    ):
        hints = typing.get_type_hints(kind)
        rows = [(code(name), _type(hints.get(name, "")), text) for name, text in attributes(kind).items()]
        parts += [f"## {title}\n", summary(kind) + "\n", _STACKED + table(("key", "type", "meaning"), rows)]
    return "\n".join(parts)
