"""The name server connects ports whenever both are there, as it was asked to."""

import pytest

from pureyarp.network import BufferedPortBottle, ContactStyle, Network, Port
from pureyarp.network.peers import is_connected, request
from pureyarp.wire import encode_vocab
from tests.waiting import wait_until

OK, FAIL = encode_vocab("ok"), encode_vocab("fail")
KINDS = {"/out": Port, "/in": BufferedPortBottle}


@pytest.fixture
def asked(name_server):
    """Return a function that asks the name server by a Bottle, as `yarp connect --persist` does."""
    return lambda text: request(name_server.contact, text.split(), carrier="text_ack", timeout=5.0)


def style(**options) -> ContactStyle:
    return ContactStyle(persistent=True, quiet=True, **options)


@pytest.mark.parametrize("later", [(), ("/out",), ("/in",), ("/out", "/in")])
def test_ports_are_connected_as_soon_as_both_are_there(opened, later):
    first = [opened(KINDS[name], name) for name in KINDS if name not in later]
    assert Network.connect("/out", "/in", style())
    ports = [*first, *(opened(KINDS[name], name) for name in later)]
    wait_until(lambda: is_connected("/out", "/in", "tcp"))
    assert sum(port.getOutputCount() for port in ports) == 1


def test_a_port_that_opens_again_is_connected_again_until_that_is_revoked(opened):
    opened(Port, "/out")
    assert Network.connect("/out", "/in", style(carrier="fast_tcp"))
    for _ in range(2):
        into = opened(BufferedPortBottle, "/in")
        wait_until(lambda: is_connected("/out", "/in", "fast_tcp"))
        into.close()
    assert Network.disconnect("/out", "/in", style())
    opened(BufferedPortBottle, "/in")
    assert Network.connect("/out", "/other", style(persistenceType=ContactStyle.OPENENDED))
    opened(BufferedPortBottle, "/other")
    wait_until(lambda: is_connected("/out", "/other"))  # the same thread would have connected /in before
    assert not is_connected("/out", "/in")


def test_what_is_connected_by_any_carrier_is_left_alone_unless_another_one_is_asked_for(opened):
    opened(Port, "/out"), opened(BufferedPortBottle, "/in"), opened(BufferedPortBottle, "/next")
    assert Network.connect("/out", "/in", "fast_tcp")
    assert Network.connect("/out", "/in", style())
    assert Network.connect("/out", "/next", style())
    wait_until(lambda: is_connected("/out", "/next"))
    assert is_connected("/out", "/in", "fast_tcp")
    assert Network.connect("/out", "/in", style(carrier="tcp"))
    wait_until(lambda: is_connected("/out", "/in", "tcp"))


def test_a_subscription_ends_with_one_of_its_ports(opened, asked):
    out, into = opened(Port, "/out"), opened(Port, "/in")
    assert Network.connect("/out", "/in", style(persistenceType=ContactStyle.END_WITH_TO_PORT))
    assert Network.connect("/out", "/other", style(persistenceType=ContactStyle.END_WITH_FROM_PORT))
    assert Network.connect("/out", "/absent", style(persistenceType=ContactStyle.END_WITH_TO_PORT))
    kept = [["subscription", ["src", "/out"], ["dest", name], ["mode", end]] for name, end in MODES]
    assert asked("subscribe") == ["subscriptions", *kept]
    assert asked("subscribe /in") == ["subscriptions", kept[0]]
    into.close()
    assert asked("subscribe") == ["subscriptions", kept[1]]
    out.close()
    assert asked("subscribe") == ["subscriptions"]


MODES = (("/in", "to"), ("/other", "from"))


def test_what_is_sent_to_a_topic_goes_to_all_that_subscribe_to_it(opened, asked):
    for name in ("/out", "/first", "/second"):
        opened(Port, name)
    assert asked("topic") == []
    for ends in ("/out topic://joints", "topic://joints /first", "topic://joints fast_tcp://second"):
        asked(f"subscribe {ends}")
    wait_until(lambda: is_connected("/out", "/first", "tcp") and is_connected("/out", "/second", "fast_tcp"))
    assert asked("topic") == ["/joints"]
    assert asked("subscribe /first")[1][3] == ["topic", 1, 0]
    asked("untopic /joints")
    assert asked("topic") == []


def test_subscriptions_are_bounded(asked, monkeypatch):
    monkeypatch.setattr("pureyarp.network.subscriptions._MOST", 2)
    assert [asked(f"subscribe /a /{name}")[0] for name in "bcd"] == [OK, OK, FAIL]
    assert [asked(f"topic /{name}")[0] for name in "bcd"] == [OK, OK, FAIL]
