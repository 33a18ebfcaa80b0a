"""Nothing is invented: what the classes of pureyarp offer exists in the real bindings.

``recordings/bindings_3_12.json`` lists the bindings' classes with their methods, as printed by YARP 3.12.3's own
module; those of abstract base classes and the module's functions are from its public documentation. The list of
vocabs ends at the letters VOCAB_N. What the suite uses of them is looked at in ``test_uses_of_the_api.py``.
"""

import inspect

import pytest

import pureyarp as api
from tests.middleware.usable_api import BINDINGS, members

LAST_LISTED_CONSTANT = max(BINDINGS["constants"])

# What the classes of pureyarp need among themselves; module code that must run on the real bindings keeps off.
INTERNAL = {
    "Portable": {"to_wire", "to_wire_text", "from_wire", "from_wire_text"},
    "ConnectionReader": {"next_object", "drop_requested"},
    "ConnectionWriter": {"append_object", "drop_requested", "is_empty", "payload", "line"},
}

EXPORTED_CLASSES = sorted(name for name in api.__all__ if inspect.isclass(getattr(api, name)))


def pureyarp_members(kind: type) -> set[str]:
    """Return what our classes define publicly, without what Python's own classes bring."""
    ours = [base for base in kind.__mro__ if base.__module__.startswith("pureyarp.")]
    return {name for base in ours for name in vars(base) if not name.startswith("_")}


def allowed_members(kind: type) -> set[str]:
    return set().union(*(INTERNAL.get(base.__name__, set()) for base in kind.__mro__))


@pytest.mark.parametrize("name", EXPORTED_CLASSES)
def test_a_class_offers_only_what_that_of_the_bindings_has(name):
    assert name in BINDINGS["classes"], f"the real bindings have no class {name}"
    kind = getattr(api, name)
    assert pureyarp_members(kind) - members(name).keys() - allowed_members(kind) == set()


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
