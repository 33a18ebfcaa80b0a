import pytest

from pureyarp.wire.reply_text import items_of_reply
from pureyarp.wire.vocab import encode_vocab


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
