"""Decides what of YARP's bindings the suite may use, and finds where a source uses something else.

This is the one place that decides. ``recordings/bindings_3_12.json`` holds what the real bindings have, as their own
module prints it: classes with their bases, of each method the parameters of every overload that Python can call (a
trailing ``?`` marks one that may be left out, ``-> kind`` what comes back, null what is not known), functions and
constants. `HAZARDS` holds what they have and yet must not be called.

Kinds of values are followed through a source as far as it says them itself: constructors, annotations, attributes of
``self``, what methods of the bindings return.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

BINDINGS = json.loads((Path(__file__).parent / "recordings" / "bindings_3_12.json").read_text())
CLASSES: dict[str, dict] = BINDINGS["classes"]
FUNCTIONS: dict[str, list[str] | None] = BINDINGS["functions"]
CONSTANTS = {*BINDINGS["constants"], *BINDINGS["other_constants"]}
BUFFERED = ("BufferedPortBottle", "BufferedPortProperty", "BufferedPortVector")

_REFERENCES = {"get", "find", "findGroup", "asList", "asDict", "tail"}  # methods that hand out parts of their object
_NO_CONTAINERS = {"Bottle", "Property", "Value", "Vector"}
_MODULE = "yarp"
_CAMEL_CASE = re.compile("[a-z]+[A-Z]")
_CLASS_HEAD = re.compile(r"^ *class (\w+)\(([^)]*)\)", re.MULTILINE)
_FOREIGN = {"getLogger", "basicConfig", "setLevel", "addHandler", "removeHandler"}  # of Python's logging

_DERIVED = "~"  # before a class of the bindings: a class of the suite that descends from it

Kinds = frozenset[str]
UNKNOWN: Kinds = frozenset()


@dataclass(frozen=True)
class Hazard:
    """Names what the real bindings have, and the suite must not call.

    Attributes:
        reason: What happens there, and what to use instead.
        is_met: Whether a call is one of those; every one by default.
        allowed: Files that may, because they see to it that it does not happen.
    """

    reason: str
    is_met: Callable[[ast.Call], bool] = lambda call: True
    allowed: tuple[str, ...] = ()


_OWN_PROCESS = ("measured_peer.py",)  # nothing else runs there, and it is killed where it does not end


def _is_waiting(call: ast.Call) -> bool:
    return not (len(call.args) == 1 and isinstance(call.args[0], ast.Constant) and call.args[0].value is False)


_ABSENT = "never returns for a port that is absent"
HAZARDS: dict[tuple[str, str], Hazard] = {
    ("NetworkBase", "writeToNameServer"): Hazard("never returns for bot commands: network.registered_names"),
    ("NetworkBase", "isConnected"): Hazard("means tcp: network.carrier_between"),
    ("NetworkBase", "exists"): Hazard("has no time limit: network.is_there", allowed=("network.py",)),
    ("NetworkBase", "waitPort"): Hazard(_ABSENT),
    ("NetworkBase", "waitConnection"): Hazard(_ABSENT),
    ("NetworkBase", "sync"): Hazard(_ABSENT),
    ("Network", "fini"): Hazard(
        "crashes while a network clock is in use: network.leave_network", allowed=("network.py", *_OWN_PROCESS)
    ),
    ("", "useNetworkClock"): Hazard(
        "holds the interpreter until the clock ticks: network.follow_clock", allowed=("network.py",)
    ),
    ("", "delay"): Hazard("never returns while a simulated clock stands still: time.sleep"),
    **{
        (kind, "useCallback"): Hazard("its close holds the interpreter, and waits for the callback: a Port's reader")
        for kind in BUFFERED
    },
    **{
        (kind, "read"): Hazard(
            "holds the interpreter while it waits: read(False), or a callback", _is_waiting, _OWN_PROCESS
        )
        for kind in BUFFERED
    },
}


def members(kind: str) -> dict[str, list[str] | None]:
    """Return what a class of the bindings has, with its bases: overloads by the name of the method."""
    listed = CLASSES.get(kind.lstrip(_DERIVED), {"bases": [], "methods": {}})
    inherited = [members(base) for base in reversed(listed["bases"])]
    return {name: overloads for each in [*inherited, listed["methods"]] for name, overloads in each.items()}


def ancestors(kind: str) -> set[str]:
    """Return a class and all its bases."""
    kind = kind.lstrip(_DERIVED)
    return {kind}.union(*(ancestors(base) for base in CLASSES.get(kind, {"bases": []})["bases"]))


_EVERY_METHOD = {name for kind in CLASSES for name in members(kind)}


@dataclass(frozen=True)
class Violation:
    """A use that the real bindings do not have, or must not be asked for."""

    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}"


def violations(
    source: str, name: str = "", derived: dict[str, str] | None = None, hazards: bool = True
) -> list[Violation]:
    """Return what a source that imports ``yarp`` uses although it may not.

    Args:
        source: Text of a module.
        name: Of its file, for what is allowed in that alone.
        derived: Class of the suite to the class of the bindings that it descends from.
        hazards: Whether also what must not be called is looked for; tests run on pureyarp.
    """
    if _MODULE not in source:
        return []
    tree = ast.parse(source)
    if not any(_imports_yarp(node) for node in ast.walk(tree)):
        return []
    check = _SourceCheck(tree, name, derived or {}, HAZARDS if hazards else {})
    check.run()
    return sorted(set(check.found), key=lambda one: (one.line, one.text))


def derived_classes(sources: Iterable[str]) -> dict[str, str]:
    """Return which classes of the suite descend from which of the bindings."""
    heads = [head for source in sources for head in _CLASS_HEAD.findall(source)]
    bases = {name: [base.strip() for base in parents.split(",")] for name, parents in heads}
    found: dict[str, str] = {}
    for _ in range(4):  # generations
        for name, parents in bases.items():
            for parent in parents:
                if parent in found:
                    found[name] = found[parent]
                elif parent.startswith(f"{_MODULE}."):
                    found[name] = parent.removeprefix(f"{_MODULE}.")
    return found


def _imports_yarp(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return node.module == "gradiva.middleware" and any(alias.name == _MODULE for alias in node.names)
    return isinstance(node, ast.Import) and any(alias.name == _MODULE for alias in node.names)


def _is_of_yarp(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == _MODULE


@dataclass
class _Scope:
    """Knows the kinds of the names of a function and of the attributes of its class."""

    names: dict[str, Kinds] = field(default_factory=dict)
    elements: dict[str, Kinds] = field(default_factory=dict)
    owner: str = ""

    def inner(self, owner: str | None = None) -> _Scope:
        return _Scope(dict(self.names), dict(self.elements), self.owner if owner is None else owner)


class _SourceCheck:
    """Walks one source."""

    def __init__(
        self, tree: ast.Module, name: str, derived: dict[str, str], hazards: dict[tuple[str, str], Hazard]
    ) -> None:
        self.found: list[Violation] = []
        self._tree = tree
        self._name = name
        self._derived = derived
        self._hazards = hazards
        self._text = ast.unparse(tree)
        self._aliases: dict[str, ast.expr] = {}
        self._returns: dict[str, ast.expr] = {}
        self._attributes: dict[tuple[str, str], Kinds] = {}
        self._attribute_elements: dict[tuple[str, str], Kinds] = {}
        self._own: dict[str, set[str]] = {}  # methods by class
        self._narrowed: set[str] = set()  # names that are asked whether they are of pureyarp

    def run(self) -> None:
        for node in ast.walk(self._tree):
            if isinstance(node, ast.FunctionDef) and node.returns is not None:
                self._returns[node.name] = node.returns
            elif _called_name(node) == "isinstance" and isinstance(node.args[0], ast.Name):
                self._narrowed.add(node.args[0].id)
            elif isinstance(node, ast.ClassDef):
                self._own[node.name] = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
        for statement in self._tree.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                self._aliases[statement.targets[0].id] = statement.value
        self._block(self._tree.body, _Scope())  # attributes of self may be used above where they are set
        self.found.clear()
        self._block(self._tree.body, _Scope())

    # -- statements --------------------------------------------------------------------------------------------

    def _block(self, statements: Iterable[ast.AST], scope: _Scope) -> None:
        for statement in statements:
            self._statement(statement, scope)

    def _statement(self, node: ast.AST, scope: _Scope) -> None:
        if isinstance(node, ast.ClassDef):
            self._block(node.body, scope.inner(node.name))
        elif isinstance(node, ast.FunctionDef | ast.Lambda):
            self._function(node, scope.inner())
        elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            self._comprehension(node, scope.inner())
        else:
            for child in ast.iter_child_nodes(node):
                if not self._is_bound_later(node, child):
                    self._statement(child, scope)
            self._look_at(node, scope)
            self._bind(node, scope)
            if isinstance(node, ast.For | ast.With):
                self._block(node.body, scope)

    @staticmethod
    def _is_bound_later(node: ast.AST, child: ast.AST) -> bool:
        return isinstance(node, ast.For | ast.With) and child in node.body

    def _function(self, node: ast.FunctionDef | ast.Lambda, scope: _Scope) -> None:
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        for argument in arguments:
            scope.names[argument.arg] = self._annotated(argument.annotation)
            scope.elements[argument.arg] = self._annotated_elements(argument.annotation)
        if scope.owner and arguments and arguments[0].arg == "self":
            scope.names["self"] = (
                frozenset({_DERIVED + self._derived[scope.owner]}) if scope.owner in self._derived else UNKNOWN
            )
        body = node.body if isinstance(node, ast.FunctionDef) else [node.body]
        self._block([*node.args.defaults, *body], scope)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, scope: _Scope) -> None:
        for generator in node.generators:
            self._statement(generator.iter, scope)
            self._bind_loop(generator.target, generator.iter, scope)
            self._block(generator.ifs, scope)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._block(parts, scope)

    def _bind(self, node: ast.AST, scope: _Scope) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._assign(target, node.value, scope)
        elif isinstance(node, ast.AnnAssign):
            self._set(node.target, self._annotated(node.annotation), self._annotated_elements(node.annotation), scope)
        elif isinstance(node, ast.NamedExpr):
            self._assign(node.target, node.value, scope)
        elif isinstance(node, ast.For):
            self._bind_loop(node.target, node.iter, scope)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            entered = node.context_expr
            self._set(node.optional_vars, self._kinds(entered, scope) or self._elements(entered, scope), UNKNOWN, scope)

    def _assign(self, target: ast.expr, value: ast.expr, scope: _Scope) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for one, its in zip(target.elts, value.elts, strict=True):
                self._assign(one, its, scope)
        else:
            self._set(target, self._kinds(value, scope), self._elements(value, scope), scope)

    def _bind_loop(self, target: ast.expr, iterated: ast.expr, scope: _Scope) -> None:
        self._check_container(iterated, scope)
        elements = self._elements(iterated, scope)
        if isinstance(target, ast.Tuple):  # (name, port) of items()
            target = target.elts[-1] if elements else target
        self._set(target, elements, UNKNOWN, scope)

    def _set(self, target: ast.expr, kinds: Kinds, elements: Kinds, scope: _Scope) -> None:
        if isinstance(target, ast.Name):
            scope.names[target.id], scope.elements[target.id] = kinds, elements
        elif isinstance(target, ast.Attribute) and _is_self(target.value) and (kinds or elements):
            place = (scope.owner, target.attr)
            self._attributes[place] = self._attributes.get(place, UNKNOWN) | kinds
            self._attribute_elements[place] = self._attribute_elements.get(place, UNKNOWN) | elements

    # -- what a value is ---------------------------------------------------------------------------------------

    def _kinds(self, node: ast.AST | None, scope: _Scope) -> Kinds:
        match node:
            case ast.Name():
                return scope.names.get(node.id, UNKNOWN)
            case ast.Attribute() if _is_self(node.value):
                return self._attributes.get((scope.owner, node.attr), UNKNOWN)
            case ast.IfExp():
                return self._kinds(node.body, scope) | self._kinds(node.orelse, scope)
            case ast.BoolOp():
                return UNKNOWN.union(*(self._kinds(value, scope) for value in node.values))
            case ast.NamedExpr():
                return self._kinds(node.value, scope)
            case ast.Call():
                return self._returned(node, scope)
        return UNKNOWN

    def _elements(self, node: ast.AST | None, scope: _Scope) -> Kinds:
        match node:
            case ast.Name():
                return scope.elements.get(node.id, UNKNOWN)
            case ast.Attribute() if _is_self(node.value):
                return self._attribute_elements.get((scope.owner, node.attr), UNKNOWN)
            case ast.List() | ast.Tuple():
                return UNKNOWN.union(*(self._element_or_elements(each, scope) for each in node.elts))
            case ast.ListComp() | ast.GeneratorExp():
                return self._kinds(node.elt, scope)
            case ast.DictComp():
                return self._kinds(node.value, scope)
            case ast.Call(func=ast.Attribute(attr="values" | "items") as called):
                return self._elements(called.value, scope)
            case ast.Call(func=ast.Name(id="list" | "tuple" | "reversed"), args=[only]):
                return self._elements(only, scope)
            case ast.Call(func=ast.Name() | ast.Attribute()):
                return self._annotated_elements(self._returns.get(_called_name(node)))
        return UNKNOWN

    def _element_or_elements(self, node: ast.expr, scope: _Scope) -> Kinds:
        return self._elements(node.value, scope) if isinstance(node, ast.Starred) else self._kinds(node, scope)

    def _returned(self, call: ast.Call, scope: _Scope) -> Kinds:
        function = call.func
        if _is_of_yarp(function):
            return frozenset({function.attr}) if function.attr in CLASSES else UNKNOWN
        if isinstance(function, ast.Name):
            if function.id == "super":
                return scope.names.get("self", UNKNOWN)
            if function.id == "required":  # an interface of a device, or an error
                return self._kinds(call.args[0], scope)
            if function.id in self._derived:
                return frozenset({_DERIVED + self._derived[function.id]})
            return self._annotated(self._returns.get(function.id))
        if isinstance(function, ast.Attribute):
            if _is_self(function.value) and function.attr in self._returns:
                return self._annotated(self._returns[function.attr])
            classes = self._receivers(function.value, scope)
            overloads = [text for kind in classes for text in members(kind).get(function.attr) or []]
            return frozenset(text.split("-> ")[1] for text in overloads if "-> " in text) & CLASSES.keys()
        return UNKNOWN

    def _receivers(self, node: ast.AST, scope: _Scope) -> Kinds:
        if _is_of_yarp(node) and node.attr in CLASSES:  # a static method
            return frozenset({node.attr})
        return self._kinds(node, scope)

    def _annotated(self, node: ast.expr | None) -> Kinds:
        match node:
            case ast.Attribute() if _is_of_yarp(node):
                return frozenset({node.attr}) & CLASSES.keys()
            case ast.BinOp():
                return self._annotated(node.left) | self._annotated(node.right)
            case ast.Name() if node.id in self._derived:
                return frozenset({_DERIVED + self._derived[node.id]})
            case ast.Name() if node.id in self._aliases:
                return self._annotated(self._aliases[node.id])
        return UNKNOWN

    def _annotated_elements(self, node: ast.expr | None) -> Kinds:
        if not isinstance(node, ast.Subscript):
            return UNKNOWN
        inside = node.slice.elts[-1] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
        return self._annotated(inside)

    # -- what it may be used for -------------------------------------------------------------------------------

    def _look_at(self, node: ast.AST, scope: _Scope) -> None:
        if isinstance(node, ast.Attribute):
            self._check_name(node, scope)
        elif isinstance(node, ast.Call):
            self._check_call(node, scope)

    def _complain(self, node: ast.AST, text: str) -> None:
        self.found.append(Violation(node.lineno, text))

    def _check_name(self, node: ast.Attribute, scope: _Scope) -> None:
        if _is_of_yarp(node):
            if not (node.attr in CLASSES or node.attr in FUNCTIONS or node.attr in CONSTANTS):
                self._complain(node, f"the bindings have no yarp.{node.attr}")
            return
        for kind in self._receivers(node.value, scope):
            if node.attr not in members(kind) and not self._is_own(node, kind, scope):
                self._complain(node, f"the bindings' {kind.lstrip(_DERIVED)} has no {node.attr}")

    def _is_own(self, node: ast.Attribute, kind: str, scope: _Scope) -> bool:
        """Return whether an attribute that the bindings lack is the suite's own, or pureyarp's."""
        if isinstance(node.value, ast.Name) and node.value.id in self._narrowed:
            return True
        if _CAMEL_CASE.match(node.attr):
            return kind.startswith(_DERIVED) and node.attr in self._own.get(scope.owner, ())
        return kind.startswith(_DERIVED) or not self._hazards

    def _check_call(self, call: ast.Call, scope: _Scope) -> None:
        function = call.func
        if _called_name(call) in ("len", "list", "iter") and len(call.args) == 1:
            self._check_container(call.args[0], scope)
        if not isinstance(function, ast.Attribute):
            return
        if _is_of_yarp(function):
            overloads = FUNCTIONS.get(function.attr)
            if function.attr in CLASSES:
                overloads = CLASSES[function.attr]["methods"].get("__init__")
            self._check_arguments(call, {function.attr: overloads} if overloads else {}, scope)
            self._check_hazard(call, "", function.attr)
            self._check_timeout(call, function.attr)
            return
        classes = self._receivers(function.value, scope)
        known = {kind: members(kind)[function.attr] for kind in classes if function.attr in members(kind)}
        is_own = _is_self(function.value) and function.attr in self._own.get(scope.owner, ())
        if not is_own and function.attr != "__init__":  # the suite's own, with its own arguments
            self._check_arguments(call, {kind: overloads for kind, overloads in known.items() if overloads}, scope)
        for kind in classes:
            for ancestor in ancestors(kind):
                self._check_hazard(call, ancestor, function.attr)
        self._check_temporary(call, function)
        if not classes and _CAMEL_CASE.match(function.attr) and function.attr not in _EVERY_METHOD | _FOREIGN:
            self._complain(call, f"no class of the bindings has {function.attr}")

    def _check_arguments(self, call: ast.Call, overloads: dict[str, list[str]], scope: _Scope) -> None:
        if not overloads or any(isinstance(argument, ast.Starred) for argument in call.args):
            return
        called = ast.unparse(call.func)
        if call.keywords:
            self._complain(call, f"{called}: the bindings take no keyword arguments")
            return
        for kind, listed in overloads.items():
            if not any(self._fits(call.args, overload, scope) for overload in listed):
                forms = " or ".join(f"({overload.split('->')[0].strip()})" for overload in listed)
                self._complain(call, f"{called} of {kind.lstrip(_DERIVED)} takes {forms}")

    def _fits(self, arguments: list[ast.expr], overload: str, scope: _Scope) -> bool:
        parameters = overload.split("->")[0].split()
        needed = sum(not parameter.endswith("?") for parameter in parameters)
        if not needed <= len(arguments) <= len(parameters):
            return False
        return all(
            self._is_a(argument, parameter.rstrip("?"), scope)
            for argument, parameter in zip(arguments, parameters, strict=False)
        )

    def _is_a(self, argument: ast.expr, parameter: str, scope: _Scope) -> bool:
        """Return whether an argument may be given for a parameter, as far as its source says what it is."""
        if isinstance(argument, ast.Constant):
            fitting = {str: ("str",), bool: ("bool", "int"), int: ("int", "float"), float: ("float",)}
            return parameter in fitting.get(type(argument.value), ())
        if isinstance(argument, ast.JoinedStr):
            return parameter == "str"
        if isinstance(argument, ast.List | ast.ListComp | ast.Tuple) or _called_name(argument) == "tolist":
            return parameter == "list"
        kinds = self._kinds(argument, scope)
        return not kinds or any(parameter in ancestors(kind) for kind in kinds)

    def _check_container(self, node: ast.expr, scope: _Scope) -> None:
        for kind in self._kinds(node, scope) & _NO_CONTAINERS:
            self._complain(node, f"a {kind} has neither a length nor elements of Python: size() and get()")

    def _check_hazard(self, call: ast.Call, kind: str, method: str) -> None:
        hazard = self._hazards.get((kind, method))
        if hazard is not None and self._name not in hazard.allowed and hazard.is_met(call):
            self._complain(call, f"{method} {hazard.reason}")

    def _check_temporary(self, call: ast.Call, function: ast.Attribute) -> None:
        owner = function.value
        if function.attr in _REFERENCES and isinstance(owner, ast.Call) and _is_of_yarp(owner.func):
            self._complain(call, f"{function.attr} hands out a part of a {owner.func.attr} that is gone at once")

    def _check_timeout(self, call: ast.Call, kind: str) -> None:
        if self._hazards and kind == "RpcClient" and ".asPort().setTimeout(" not in self._text:
            self._complain(
                call, "an RpcClient without a time limit hangs with whom it asks: asPort().setTimeout(seconds)"
            )


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _called_name(node: ast.AST) -> str:
    """Return the last name of a call; empty for anything else."""
    if not isinstance(node, ast.Call):
        return ""
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def sources_below(folder: Path) -> Iterator[Path]:
    """Yield the sources that run on both bindings: all but pureyarp."""
    for path in sorted(folder.rglob("*.py")):
        if "pureyarp" not in path.relative_to(folder).parts:
            yield path
