"""The suite uses what the real bindings have, as they have it, and steps nowhere where they hang or crash."""

from __future__ import annotations

from pathlib import Path

import pytest

import gradiva
from tests.middleware.usable_api import CLASSES, derived_classes, sources_below, violations

SUITE = Path(gradiva.__file__).parent
TESTS = Path(__file__).parents[1]
HEAD = "from gradiva.middleware import yarp\n"


@pytest.fixture(scope="module")
def sources() -> dict[Path, str]:
    return {path: path.read_text(encoding="utf-8") for folder in (SUITE, TESTS) for path in sources_below(folder)}


@pytest.fixture(scope="module")
def derived(sources) -> dict[str, str]:
    return derived_classes(sources.values())


def test_every_source_outside_pureyarp_runs_on_the_real_bindings(sources, derived):
    assert derived["WalkingModule"] == "RFModule"
    found = {
        str(path.relative_to(SUITE)): [str(one) for one in violations(source, path.name, derived)]
        for path, source in sources.items()
        if path.is_relative_to(SUITE)
    }
    assert len(found) > 200
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_tests_of_what_runs_on_both_use_no_name_that_the_real_bindings_lack(sources, derived):
    found = {
        path.name: [str(one) for one in violations(source, path.name, derived, hazards=False)]
        for path, source in sources.items()
        if path.is_relative_to(TESTS)
    }
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("yarp.VOCAB_PIDTYPE_POSITION", "the bindings have no yarp.VOCAB_PIDTYPE_POSITION"),
        ("p = yarp.RpcServer()\np.setTimeout(1.0)", "the bindings' RpcServer has no setTimeout"),
        ("c = yarp.Network.queryName('/x')\nc.toString()", "the bindings' Contact has no toString"),
        ("def f(d: yarp.PolyDriver):\n d.viewIPositionControl().checkMotionDone(1)", "takes () or (BVector)"),
        ("class A:\n def __init__(self): self._p = yarp.Port()\n def f(self): self._p.open()", "takes (str)"),
        ("for p in (yarp.Port(), yarp.Port()): p.shut()", "the bindings' Port has no shut"),
        ("yarp.Network.connect('/a', '/b', quiet=True)", "the bindings take no keyword arguments"),
        ("yarp.Network.connect('/a', '/b', 'tcp', 1)", "takes (str str str? bool?)"),
        ("def f(e: yarp.IEncoders): e.getEncoders([0.0])", "getEncoders of IEncoders takes (DVector)"),
        ("def f(e: yarp.IPidControl): e.getPid(1, 2, yarp.Pid())", "takes (int int PidVector)"),
        ("unknown().getColour()", "no class of the bindings has getColour"),
        ("len(yarp.Vector(3))", "a Vector has neither a length"),
        ("b = yarp.Bottle('1')\nfor item in b: pass", "a Bottle has neither a length"),
        ("yarp.Bottle('1').get(0)", "hands out a part of a Bottle that is gone"),
        ("yarp.Network.isConnected('/a', '/b', 'tcp')", "network.carrier_between"),
        ("yarp.Network.writeToNameServer(yarp.Bottle(), yarp.Bottle(), yarp.ContactStyle())", "registered_names"),
        ("yarp.Network.waitPort('/a')", "never returns"),
        ("p = yarp.BufferedPortBottle()\np.read()", "holds the interpreter"),
        ("p = yarp.RpcClient()", "without a time limit"),
        ("yarp.delay(0.1)", "time.sleep"),
    ],
)
def test_a_use_that_the_real_bindings_lack_or_hang_at_is_found(source, complaint):
    found = violations(HEAD + source)
    assert len(found) == 1
    assert complaint in found[0].text


@pytest.mark.parametrize(
    "source",
    [
        "p = yarp.Port()\np.write(yarp.Bottle('a'), yarp.Bottle())",
        "r = yarp.BufferedPortBottle()\nwhile (m := r.read(False)) is not None: m.get(0).asFloat64()",
        "class M(yarp.RFModule):\n def own_work(self): self.other_work(key=1)",
        "v = yarp.DVector([1.0, 2.0])\nlen(v)",
        "p = yarp.RpcClient()\np.asPort().setTimeout(1.0)",
        "import logging\nlogging.getLogger('x')",
    ],
)
def test_what_the_real_bindings_have_is_left_alone(source):
    assert violations(HEAD + source, derived={"M": "RFModule"}) == []


def test_a_source_without_yarp_is_not_looked_at():
    assert violations("model.getNrOfThings()") == []


def test_the_table_has_what_every_class_inherits():
    assert {base for listed in CLASSES.values() for base in listed["bases"]} <= CLASSES.keys()
