"""The keys of the configuration, from the TOML files and from the classes that read them."""

import itertools
import re
import tomllib
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gradiva.cli.configuration import (
    UNIT,
    Key,
    class_keys,
    configuration_classes,
    file_comments,
    in_toml,
    reason_of,
    type_in_words,
    without_unit,
)
from gradiva.robot_model import RobotDescription
from gradiva.robot_model.robot_description import ForceTorqueSensor, JointGroup
from gradiva.robot_model.robot_ports import RobotPorts
from gradiva.setup import data_folder, shipped_robot_names
from gradiva.setup.changed_keys import flat_keys
from gradiva.setup.load_setup import CONSTANTS, GONE, MOVED
from reference_pages.markdown import attributes, code, prose, summary, table

OVERLAYS = ("first_run", "plant_noisy", "plant_robot", "soft_ground", "torque", "velocity")
_OF_NO_FILE = {"whole_body": ["whole_body", "blf"]}  # tables whose keys keep the defaults of their classes
_OPTION = re.compile(r"(?<!`)(--[a-z][\w-]*)")


_STACKED = "```{rst-class} stacked\n```\n\n"
"""Stands before a table whose rows become paragraphs where the page is narrow, see ``site.css``."""


@dataclass(slots=True)
class KeyOfFiles:
    """One key: what its class and its file say of it, and which files change it."""

    key: Key
    default: str = ""
    comment: str = ""
    differs: list[str] = field(default_factory=list)

    @property
    def path(self) -> str:
        """Its dotted path."""
        return self.key.path

    @property
    def unit(self) -> str:
        """Unit by the class, else as a comment or docstring has it."""
        found = UNIT.search(self.comment) or UNIT.search(self.key.text)
        return self.key.unit or (found[1] if found else "")


def configuration_pages() -> dict[str, str]:
    """Return a page for each file of ``config/``, the page of ``robot.toml`` and the overview."""
    keys = all_keys()
    pages = {f"configuration_{stem}": _page(stem, tables, keys) for stem, tables in _tables_of_files().items()}
    pages["configuration_robot"] = _robot_page()
    pages["configuration_former"] = _former_page()
    pages["configuration"] = _overview(pages, keys)
    return pages


def all_keys() -> dict[str, KeyOfFiles]:
    """Return every key that a shipped file sets or that a configuration class has, by its dotted path."""
    keys = {path: KeyOfFiles(key, key.default) for path, key in class_keys().items()}
    for path in _shipped_files():
        overlay = path.parent.name if path.parent.name != "config" else ""
        overlay = " ".join(filter(None, [overlay, path.stem if path.stem in OVERLAYS else ""]))
        comments = file_comments(path)
        for name, value in flat_keys(tomllib.loads(path.read_text(encoding="utf-8"))).items():
            key = keys.setdefault(name, KeyOfFiles(Key(name)))
            comment = comments.get(name, "")
            if overlay:
                key.differs.append(f"{overlay}: {code(in_toml(value))}" + _bracketed(comment))
            else:
                key.default, key.comment = in_toml(value), prose(comment)
    return keys


def _bracketed(comment: str) -> str:
    """Return the reason of an overlaid value, its unit left out."""
    reason = UNIT.sub("", comment, count=1).strip()
    return f" ({prose(reason)})" if reason else ""


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


def _page(stem: str, tables: list[str], keys: Mapping[str, KeyOfFiles]) -> str:
    comments, classes = file_comments(data_folder("config") / f"{stem}.toml"), configuration_classes()
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


def _key_table(keys: list[KeyOfFiles]) -> str:
    rows = []
    for key in keys:
        reason = reason_of(key.comment, key.key.text)
        text = " — ".join(part for part in (without_unit(prose(key.key.text)), reason) if part)
        kind = ", ".join(part for part in (key.key.type, key.unit.strip("-"), key.key.range) if part)
        value = ": ".join(part for part in (code(key.default), kind) if part)
        rows.append((code(key.path), value, text, "; ".join(key.differs)))
    return _STACKED + table(("key", "default: type, unit, range", "meaning — reason of the value", "differs in"), rows)


def _overview(pages: Mapping[str, str], keys: Mapping[str, KeyOfFiles]) -> str:
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
        rows = [(code(name), type_in_words(hints.get(name, "")), text) for name, text in attributes(kind).items()]
        parts += [f"## {title}\n", summary(kind) + "\n", _STACKED + table(("key", "type", "meaning"), rows)]
    return "\n".join(parts)
