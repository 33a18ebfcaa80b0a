import pytest

from pureyarp.errors import MalformedMessage
from pureyarp.wire.authentication import NONCE_SIZE, signed_nonce, verified_nonce
from tests.middleware.recorded_messages import recording

KEY = b"secret key 1"


@pytest.fixture
def recorded() -> list[bytes]:
    return [bytes.fromhex(frame["hex"]) for frame in recording("yarp_3_12", "auth")["frames"][:3]]


def test_each_recorded_message_is_the_signed_nonce_after_those_before(recorded):
    earlier = b""
    for message in recorded:
        nonce = message[:NONCE_SIZE]
        assert signed_nonce(KEY, earlier, nonce) == message
        assert verified_nonce(KEY, earlier, message) == nonce
        earlier += nonce


def test_another_key_is_refused(recorded):
    with pytest.raises(MalformedMessage, match="key is not ours"):
        verified_nonce(b"secret key 2", b"", recorded[0])


def test_a_message_of_another_exchange_is_refused(recorded):
    with pytest.raises(MalformedMessage, match="key is not ours"):
        verified_nonce(KEY, b"12345678", recorded[1])


@pytest.mark.parametrize("size", [0, 39, 41])
def test_a_message_of_another_size_is_refused(recorded, size):
    with pytest.raises(MalformedMessage, match=f"40 bytes, got {size}"):
        verified_nonce(KEY, b"", (recorded[0] + b"x")[:size])
