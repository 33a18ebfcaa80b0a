import math

import pytest

from pureyarp.data.bottle import Bottle
from pureyarp.data.value import Value
from pureyarp.errors import MalformedMessage
from pureyarp.wire.elements import Float32, Int8, Int64, Vocab32, WireFamily

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


def test_a_copy_shares_nothing():
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


def test_arguments_of_another_type_are_refused():
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
