import pytest

from pureyarp.data.vocab_arguments import decode, encode, vocab_of


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
