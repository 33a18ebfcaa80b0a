"""Peers that leave without a farewell, as killed processes do, are let go of before anybody speaks to them."""

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from pureyarp.errors import NetworkError
from pureyarp.network.peers import request
from pureyarp.network.port_core import PortCore
from pureyarp.wire.binary import ACKNOWLEDGEMENT
from pureyarp.wire.elements import Element
from pureyarp.wire.text import from_text
from tests.pureyarp.network.local_ports import NOBODY, Inbox, address_of, open_core
from tests.waiting import TIMEOUT, wait_until


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def sender(stack) -> PortCore:
    return open_core(stack, "/out")


def mortal_peer(stack: ExitStack, sender: PortCore) -> socket.socket:
    """Connect a port to a peer that is only a socket, and return that."""
    listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    accepted: list[socket.socket] = []

    def shake_hands() -> None:
        sock, _ = listener.accept()
        sock.sendall(b"YA\1\0\0\0RP")
        accepted.append(sock)

    thread = threading.Thread(target=shake_hands, daemon=True)
    thread.start()
    sender.connect(f"tcp://127.0.0.1:{listener.getsockname()[1]}/mortal")
    thread.join(TIMEOUT)
    return stack.enter_context(accepted[0])


def listed(port: PortCore) -> list[Element]:
    """Ask an administrator's question: to whom does a port send?"""
    reply = request(port.contact, from_text("[list] [out]"), administrative=True, timeout=TIMEOUT, settings=NOBODY)
    assert reply is not None
    return reply


def test_a_peer_that_is_there_is_listed_and_kept(stack, sender):
    mortal_peer(stack, sender)
    assert listed(sender) == ["/mortal"]
    assert [output.is_alive() for output in sender.outputs.all()] == [True]


def test_a_peer_that_has_gone_is_not_listed(stack, sender):
    mortal_peer(stack, sender).close()
    wait_until(lambda: listed(sender) == [])
    assert not sender.has_outputs


def test_acknowledgements_that_nobody_has_taken_do_not_hide_that_a_peer_has_gone(stack, sender):
    peer = mortal_peer(stack, sender)
    sender.offer([1])  # whose acknowledgement is looked at before the next message
    peer.sendall(ACKNOWLEDGEMENT)
    assert listed(sender) == ["/mortal"]
    peer.shutdown(socket.SHUT_WR)
    wait_until(lambda: listed(sender) == [])


def test_a_client_whose_server_has_gone_may_have_another_one(stack, sender):
    sender.is_rpc = True
    peer = mortal_peer(stack, sender)
    server = open_core(stack, "/server", Inbox(lambda items: items))
    with pytest.raises(NetworkError, match="RPC output already connected"):
        sender.connect(address_of(server))
    peer.close()
    wait_until(lambda: not sender.outputs.all()[0].is_alive())
    sender.connect(address_of(server))
    assert [output.target for output in sender.outputs.all()] == ["/server"]
    assert sender.call([5], timeout=TIMEOUT)[0]


def test_nobody_receiving_datagrams_ends_their_connection(stack, sender):
    receiver = open_core(stack, "/in", Inbox())
    sender.connect(address_of(receiver), "udp")
    assert sender.send([1])
    [connection] = receiver.inputs.named("/out")
    assert listed(sender) == ["/in"]
    connection.close()  # and the sender is not told
    wait_until(lambda: not receiver.inputs.named("/out"))
    wait_until(lambda: not sender.send([2]))
    assert not sender.has_outputs
    assert sender.send([3])  # to nobody


def test_a_refused_datagram_is_noticed_without_another_one(stack, sender):
    receiver = open_core(stack, "/in", Inbox())
    sender.connect(address_of(receiver), "udp")
    [connection] = receiver.inputs.named("/out")
    connection.close()
    connection.join(TIMEOUT)
    sender.send([1])
    wait_until(lambda: listed(sender) == [])
