"""Value, Bottle, Property."""

import math

import pytest
from hypothesis import given, settings

from pureyarp.data import Stamp
from pureyarp.data.conversions import decode, encode, vocab_of
from pureyarp.data.values import Bottle, Property, Value, bottle_of
from pureyarp.errors import MalformedMessage
from pureyarp.wire import Float32, Int8, Int64, Vocab32, WireFamily
from tests.middleware.recorded_payloads import recorded_payloads
from tests.pureyarp.wire.element_strategies import any_items, same, textual_items

NULL = Value.getNullValue()
POSD = 0x64736F70
QUESTIONS = [
    "Bool",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "Float32",
    "Float64",
    "String",
    "Vocab32",
    "Blob",
    "List",
    "Dict",
]


def answers(value: Value) -> set[str]:
    """Return which questions a value answers with yes."""
    return {question for question in QUESTIONS if getattr(value, f"is{question}")()}


@pytest.mark.parametrize(
    ("value", "types"),
    [
        (NULL, set()),
        (Value(), {"List"}),
        (Value(3), {"Int32"}),
        (Value(True), {"Int32"}),
        (Value(2**40), {"Float64"}),
        (Value(0.5), {"Float64"}),
        (Value("3"), {"String"}),
        (Value("posd", True), {"Vocab32"}),
        (Value(POSD, True), {"Vocab32"}),
        (Value(0, True), {"Vocab32", "Bool"}),
        (Value(b"\1\2"), {"Blob"}),
        (Value.makeInt8(1), {"Int8"}),
        (Value.makeInt16(1), {"Int16"}),
        (Value.makeInt32(1), {"Int32"}),
        (Value.makeInt64(1), {"Int64"}),
        (Value.makeFloat32(0.1), {"Float32"}),
        (Value.makeFloat64(1), {"Float64"}),
        (Value.makeString("x"), {"String"}),
        (Value.makeVocab32("pos"), {"Vocab32"}),
        (Value.makeVocab32("p", "o", "s"), {"Vocab32"}),
        (Value.makeVocab32(49), {"Vocab32", "Bool"}),
        (Value.makeBlob(b"abc", 2), {"Blob"}),
        (Value.makeList("1 2"), {"List"}),
        (Value.makeList(), {"List"}),
        (Bottle("(a 1)").get(0), {"List"}),
    ],
)
def test_a_value_knows_its_type_and_no_other(value, types):
    assert answers(value) == types
    assert value.isNull() == (not types)
    assert value.isLeaf() == ("List" not in types)


def conversions(value: Value) -> tuple:
    return value.asInt32(), value.asFloat64(), value.asBool(), value.asString(), value.asVocab32()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (NULL, (0, 0.0, False, "", 0)),
        (Value(-3), (-3, -3.0, True, "", -3)),
        (Value(0), (0, 0.0, False, "", 0)),
        (Value(2.7), (2, 2.7, False, "", 0)),
        (Value(-2.7), (-2, -2.7, False, "", 0)),
        (Value(math.inf), (-(2**31), math.inf, False, "", 0)),
        (Value("posd"), (0, 0.0, False, "posd", POSD)),
        (Value("position"), (0, 0.0, False, "position", 0x69736F70)),
        (Value("true"), (0, 0.0, False, "true", 0x65757274)),
        (Value("12"), (0, 0.0, False, "12", 0x3231)),
        (Value("posd", True), (POSD, float(POSD), True, "posd", POSD)),
        (Value(49, True), (49, 49.0, True, "true", 49)),
        (Value(0, True), (0, 0.0, False, "false", 0)),
        (Value(b"\1"), (0, 0.0, False, "", 0)),
        (Value.makeList("1"), (0, 0.0, False, "", 0)),
        (Value.makeInt64(2**32 + 5), (5, 2.0**32 + 5, True, "", 5)),
    ],
)
def test_conversions_between_types(value, expected):
    assert conversions(value) == expected


def test_integers_are_wrapped_to_the_size_that_is_asked_for():
    value = Value(0x18283)
    assert (value.asInt8(), value.asInt16(), value.asInt32(), value.asInt64()) == (-125, -32125, 0x18283, 0x18283)


def test_float32_keeps_what_four_bytes_can_hold():
    assert Value(0.1).asFloat32() == Value.makeFloat32(0.1).asFloat64() == 0.10000000149011612
    with pytest.raises(OverflowError):
        Value.makeFloat32(1e300)


def test_what_is_no_list_dictionary_or_blob_is_none():
    assert (Value(1).asList(), Value(1).asDict(), Value(1).asBlob(), Value(1).asSearchable()) == (None,) * 4
    assert Value(b"\0\1").asBlob() == b"\0\1"
    assert Value(b"\0\1").asBlobLength() == 2
    assert Value(1).asBlobLength() == 0


@pytest.mark.parametrize(
    ("text", "element"),
    [
        ("5", 5),
        ("0.5", 0.5),
        ("[set]", Vocab32(0x746573)),
        ('"a b"', "a b"),
        ("(1 2)", [1, 2]),
        ("1 2", "1 2"),
        ("5000000000", Int64(5000000000)),
        ("{7}", b"\7"),
        ("true", Vocab32(49)),
    ],
)
def test_a_value_is_made_of_its_text(text, element):
    value = Value.makeValue(text)
    assert (value.element, type(value.element)) == (element, type(element))
    assert type(Value.makeValue(value.to_wire_text()).element) is type(element)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (NULL, ""),
        (Value(), ""),
        (Value("a b"), "a b"),
        (Value("posd", True), "posd"),
        (Value(0, True), "false"),
        (Value(1.0), "1.0"),
        (Value(7), "7"),
        (Value(b"\1\2"), "1 2"),
        (Value.makeList('1 "a b" (2)'), '1 "a b" (2)'),
    ],
)
def test_a_value_by_itself_is_printed_without_marks_around_it(value, text):
    assert value.toString() == value.toString_c() == text


def test_a_text_of_nothing_is_a_null_value():
    assert Value.makeValue("").isNull()


def test_values_are_equal_if_their_texts_are():
    assert Value(1).isEqual(Value(1))
    assert Value(1).notEqual(Value(1.0))
    assert Value(1).isEqual(Value.makeInt8(1))
    assert Value("ok").isEqual(Value("ok", True))
    assert Value.makeList("1 nan").isEqual(Value.makeList("1 nan"))
    assert NULL.isEqual(Value())


def test_lists_and_dictionaries_are_searched_by_key():
    value = Value.makeList("(a 1) (b (c 2))")
    assert value.find("a").asInt32() == 1
    assert value.findGroup("b").find("c").asInt32() == 2
    assert value.check("a")
    assert not value.check("c")
    assert value.check("c", Value(9)).asInt32() == 9
    assert value.check("a", Value(9), "comment").asInt32() == 1
    assert Value(3).find("a").isNull()
    assert Value(3).findGroup("a").isNull()


def test_a_copy_of_a_value_shares_nothing():
    value = Value.makeList("1 (2)")
    copy = value.clone()
    value.asList().get(1).asList().addInt32(3)
    assert (value.toString(), copy.toString()) == ("1 (2 3)", "1 (2)")


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (NULL, -1),
        (Value(), 256),
        (Value(1), 1),
        (Value(1.0), 10),
        (Value("x"), 4),
        (Value.makeList("1 2"), 257),
        (Value(1, True), 9),
    ],
)
def test_the_code_is_the_tag_on_the_wire(value, code):
    assert value.getCode() == code


@pytest.mark.parametrize("family", list(WireFamily))
@pytest.mark.parametrize(
    "value", [Value(), Value(1), Value(0.5), Value("x"), Value.makeList("0.5 (a b)"), Value.makeInt8(-1), Value(b"a")]
)
def test_a_value_travels_as_a_list_of_one(value, family):
    read, bottle = Value(7), Bottle()
    assert read.from_wire(value.to_wire(family), family) is family
    assert (read.getCode(), read.toString()) == (value.getCode(), value.toString())
    bottle.from_wire(value.to_wire(family), family)
    assert bottle.toString() == value.to_wire_text()


def test_a_value_is_written_without_specialisation():
    assert Value(5).to_wire().hex() == "00010000010000000100000005000000"
    assert NULL.to_wire().hex() == "0001000000000000"


def test_an_empty_list_is_read_as_one_and_several_elements_are_refused():
    read = Value(7)
    read.from_wire(NULL.to_wire())
    assert (read.isList(), read.toString()) == (True, "")
    with pytest.raises(MalformedMessage, match="one element"):
        read.from_wire(Bottle("1 2").to_wire())


def test_garbage_is_refused_and_the_value_is_unchanged():
    value = Value(7)
    with pytest.raises(MalformedMessage):
        value.from_wire(b"garbage!")
    assert value.asInt32() == 7


def test_values_of_another_type_are_refused():
    with pytest.raises(TypeError):
        Value.makeInt32(1.5)
    with pytest.raises(OverflowError):
        Value.makeInt8(128)
    with pytest.raises(TypeError):
        Value.makeFloat64("1")
    with pytest.raises(TypeError):
        Value([])


def test_the_parts_of_an_element_keep_their_types_in_a_copy():
    value = Value.makeList()
    value.element = [Int8(1), Float32(0.5), [Vocab32(2)]]
    copied = Value(value).element
    assert [type(item) for item in copied] == [Int8, Float32, list]
    assert type(copied[2][0]) is Vocab32


def test_vocabs_are_plain_numbers_for_users():
    assert encode("posd") == 0x64736F70
    assert type(encode("posd")) is int
    assert decode(encode("ok")) == "ok"
    assert decode(0) == ""


def test_a_vocab_is_given_by_number_characters_or_text():
    assert vocab_of(0x746573) == vocab_of("set") == vocab_of("s", "e", "t") == 0x746573


def test_numbers_of_more_than_four_bytes_are_no_vocabs():
    with pytest.raises(TypeError):
        vocab_of(2**31)
    with pytest.raises(TypeError):
        encode(5)


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


def test_changes_within_a_group_reach_the_outer_property():
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


def test_a_copy_of_a_property_shares_nothing():
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


def test_entries_of_another_type_are_refused():
    with pytest.raises(TypeError):
        Property().put("key", [1])
    with pytest.raises(TypeError):
        Property().put(1, 1)


def everything() -> Bottle:
    """Return the Bottle of the recordings that has all types."""
    bottle = Bottle()
    bottle.addInt8(-8)
    bottle.addInt16(-1600)
    bottle.addInt32(-320000)
    bottle.addInt64(-64000000000)
    bottle.addFloat32(1.25)
    bottle.addFloat64(-2.5)
    bottle.addVocab32("set")
    bottle.addString("hello world")
    bottle.add(Value.makeBlob(bytes([0, 1, 254, 255])))
    for text in ("1 x", "7 8", "0.5", "", "([ok] [fail])"):
        bottle.addList().fromString(text)
    dictionary = bottle.addDict()
    dictionary.put("name", "val")
    dictionary.put("key", 5)
    bottle.addString("")
    bottle.addVocab32(0)
    return bottle


@pytest.mark.parametrize("family", list(WireFamily))
def test_a_bottle_of_all_types_is_written_as_recorded(family):
    recorded = [payload for payload in recorded_payloads() if payload.decoded.startswith("-8 -1600")]
    assert everything().to_wire(family) in {payload.data for payload in recorded if payload.family is family}


def test_a_bottle_of_all_types_is_printed_as_recorded():
    assert everything().toString() == (
        '-8 -1600 -320000 -64000000000 1.25 -2.5 [set] "hello world" {0 1 254 255} (1 x) (7 8) (0.5) ()'
        ' (([ok] [fail])) ((key 5) (name val)) "" false'
    )


@pytest.mark.parametrize("family", list(WireFamily))
@settings(max_examples=25)  # the wire's own tests try more
@given(items=any_items)
def test_any_bottle_survives_the_wire(family, items):
    read = Bottle("old")
    assert read.from_wire(bottle_of(items).to_wire(family), family) is family
    assert same(read.items, items)


@settings(max_examples=25)
@given(items=textual_items)
def test_any_bottle_that_text_can_carry_survives_it(items):
    read = Bottle("old")
    read.from_wire_text(bottle_of(items).to_wire_text())
    assert same(read.items, items)


def test_a_bottle_is_made_of_text_of_another_one_or_of_values():
    bottle = Bottle("1 (2)")
    assert Bottle(bottle).toString() == "1 (2)"
    assert Bottle([Value(1), Value("x"), Value.makeList("2")]).toString() == "1 x (2)"
    assert Bottle().size() == 0


def test_a_copy_of_a_bottle_shares_nothing():
    bottle = Bottle("1 (2)")
    copies = [Bottle(bottle), Bottle(), Bottle()]
    copies[1].copy(bottle)
    copies[2].append(bottle)
    bottle.get(1).asList().addInt32(3)
    assert [bottle.toString(), *(copy.toString() for copy in copies)] == ["1 (2 3)"] + ["1 (2)"] * 3


def test_nested_lists_and_dictionaries_are_shared():
    bottle = Bottle()
    nested = bottle.addList()
    nested.addList().addInt32(1)
    dictionary = bottle.addDict()
    dictionary.addGroup("G").put("k", 2)
    assert bottle.toString() == "((1)) ((G (k 2)))"
    bottle.get(0).asList().addString("x")
    bottle.get(1).asDict().put("a", 0.5)
    assert bottle.toString() == "((1) x) ((G (k 2)) (a 0.5))"


def test_places_outside_hold_null_values():
    bottle = Bottle("1 2")
    assert [bottle.get(index).isNull() for index in (0, 1, 2)] == [False, False, True]


def test_values_are_taken_from_the_end_and_the_front():
    bottle = Bottle("1 2 3")
    assert bottle.pop().asInt32() == 3
    assert bottle.tail().toString() == "2"
    assert bottle.toString() == "1 2"
    assert Bottle().pop().isNull()
    assert Bottle().tail().size() == 0


def test_a_part_of_another_bottle_is_copied():
    bottle = Bottle("old")
    bottle.copy(Bottle("0 1 2 3"), 1, 2)
    assert bottle.toString() == "1 2"
    bottle.copy(Bottle("0 1 2 3"), 2)
    assert bottle.toString() == "2 3"


def test_a_key_is_found_in_a_nested_pair_and_before_its_value():
    bottle = Bottle('(alpha 1) beta 2 ([pos] 3) (group (x 4)) (5 six) "a b" 7')
    found = [bottle.find(key).asInt32() for key in ("alpha", "beta", "pos", "a b")]
    assert found == [1, 2, 3, 7]
    assert bottle.find("5").asString() == "six"
    assert bottle.find("group").toString() == "x 4"
    assert bottle.find("gamma").isNull()


def test_the_first_of_several_keys_counts():
    assert Bottle("(a 1) (a 2) a 3").find("a").asInt32() == 1


def test_a_group_is_the_list_itself_and_null_if_it_is_missing():
    bottle = Bottle("(group (x 4) (y 5)) flat 1")
    group = bottle.findGroup("group", "comment")
    assert group.toString() == "group (x 4) (y 5)"
    assert group.find("y").asInt32() == 5
    group.addInt32(6)
    assert bottle.get(0).asList().size() == 4
    assert not group.isNull()
    assert bottle.findGroup("flat").isNull()
    assert Bottle("a 1 (a 2)").findGroup("a").isNull()
    assert bottle.findGroup("flat").find("x").isNull()


def test_check_reports_keys_and_returns_the_fallback_without_one():
    bottle = Bottle("(a 1) b 2 (flag)")
    assert [bottle.check(key) for key in ("a", "b", "flag", "c")] == [True, True, True, False]
    assert bottle.check("a", "comment")
    assert bottle.check("a", Value(9)).asInt32() == 1
    assert bottle.check("c", Value(9), "comment").asInt32() == 9


def test_bottles_are_equal_if_their_texts_are():
    assert Bottle("1 nan").isEqual(Bottle("1 nan"))
    assert Bottle("1").notEqual(Bottle("1.0"))


def test_vocabs_are_added_by_number_characters_or_text():
    bottle = Bottle()
    bottle.addVocab32(0x746573)
    bottle.addVocab32("s", "e", "t")
    bottle.addVocab32("settle")
    assert bottle.toString() == "[set] [set] [sett]"


def test_arguments_of_another_type_are_refused():
    bottle = Bottle()
    for add, wrong, error in [
        (bottle.addInt32, 1.5, TypeError),
        (bottle.addInt32, 2**31, OverflowError),
        (bottle.addInt8, 128, OverflowError),
        (bottle.addFloat64, "1", TypeError),
        (bottle.addString, 1, TypeError),
    ]:
        with pytest.raises(error):
            add(wrong)
    assert bottle.size() == 0


def test_a_null_value_is_not_added():
    bottle = Bottle()
    bottle.add(Value.getNullValue())
    assert bottle.size() == 0


def test_binary_and_text_are_taken_over_in_place():
    bottle = Bottle("1")
    items = bottle.items
    bottle.fromBinary(Bottle("2 x").toBinary())
    assert items == [2, "x"]
    bottle.fromString("3")
    assert items == [3]
    bottle.clear()
    assert items == []


def test_what_cannot_be_read_leaves_the_bottle_as_it_was():
    bottle = Bottle("1")
    with pytest.raises(MalformedMessage):
        bottle.from_wire(b"nothing of this kind")
    with pytest.raises(MalformedMessage):
        bottle.from_wire_text("(" * 40 + ")" * 40)
    assert bottle.toString() == "1"


@pytest.mark.parametrize("text_mode", [False, True])
def test_objects_are_copied_through_bottles(text_mode):
    bottle, stamp = Bottle(), Stamp()
    assert bottle.read(Stamp(5, 0.5), text_mode)
    assert bottle.toString() == "5 0.5"
    assert bottle.write(stamp, text_mode)
    assert (stamp.getCount(), stamp.getTime()) == (5, 0.5)
    assert not Bottle("x").write(stamp, text_mode)
