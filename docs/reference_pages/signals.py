"""The signals of a log, from the functions that write them: names, elements, and the docstring of what is written."""

import ast
import inspect
import re
import typing
from collections.abc import Iterator
from functools import cache
from itertools import product
from types import ModuleType
from typing import Any

from gradiva.cli.configuration import UNIT, without_unit
from gradiva.simulated_walk import walking_recorder
from gradiva.walking import element_names, walking_log
from reference_pages.markdown import attributes, code, prose, table

SOURCES = (walking_log, walking_recorder)
_SIDES, _COMMANDED = ("left", "right"), ("positions", "velocities", "torques")
_INTRODUCTION = """# Log signals

Generated from the functions that write them. SI units, world frame unless the name says otherwise; one row a tick, at
most 143 a
second of a simulated walk. Read them by `outcome.log["NAME"]`, `gradiva.read_mat(path).log["NAME"]`, or `gradiva
export RUN`.
Words in capitals stand for names of the walk: `PART` of a tick, `GROUP` of limits. Signals of your own laws, tasks,
checks,
planners and estimators are `own::NAME::SIGNAL` ([how](../../how_to/extend.md)).
"""


def signal_page() -> str:
    """Return the page."""
    rows = []
    for name, (text, unit) in sorted(all_signals().items()):
        rows.append((code(name), _elements(name), unit, text))
    return "\n".join((_INTRODUCTION, table(("signal", "elements", "unit", "meaning"), rows)))


@cache
def all_signals() -> dict[str, tuple[str, str]]:
    """Return text and unit of each signal, by name; words in capitals are placeholders."""
    found: dict[str, tuple[str, str]] = {}
    for module in SOURCES:
        for function in ast.parse(inspect.getsource(module)).body:
            if isinstance(function, ast.FunctionDef):
                found |= dict(_Writer(module, function).signals())
    return found


def is_named(signal: str) -> bool:
    """Return whether a signal of a log is one of the page."""
    patterns = (re.sub(r"[A-Z]+", r"[\\w:]+", name) for name in all_signals())
    return any(re.fullmatch(pattern, signal) for pattern in patterns)


class _Writer:
    """Reads a function that returns signals."""

    def __init__(self, module: ModuleType, function: ast.FunctionDef) -> None:
        self._module, self._function = module, function
        self._assigned = dict(self._assignments())
        self._doc = prose((ast.get_docstring(function) or "").partition("\n")[0]).removeprefix("Return ")

    def signals(self) -> Iterator[tuple[str, tuple[str, str]]]:
        for node in ast.walk(self._function):
            for key, value in self._entries(node):
                for name in self._names(key):
                    if "::" in name and not name.endswith("::"):
                        own = self._text(value)
                        yield name, (_named(name, without_unit(own or self._doc)), _unit(name, own))

    def _entries(self, node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
        if isinstance(node, ast.Dict):
            yield from ((key, value) for key, value in zip(node.keys, node.values, strict=True) if key is not None)
        elif isinstance(node, ast.DictComp):
            yield node.key, node.value
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            yield node.targets[0].slice, node.value

    def _assignments(self) -> Iterator[tuple[str, ast.expr]]:
        for node in ast.walk(self._function):
            if not isinstance(node, ast.Assign):
                continue
            target, value = node.targets[0], node.value
            if isinstance(target, ast.Name):
                yield target.id, value
            elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                for each, part in zip(target.elts, value.elts, strict=True):
                    if isinstance(each, ast.Name):
                        yield each.id, part

    def _names(self, key: ast.expr) -> list[str]:
        """Return the names that an expression of a key can be."""
        if isinstance(key, ast.Constant):
            return [str(key.value)]
        if isinstance(key, ast.JoinedStr):
            return ["".join(parts) for parts in product(*map(self._names, key.values))]
        if isinstance(key, ast.FormattedValue):
            return self._names(key.value)
        if isinstance(key, ast.Subscript) and isinstance(key.value, ast.Name):
            return list(_COMMANDED)
        if isinstance(key, ast.Name) and key.id == "side":
            return list(_SIDES)
        if isinstance(key, ast.Name) and isinstance(self._assigned.get(key.id), ast.JoinedStr):
            return self._names(self._assigned[key.id])
        if isinstance(key, ast.Name):
            return self._looped(key.id) or [key.id.upper()]
        if isinstance(key, ast.Call) and key.args:
            return self._names(key.args[0])
        return [ast.unparse(key).upper()]

    def _looped(self, name: str) -> list[str]:
        """Return the keys over which a comprehension lets a name run, where they stand in the function."""
        for loop in ast.walk(self._function):
            if not isinstance(loop, ast.comprehension) or not isinstance(loop.target, ast.Tuple):
                continue
            first, source = loop.target.elts[0], ast.unparse(loop.iter).partition(".")[0]
            known = self._assigned.get(source)
            if isinstance(first, ast.Name) and first.id == name and isinstance(known, ast.Dict):
                return [str(key.value) for key in known.keys if isinstance(key, ast.Constant)]
        return []

    def _text(self, value: ast.expr) -> str:
        """Return what the docstrings say of the value that is written."""
        if isinstance(value, ast.Call) and "roll_pitch_yaw" in ast.unparse(value.func):
            inner = self._text(value.args[0])
            return f"Roll, pitch and yaw: {inner}" if inner else ""
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.args:
            return self._text(value.args[0])
        if isinstance(value, ast.Subscript):
            return self._text(value.value)
        if isinstance(value, ast.Name):
            known = self._assigned.get(value.id)
            return self._text(known) if known is not None and not isinstance(known, ast.JoinedStr) else ""
        if isinstance(value, ast.Call):
            return self._text(value.func)
        return self._of_attribute(value) if isinstance(value, ast.Attribute) else ""

    def _of_attribute(self, value: ast.Attribute) -> str:
        owner = self._type(value.value)
        if owner is None:
            return ""
        text = attributes(owner).get(value.attr, "")
        member = getattr(owner, value.attr, None)
        if (not text and isinstance(member, property)) or callable(member):
            text = prose((inspect.getdoc(member) or "").partition("\n")[0]).removeprefix("Return ")
        return text[:1].upper() + text[1:]

    def _type(self, value: ast.expr) -> Any:
        """Return the class of an expression of annotated arguments and their attributes; None where it is unknown."""
        if isinstance(value, ast.Name):
            for argument in self._function.args.args:
                if argument.arg == value.id and argument.annotation is not None:
                    return _resolved(argument.annotation, self._module)
            known = self._assigned.get(value.id)
            return self._type(known) if known is not None else None
        if isinstance(value, ast.Attribute):
            owner = self._type(value.value)
            hint = typing.get_type_hints(owner).get(value.attr) if owner is not None else None
            return _plain(hint)
        return None


def _resolved(annotation: ast.expr, module: ModuleType) -> Any:
    return _plain(eval(ast.unparse(annotation), vars(module)))  # annotations of Gradiva's own sources


def _plain(hint: Any) -> Any:
    members = [member for member in typing.get_args(hint) if member is not type(None)]
    hint = members[0] if members else hint
    return hint if isinstance(hint, type) else None


_UNITS = {  # of signals whose docstring has none of their own, by a part of the name
    "tick::": "µs",
    "::orientation": "rad",
    "root_link::position": "m",
    "velocities::command": "rad/s",
    "torques::command": "N·m",
    "force": "N",
    "torque": "N·m",
    "sinkage": "m",
    "tilt": "rad",
    "stiffness": "N/m³",
    "damping": "N·s/m³",
    "foothold": "m, m, rad",
}


def _unit(name: str, own: str) -> str:
    """Return the unit that the docstring of the value has, or that of signals of such a name."""
    units = list(dict.fromkeys(UNIT.findall(own)))
    if len(units) == 1 and "," not in units[0]:
        return units[0]
    return next((unit for part, unit in _UNITS.items() if part in name), "-")


def _named(name: str, text: str) -> str:
    """Return a text, behind the words of the name where it says less than they do."""
    if len(text.split()) > 2:
        return text
    spelled = " ".join(name.split("::")).replace("_", " ")
    for short, word in (("com ", "CoM "), ("dcm ", "DCM "), ("zmp ", "ZMP ")):
        spelled = spelled.replace(short, word)
    return f"{spelled[:1].upper()}{spelled[1:]}. {text}".strip()


def _elements(name: str) -> str:
    try:
        names = element_names(name, ("one a joint",), ("one a flexible joint",))
    except (KeyError, ValueError):
        return ""
    return "" if name.startswith(("tick::", "torque_control::", "own::")) else ", ".join(names)
