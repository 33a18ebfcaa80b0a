import threading
from types import SimpleNamespace

import pytest

from pureyarp.network.byte_stream import PeerGone
from pureyarp.network.channels import IncomingMessage
from pureyarp.network.ports import Rendezvous
from tests.waiting import TIMEOUT


def message(is_alive: bool = True) -> IncomingMessage:
    return IncomingMessage(b"", "", True, SimpleNamespace(is_alive=lambda: is_alive))


def test_a_message_is_handed_over_and_its_reply_back():
    rendezvous, replies = Rendezvous(), []
    sent = message()
    thread = threading.Thread(target=lambda: replies.append(rendezvous.hand_over(sent)), daemon=True)
    thread.start()
    handover = rendezvous.take()
    assert handover.message is sent
    handover.finish(b"reply")
    handover.finish(b"another")
    thread.join(TIMEOUT)
    assert replies == [b"reply"]


def test_a_stop_lets_both_sides_go():
    rendezvous, results = Rendezvous(), []
    threads = [
        threading.Thread(target=lambda: results.append(rendezvous.hand_over(message())), daemon=True),
        threading.Thread(target=lambda: results.append(rendezvous.hand_over(message())), daemon=True),
    ]
    for thread in threads:
        thread.start()
    rendezvous.stop()
    for thread in threads:
        thread.join(TIMEOUT)
    assert results == [None, None]
    assert rendezvous.take() is None


def test_a_sender_that_has_gone_is_not_waited_for():
    rendezvous = Rendezvous()
    with pytest.raises(PeerGone):
        rendezvous.hand_over(message(is_alive=False))
