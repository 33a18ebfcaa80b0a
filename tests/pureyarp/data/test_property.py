import pytest

from pureyarp.data.bottle import Bottle
from pureyarp.data.property import Property
from pureyarp.data.value import Value
from pureyarp.errors import MalformedMessage
from pureyarp.wire.elements import WireFamily
from tests.middleware.recorded_payloads import recorded_payloads


def test_a_property_is_written_as_recorded():
    written = Property()
    written.put("rate", 0.5)
    written.put("name", "some text")
    written.put("alpha", 1)
    written.fromString("(list 1 2 3)", False)
    group = written.addGroup("GROUP")
    group.put("b", "q")
    group.put("a", 2)
    (recorded,) = [payload for payload in recorded_payloads() if payload.recording == "property_tcp"]
    assert written.to_wire() == recorded.data
    assert written.toString() == recorded.decoded


@pytest.mark.parametrize("family", list(WireFamily))
def test_a_property_survives_the_wire_and_text(family):
    written = Property('(a 1.5 x) (G (k "a b") (H (z 1))) (flag)')
    read, typed = Property("(old 1)"), Property("(old 1)")
    assert read.from_wire(written.to_wire(family), family) is family
    typed.from_wire_text(written.to_wire_text())
    assert read.toString() == typed.toString() == '(G (k "a b") (H (z 1))) (a 1.5 x) (flag)'


def test_values_and_groups_are_found_by_key():
    searched = Property("(a 1 2) (G (k 3)) (flag)")
    assert searched.find("a").asInt32() == 1
    assert searched.findGroup("a").toString() == "a 1 2"
    assert searched.findGroup("G").find("k").asInt32() == 3
    assert searched.find("flag").isNull()
    assert [searched.check(key) for key in ("a", "G", "flag", "k")] == [True, True, True, False]
    assert searched.check("a", Value(9)).asInt32() == 1
    assert searched.check("k", Value(9)).asInt32() == 9
    assert searched.find("k").isNull()
    assert searched.findGroup("k").isNull()


def test_a_later_value_replaces_the_former_one():
    changed = Property("(a 1 2) (a 3)")
    assert changed.toString() == "(a 3)"
    changed.put("a", Value.makeList("4 5"))
    assert changed.toString() == "(a (4 5))"
    changed.unput("a")
    changed.unput("a")
    assert changed.toString() == ""


def test_groups_within_groups_tell_their_changes():
    outer = Property()
    inner = outer.addGroup("A").addGroup("B")
    inner.put("k", 1)
    assert outer.toString() == "(A (B (k 1)))"
    inner.unput("k")
    assert outer.toString() == "(A (B))"


def test_text_is_added_or_replaces():
    text = Property("(a 1)")
    text.fromString("(b 2)", False)
    assert text.toString() == "(a 1) (b 2)"
    text.fromString("(c 3)")
    assert text.toString() == "(c 3)"


def test_a_copy_shares_nothing():
    original = Property("(a (1))")
    copy = Property(original)
    original.find("a").asList().addInt32(2)
    assert (original.toString(), copy.toString()) == ("(a (1 2))", "(a (1))")


def test_configuration_text_is_read_with_its_groups_and_variables(monkeypatch):
    monkeypatch.setenv("GRADIVA_TEST_PART", "left_leg")
    read = Property("(old 1)")
    read.fromConfig("key 5\n[G]\npart ${GRADIVA_TEST_PART} # which one\nname ${robot}\n", Property("(robot icub)"))
    assert read.toString() == "(G (part left_leg) (name icub)) (key 5)"
    read.fromConfig("more 1\n", False)
    assert read.check("key")
    assert read.check("more")


def test_variables_come_from_bottles_as_well():
    read = Property()
    read.fromConfig("name ${robot}", Bottle("(robot icub)"))
    assert read.find("name").asString() == "icub"


def test_the_environment_comes_before_other_variables(monkeypatch):
    monkeypatch.setenv("GRADIVA_TEST_ROBOT", "talos")
    read = Property()
    read.fromConfig("name ${GRADIVA_TEST_ROBOT}", Property("(GRADIVA_TEST_ROBOT icub)"))
    assert read.find("name").asString() == "talos"


def test_configuration_files_and_folders_are_read(tmp_path):
    (tmp_path / "a.ini").write_text("x 1\n[G]\ny 2\n")
    read = Property("(old 1)")
    assert read.fromConfigFile(str(tmp_path / "a.ini"))
    assert read.toString() == "(G (y 2)) (x 1)"
    assert read.fromConfigDir(str(tmp_path), "section", False)
    assert read.findGroup("section").find("x").asInt32() == 1
    assert not read.fromConfigFile(str(tmp_path / "missing.ini"))
    assert not read.fromConfigDir(str(tmp_path / "missing"))
    assert read.check("x")


def test_command_lines_are_read():
    read = Property()
    read.fromCommand(["program", "--name", "/icub", "--G::k", "5", "--flag"])
    assert read.toString() == '(G (k 5)) (flag) (name "/icub")'
    read.fromArguments('--name "/other one" --x 1.5')
    assert read.toString() == '(name "/other one") (x 1.5)'
    read.fromCommand(["--y", "1"], False, False)
    assert read.find("y").asInt32() == 1
    assert read.check("x")


def test_queries_are_read():
    read = Property()
    read.fromQuery("http://host:1/page?req=list&n=5&empty=")
    assert (read.find("req").asString(), read.find("n").asString()) == ("list", "5")
    assert not read.check("empty")


def test_garbage_is_refused_and_leaves_the_property_as_it_was():
    read = Property("(a 1)")
    with pytest.raises(MalformedMessage):
        read.from_wire(b"nothing of this kind")
    assert read.toString() == "(a 1)"


def test_arguments_of_another_type_are_refused():
    with pytest.raises(TypeError):
        Property().put("key", [1])
    with pytest.raises(TypeError):
        Property().put(1, 1)
