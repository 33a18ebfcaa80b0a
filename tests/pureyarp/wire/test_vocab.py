import pytest
from hypothesis import given
from hypothesis import strategies as st

from pureyarp.wire.elements import Vocab32, Vocab64
from pureyarp.wire.vocab import decode_vocab, encode_vocab, encode_vocab64


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
