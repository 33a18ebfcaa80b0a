import pytest
from hypothesis import given

from pureyarp.data.bottle import Bottle, bottle_of
from pureyarp.data.stamp import Stamp
from pureyarp.data.value import Value
from pureyarp.errors import MalformedMessage
from pureyarp.wire.elements import WireFamily
from tests.middleware.recorded_payloads import recorded_payloads
from tests.pureyarp.wire.element_strategies import any_items, same, textual_items


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
@given(items=any_items)
def test_any_bottle_survives_the_wire(family, items):
    read = Bottle("old")
    assert read.from_wire(bottle_of(items).to_wire(family), family) is family
    assert same(read.items, items)


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


def test_a_copy_shares_nothing():
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


def test_check_tells_of_keys_and_hands_out_the_fallback_of_missing_ones():
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
