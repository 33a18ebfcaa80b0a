"""Nothing is invented: what the embedded classes offer and what our modules use exists in the real bindings.

``recordings/bindings_3_12.json`` lists the bindings' classes with their methods, as printed by YARP 3.12.3's own
module; those of abstract base classes and the module's functions are from its public documentation. The list of
vocabs ends at the letters VOCAB_N.
"""

import ast
import inspect
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradiva.middleware.embedded import api

MIDDLEWARE = Path(api.__file__).parents[1]
BINDINGS = json.loads((Path(__file__).parent / "recordings" / "bindings_3_12.json").read_text())
LAST_LISTED_CONSTANT = max(BINDINGS["constants"])

# What the embedded classes need among themselves; module code that must run on the real bindings keeps off.
INTERNAL = {
    "Portable": {"to_wire", "to_wire_text", "from_wire", "from_wire_text"},
    "ConnectionReader": {"next_object", "drop_requested"},
    "ConnectionWriter": {"append_object", "drop_requested", "is_empty", "payload", "line"},
    "RpcClient": {"setTimeout"},  # of the port behind asPort() in the bindings
    "RpcServer": {"setTimeout"},
    "Searchable": {"toString"},  # of ResourceFinder; all others have it in the bindings as well
    "PeriodicThread": {"run", "threadInit", "threadRelease"},  # C++ methods: Python cannot subclass it there
}

EXPORTED_CLASSES = sorted(name for name in api.__all__ if inspect.isclass(getattr(api, name)))


def real_members(name: str) -> set[str]:
    """Return what a class of the bindings has, with its bases."""
    listed = BINDINGS["classes"].get(name)
    if listed is None:
        return set()
    return set(listed["methods"]).union(*(real_members(base) for base in listed["bases"]))


def embedded_members(kind: type) -> set[str]:
    """Return what our classes define publicly, without what Python's own classes bring."""
    ours = [base for base in kind.__mro__ if base.__module__.startswith("gradiva.")]
    return {name for base in ours for name in vars(base) if not name.startswith("_")}


def allowed_members(kind: type) -> set[str]:
    return set().union(*(INTERNAL.get(base.__name__, set()) for base in kind.__mro__))


@pytest.mark.parametrize("name", EXPORTED_CLASSES)
def test_a_class_offers_only_what_that_of_the_bindings_has(name):
    assert name in BINDINGS["classes"], f"the real bindings have no class {name}"
    kind = getattr(api, name)
    assert embedded_members(kind) - real_members(name) - allowed_members(kind) == set()


def test_functions_and_constants_are_those_of_the_bindings():
    others = set(api.__all__) - set(EXPORTED_CLASSES)
    constants = {name for name in others if name.isupper()} - set(BINDINGS["other_constants"])
    listed = {name for name in constants if name <= LAST_LISTED_CONSTANT}
    assert listed - set(BINDINGS["constants"]) == set()
    assert {name for name in constants - listed if not name.startswith("VOCAB_")} == set()
    assert others - constants - set(BINDINGS["other_constants"]) - set(BINDINGS["functions"]) == set()


def test_everything_that_is_exported_is_there():
    assert sorted(set(api.__all__)) == sorted(api.__all__)
    assert [name for name in api.__all__ if not hasattr(api, name)] == []


def portable_sources() -> list[Path]:
    """Return the sources that run on both: the room without the embedded implementation."""
    return [path for path in sorted(MIDDLEWARE.rglob("*.py")) if "embedded" not in path.relative_to(MIDDLEWARE).parts]


def used_names(path: Path) -> Iterator[tuple[str, int]]:
    """Yield every ``yarp.name`` of a source with its line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "yarp":
            yield node.attr, node.lineno


def is_in_the_bindings(name: str) -> bool:
    if name.startswith("VOCAB_"):
        return name in BINDINGS["constants"] or name > LAST_LISTED_CONSTANT
    return any(name in BINDINGS[kind] for kind in ("classes", "functions", "other_constants"))


@pytest.mark.parametrize("path", portable_sources(), ids=lambda path: str(path.relative_to(MIDDLEWARE)))
def test_code_for_both_uses_only_names_of_the_bindings(path):
    assert [(name, line) for name, line in used_names(path) if not is_in_the_bindings(name)] == []


def internals_within(source: str) -> set[str]:
    """Return what a source must not use; a plain port of the bindings has setTimeout, its RPC ports lack it."""
    kinds = {kind for kind in INTERNAL if not kind.startswith("Rpc") or kind in source}
    return set().union(*(INTERNAL[kind] for kind in kinds)) - {"toString", "run"}


@pytest.mark.parametrize("path", portable_sources(), ids=lambda path: str(path.relative_to(MIDDLEWARE)))
def test_code_for_both_uses_no_internals_of_the_embedded_objects(path):
    source = path.read_text(encoding="utf-8")
    used = {node.attr for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)}
    assert used & internals_within(source) == set()
