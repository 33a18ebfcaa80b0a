"""Ports that speak the tags of 3.x and 4.x."""

from contextlib import ExitStack
from dataclasses import replace

import pytest

from pureyarp.data.values import Bottle
from pureyarp.network.peers import request
from pureyarp.network.ports import read_reply
from pureyarp.wire.elements import WireFamily, encode_vocab
from tests.pureyarp.network.local_ports import NOBODY, Inbox, address_of, open_core
from tests.waiting import TIMEOUT

ITEMS = [encode_vocab("set"), 1, 0.1, "x", [1.5, 2.5]]


@pytest.mark.parametrize("server_family", WireFamily)
@pytest.mark.parametrize("client_family", WireFamily)
@pytest.mark.parametrize("carrier", ["tcp", "fast_tcp", "text_ack"])
def test_a_server_answers_in_the_family_of_its_client(server_family, client_family, carrier):
    with ExitStack() as stack:
        server = open_core(stack, "/server", Inbox(lambda items: items), replace(NOBODY, family=server_family))
        settings = replace(NOBODY, family=client_family)
        assert request(server.contact, ITEMS, carrier=carrier, timeout=TIMEOUT, settings=settings) == ITEMS


def test_a_connection_learns_the_family_of_the_replies():
    four = replace(NOBODY, family=WireFamily.YARP_4)
    with ExitStack() as stack:
        server = open_core(stack, "/server", settings=four)
        server.handler = lambda message: Bottle("1 0.1 x").to_wire(WireFamily.YARP_4)
        client = open_core(stack, "/client")
        client.connect(address_of(server))
        _, [(output, reply)] = client.call(["question"], TIMEOUT)
        answer = Bottle()
        assert read_reply(answer, output, reply)
        assert answer.items == [1, 0.1, "x"]
        assert output.family is WireFamily.YARP_4
