"""The classes of the real bindings, made from their table over those of pureyarp.

Each has the methods that the table lists, refuses arguments that fit none of their forms by TypeError, and hands the
call on. Objects that come back are wrapped again; a part of an object knows whose part it is.

A tick of the modules makes thousands of calls: what depends on types alone is found once for each of them.
"""

from __future__ import annotations

import inspect
import json
import weakref
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pureyarp as api

from ._journal import end_process

TABLE = json.loads((Path(__file__).parents[3] / "middleware" / "recordings" / "bindings_3_12.json").read_text())
_PARTS = {"get", "find", "findGroup", "asList", "asDict", "tail", "addList", "addDict", "addGroup", "prepare", "read"}
_VECTORS = ("DVector", "IVector", "BVector", "PidVector")
_RECORDS = ("Pid", "ContactStyle")  # have attributes
_PLAIN = (bool, int, float, str)
_UNCHANGED = frozenset((*_PLAIN, type(None)))  # types of results that are handed on as they are

Manner = Callable[..., Any]
_manners: dict[tuple[str, str], Manner] = {}
_directed: dict[str, dict[str, Manner]] = {}
_kinds: dict[str, type[Proxy]] = {}
_by_pure: dict[type, type[Proxy]] = {}
_directors: set[type] = set()  # classes of pureyarp whose objects know their proxy


class Proxy:
    """An object of the bindings; ``proxied`` is that of pureyarp behind it."""

    _pure: type | None = None

    def __init__(self, *arguments: Any) -> None:
        if tuple(map(type, arguments)) not in _fitting(type(self)):
            check_form(f"new_{type(self).__name__}", arguments, overloads_of(type(self), "__init__"))
            _fitting(type(self)).add(tuple(map(type, arguments)))
        self._owner: weakref.ref[Proxy] | None = None
        if self._pure is None:
            raise AttributeError("No constructor defined - class is abstract")
        kind = _director_kind(type(self))
        self.proxied = kind(*map(unwrapped, arguments))
        if kind is not self._pure:
            self.proxied.proxy = weakref.ref(self)


def take_manners(manners: Mapping[tuple[str, str], Manner], directed: Mapping[str, dict[str, Manner]]) -> None:
    """Make all classes, with these of their methods and of those that call back written by hand."""
    _manners.update(manners)
    _directed.update(directed)
    for name in TABLE["classes"]:
        _make(name)


def names() -> dict[str, Any]:
    """Return the classes and constants, and the functions that need no manners."""
    constants = {
        name: getattr(api, name) for name in (*TABLE["constants"], *TABLE["other_constants"]) if hasattr(api, name)
    }
    functions = {name: getattr(api, name) for name in TABLE["functions"] if hasattr(api, name)}
    return {**constants, **functions, **_kinds}


@cache
def members(kind: str) -> dict[str, list[str] | None]:
    """Return the forms of a class's methods, with those of its bases."""
    listed = TABLE["classes"][kind]
    inherited = [members(base) for base in reversed(listed["bases"])]
    return {name: forms for each in [*inherited, listed["methods"]] for name, forms in each.items()}


def overloads_of(kind: type, method: str) -> list[str] | None:
    """Return the forms of a method of a class of the bindings, or of one that derives from it."""
    base = next(each for each in kind.__mro__ if each.__name__ in _kinds and _kinds[each.__name__] is each)
    return members(base.__name__).get(method)


def wrapped(value: Any, root: Proxy | None = None) -> Any:
    """Return a result as the bindings give it."""
    if type(value) in _UNCHANGED:
        return value
    if isinstance(value, _PLAIN):  # numbers that know their width
        return next(plain(value) for plain in (int, float, str) if isinstance(value, plain))
    if type(value) in _directors:
        return value.proxy()
    kind = _kind_over(type(value))
    if kind is None:
        return value
    made = object.__new__(kind)
    made.proxied, made._owner = value, None if root is None else weakref.ref(root)
    return made


@cache
def _kind_over(pure: type) -> type[Proxy] | None:
    """Return the class of the bindings over one of pureyarp, or over one of its bases."""
    return next((_by_pure[base] for base in pure.__mro__ if base in _by_pure), None)


def unwrapped(value: Any) -> Any:
    """Return what pureyarp takes."""
    return value.proxied if isinstance(value, Proxy) else value


def check_form(what: str, arguments: tuple[Any, ...], forms: list[str] | None) -> None:
    """Raise TypeError, as the bindings do, for arguments that fit no form of a method."""
    if forms and not any(_fits(arguments, *_parameters(form)) for form in forms):
        kinds = ", ".join(type(argument).__name__ for argument in arguments)
        raise TypeError(f"Wrong number or type of arguments for overloaded function '{what}' ({kinds})")


@cache
def _fitting(kind: type) -> set[tuple[type, ...]]:
    """Return the types of arguments of which a class was made already."""
    return set()


@cache
def _parameters(form: str) -> tuple[int, tuple[Any, ...]]:
    """Return how many arguments a form needs, and the classes of all that it takes."""
    words = form.split("->")[0].split()
    plain = {"str": str, "bool": bool, "int": int, "float": (int, float), "list": (list, tuple)}
    kinds = tuple(plain.get(word.rstrip("?")) or _kinds.get(word.rstrip("?"), ()) for word in words)
    return sum(not word.endswith("?") for word in words), kinds


def _fits(arguments: tuple[Any, ...], needed: int, kinds: tuple[Any, ...]) -> bool:
    return needed <= len(arguments) <= len(kinds) and all(map(isinstance, arguments, kinds))


def _make(name: str) -> type[Proxy]:
    if name in _kinds:
        return _kinds[name]
    bases = tuple(_make(base) for base in TABLE["classes"][name]["bases"]) or (Proxy,)
    pure = getattr(api, name, None)
    parts: dict[str, Any] = {"_pure": pure}
    if pure is not None:
        known = {each: forms for each, forms in members(name).items() if each != "__init__"}
        parts |= {each: _member(name, each, forms, pure) for each, forms in known.items() if _has(name, each, pure)}
        if name in _VECTORS:
            parts |= {special: _special(special) for special in ("__len__", "__getitem__", "__setitem__", "__iter__")}
    _kinds[name] = type(name, bases, parts)
    if pure is not None:
        _by_pure[pure] = _kinds[name]
    return _kinds[name]


def _has(kind: str, name: str, pure: type) -> bool:
    return hasattr(pure, name) or kind in _RECORDS


def _member(kind: str, name: str, forms: list[str] | None, pure: type) -> Any:
    found = inspect.getattr_static(pure, name, None)
    manner = next((_manners[one, name] for one in (kind, *_ancestors(kind)) if (one, name) in _manners), None)
    if isinstance(found, staticmethod | classmethod):
        return staticmethod(_static(kind, name, forms, manner or getattr(pure, name)))
    if inspect.isfunction(found):
        return _method(kind, name, forms, manner or found)
    return found if isinstance(found, int) else _attribute(name)


def _ancestors(kind: str) -> list[str]:
    return [one for base in TABLE["classes"][kind]["bases"] for one in (base, *_ancestors(base))]


def _static(kind: str, name: str, forms: list[str] | None, function: Manner) -> Callable[..., Any]:
    fitting: set[tuple[type, ...]] = set()

    def call(*arguments: Any) -> Any:
        if (types := tuple(map(type, arguments))) not in fitting:
            check_form(f"{kind}_{name}", arguments, forms)
            fitting.add(types)
        return wrapped(function(*map(unwrapped, arguments)))

    return call


def _method(kind: str, name: str, forms: list[str] | None, function: Manner) -> Callable[..., Any]:
    fitting: set[tuple[type, ...]] = set()
    makes_parts = name in _PARTS

    def call(self: Proxy, *arguments: Any) -> Any:
        if (types := tuple(map(type, arguments))) not in fitting:
            check_form(f"{kind}_{name}", arguments, forms)
            fitting.add(types)
        root = self if self._owner is None else _living_owner(self)
        result = function(self.proxied, *map(unwrapped, arguments)) if arguments else function(self.proxied)
        return result if type(result) in _UNCHANGED else wrapped(result, root if makes_parts else None)

    return call


def _living_owner(proxy: Proxy) -> Proxy:
    """Return the object that a part is part of, or the object itself."""
    if proxy._owner is None:
        return proxy
    root = proxy._owner()
    if root is None:
        end_process(f"a {type(proxy).__name__} is used whose owner is gone")
    return root


def _attribute(name: str) -> property:
    return property(
        lambda self: wrapped(getattr(self.proxied, name)),
        lambda self, value: setattr(self.proxied, name, unwrapped(value)),
    )


def _special(name: str) -> Callable[..., Any]:
    def call(self: Proxy, *arguments: Any) -> Any:
        result = getattr(self.proxied, name)(*map(unwrapped, arguments))
        return map(wrapped, result) if name == "__iter__" else wrapped(result, self)

    return call


@cache
def _director_kind(kind: type[Proxy]) -> type:
    """Return the class of pureyarp whose methods call those that a class of the suite overrides."""
    pure = kind._pure
    assert pure is not None
    name = next(each.__name__ for each in kind.__mro__ if _kinds.get(each.__name__) is each)
    overridden = {
        method: manner
        for method, manner in _directed.get(name, {}).items()
        if getattr(kind, method, None) is not getattr(_kinds[name], method, None)
    }
    if not overridden:
        return pure
    made = type(f"{name}Director", (pure,), {method: _directing(method, how) for method, how in overridden.items()})
    _directors.add(made)
    return made


def _directing(method: str, manner: Manner) -> Callable[..., Any]:
    def call(it: Any, *arguments: Any) -> Any:
        proxy = it.proxy()
        return manner(lambda: getattr(proxy, method)(*map(wrapped, arguments)), *arguments)

    return call
