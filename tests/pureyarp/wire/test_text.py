"""Text of lists, vocabs and replies."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pureyarp.errors import MalformedMessage
from pureyarp.wire.elements import (
    Dictionary,
    Float32,
    Int8,
    Int64,
    Vocab32,
    Vocab64,
    decode_vocab,
    encode_vocab,
    encode_vocab64,
)
from pureyarp.wire.text import TextProgress, from_text, is_complete, items_of_reply, scan, to_text
from tests.pureyarp.wire.element_strategies import same, textual_items


@pytest.mark.parametrize(
    ("text", "number"),
    [("", 0), ("1", 49), ("ok", 0x6B6F), ("set", 0x746573), ("posd", 0x64736F70), ("abcdefg", 0x64636261)],
)
def test_the_first_character_is_the_lowest_byte_and_the_fifth_is_left_out(text, number):
    assert encode_vocab(text) == number
    assert type(encode_vocab(text)) is Vocab32
    assert decode_vocab(number) == text[:4]


@given(st.text(st.characters(min_codepoint=1, max_codepoint=127), max_size=4))
def test_any_four_characters_survive_as_a_number(text):
    assert decode_vocab(encode_vocab(text)) == text


def test_bytes_above_127_count_as_negative_numbers():
    assert encode_vocab("ü") == -17469


def test_long_vocabs_have_eight_characters():
    assert decode_vocab(encode_vocab64("abcdefghij")) == "abcdefgh"
    assert type(encode_vocab64("a")) is Vocab64


@given(st.lists(st.text(alphabet='a1 "(){}\\,[]', max_size=8), min_size=1, max_size=6))
def test_a_text_is_complete_by_lines_when_it_is_as_a_whole(lines):
    progress, text = TextProgress(), ""
    for index, line in enumerate(lines):
        is_complete = progress.add(line)
        text = f"{text}\n{line}" if index else line
        assert is_complete == scan(text).is_complete
        if progress.ends_in_backslash:
            text = text[:-1]


@pytest.mark.parametrize(
    ("line", "is_complete", "goes_on"),
    [
        ("1 2", True, False),
        ("(1", False, False),
        ("1 \\", False, True),
        ('"a\\\\', False, False),
        ("a\\\\", True, False),
    ],
)
def test_only_a_backslash_of_its_own_asks_for_another_line(line, is_complete, goes_on):
    progress = TextProgress()
    assert (progress.add(line), progress.ends_in_backslash) == (is_complete, goes_on)


LARGEST = 2**63 - 1


@given(items=textual_items)
def test_what_text_can_carry_survives_it(items):
    text = to_text(items)
    assert is_complete(text)
    assert same(from_text(text), items)


@given(text=st.text(st.one_of(st.sampled_from('()[]{}"\\ ,\n0x1e+-.'), st.characters()), max_size=40))
def test_any_text_is_read_or_refused_by_name(text):
    try:
        assert isinstance(from_text(text), list)
    except MalformedMessage:
        assert text.count("(") + text.count("{") > 32


@pytest.mark.parametrize(
    ("element", "text"),
    [
        (2.5, "2.5"),
        (1.0, "1.0"),
        (0.1, "0.100000000000000005551"),
        (123456.789, "123456.789000000004307"),
        (1e16, "10000000000000000.0"),
        (1e21, "1e+21"),
        (1e-5, "1.0000000000000000818e-05"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (math.nan, "nan"),
        (Float32(0.100000001490116119385), "0.100000001490116119385"),
        (Int8(-3), "-3"),
        (Int64(5000000000), "5000000000"),
        (Vocab32(0), "false"),
        (Vocab32(49), "true"),
        (encode_vocab("posd"), "[posd]"),
        (Vocab64(0x6867666564636261), "[abcdefgh]"),
        ("", '""'),
        ("abc", "abc"),
        ("a-b.c_9", "a-b.c_9"),
        ("9a", '"9a"'),
        ("-a", '"-a"'),
        ("true", '"true"'),
        ("false", '"false"'),
        ("null", "null"),
        ("/port", '"/port"'),
        ("a,b", '"a,b"'),
        ("a:b", '"a:b"'),
        ("é", '"é"'),
        ('a"b\\c\nd\re\0f\tg', '"a\\"b\\\\c\\nd\\re\\0f\tg"'),
        (b"", "{}"),
        (b"\0\1\xff", "{0 1 255}"),
        ([], "()"),
        ([1, [2.0, "x"]], "(1 (2.0 x))"),
        (Dictionary(b=["x", 1], a=[]), "((a) (b x 1))"),
    ],
)
def test_elements_are_printed_as_the_real_programs_print_them(element, text):
    assert to_text([element]) == text


def test_elements_are_separated_by_one_blank():
    assert to_text([1, "a b", []]) == '1 "a b" ()'
    assert to_text([]) == ""


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("0x1F", [31]),
        ("0xFFFFFFFF", [Int64(0xFFFFFFFF)]),
        ("0x123456789", ["0x123456789"]),
        ("010", [8]),
        ("08", [0]),
        ("+5", [5]),
        ("1.", [1.0]),
        ("1e3", [1000.0]),
        ("1E3", [1000.0]),
        (".5", [0.5]),
        ("-.5", [-0.5]),
        ("-", [0]),
        ("+", [0]),
        ("1-2", [1]),
        ("12abc", ["12abc"]),
        ("2147483647", [2147483647]),
        ("2147483648", [Int64(2147483648)]),
        ("-2147483648", [-2147483648]),
        ("-2147483649", [Int64(-2147483649)]),
        ("99999999999999999999", [Int64(LARGEST)]),
        ("-99999999999999999999", [Int64(-LARGEST - 1)]),
        ("9" * 5000, [Int64(LARGEST)]),
        ("1.2.3", ["1.2.3"]),
        ("1e", [0.0]),
        (".", ["."]),
        ("inf -inf nan", [math.inf, -math.inf, math.nan]),
        ("[abcdefg]", [encode_vocab("abcd")]),
        ("[]", [Vocab32(0)]),
        ("true false", [Vocab32(49), Vocab32(0)]),
        ("null", [encode_vocab("null")]),
        ('"true" "null"', ["true", "null"]),
        ("{1 2 256 -1}", [b"\1\2\0\xff"]),
        ("{}", [b""]),
        ("{1.5 x (2)}", [b"\1\0\0"]),
        ("a(b)", ["a(b)"]),
        ("a(b c)d", ["a(b c)d"]),
        ("3 (1 2", [3]),
        ('3 "abc', [3]),
        ("3 {1", [3]),
        ("3 abc\\", [3]),
        ("1 2)", [1]),
        ("1 2) 3", [1]),
        ('a"b c"d', ['a"b c"d']),
        ('"a b"', ["a b"]),
        ('""', [""]),
        ('"a\\"b\\\\c\\nd\\re\\0f"', ['a"b\\c\nd\re\0f']),
        ("a\\ b", ["a b"]),
        ("1,2\t3\r\n4,,5", [1, 2, 3, 4, 5]),
        ("# // x", ["#", "//", "x"]),
        ("()", [[]]),
        ("(1 (2 3)) x", [[1, [2, 3]], "x"]),
        ('("a)b" 1)', [["a)b", 1]]),
        ("", []),
        (" \r\n", []),
    ],
)
def test_text_is_read_as_the_real_programs_read_it(text, items):
    assert same(from_text(text), items)


@pytest.mark.parametrize("text", ["(1 2", '"abc', "{1", "abc\\", "(1 (2)", '(")"', "1 2\n(3"])
def test_an_open_mark_waits_for_more_text(text):
    assert not is_complete(text)


@pytest.mark.parametrize("text", ["", "1 2", "(1 2)", '"a b"', "1 2)", "\\\\", '"("', "[a"])
def test_a_text_without_open_marks_is_complete(text):
    assert is_complete(text)


def test_lists_nest_to_a_depth_of_32_and_no_deeper():
    assert to_text(from_text("(" * 32 + ")" * 32)) == "(" * 32 + ")" * 32
    with pytest.raises(MalformedMessage, match="deeper than 32"):
        from_text("(" * 33 + ")" * 33)


def test_a_long_line_is_read_to_its_end():
    assert from_text("((((1 2) a) {3}) 4.5) " * 5000) == [[[[[1, 2], "a"], b"\3"], 4.5]] * 5000


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("[ok] 1 2\r\n", [encode_vocab("ok"), 1, 2]),
        ("\r\n", []),
        ("one\r\ntwo words\r\n", [encode_vocab("many"), "one", "two words"]),
        ("(1\r\n2)\r\n", [[1, 2]]),
    ],
)
def test_replies_of_text_connections_are_elements(text, items):
    assert items_of_reply(text) == items
