import threading

import pytest

from pureyarp.network.buffered_ports import Mailbox
from pureyarp.network.byte_stream import PeerGone
from tests.waiting import TIMEOUT


def alive() -> bool:
    return True


@pytest.fixture
def mailbox() -> Mailbox:
    return Mailbox()


def test_the_newest_message_takes_the_place_of_the_older(mailbox):
    for number in range(3):
        mailbox.put(number, alive)
    assert len(mailbox) == 1
    assert mailbox.take() == 2


def test_a_strict_mailbox_keeps_the_order(mailbox):
    mailbox.is_strict = True
    for number in range(3):
        mailbox.put(number, alive)
    assert [mailbox.take() for _ in range(3)] == [0, 1, 2]


def test_nothing_comes_in_time(mailbox):
    assert mailbox.take(0.0) is None
    assert mailbox.take(0.01) is None


def test_who_waits_at_a_full_mailbox_leaves_when_his_peer_has_gone(mailbox):
    mailbox.is_strict, mailbox.most = True, 1
    mailbox.put(1, alive)
    with pytest.raises(PeerGone):
        mailbox.put(2, lambda: False)
    assert len(mailbox) == 1


def test_a_stopped_mailbox_takes_and_gives_nothing(mailbox):
    mailbox.put(1, alive)
    mailbox.stop()
    mailbox.put(2, alive)
    assert mailbox.is_stopped
    assert mailbox.take() is None
    mailbox.restart()
    assert mailbox.take(0.0) is None


def test_who_no_longer_wants_a_message_is_woken(mailbox):
    wanted, taken = [True], []
    thread = threading.Thread(target=lambda: taken.append(mailbox.take_while(lambda: wanted[0])), daemon=True)
    thread.start()
    mailbox.stop()
    mailbox.restart()
    wanted[0] = False
    mailbox.wake()
    thread.join(TIMEOUT)
    assert taken == [None]
