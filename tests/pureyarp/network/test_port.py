"""Names, messages and envelopes of a port."""

import socket

import pytest

from pureyarp.data.streams import Stamp
from pureyarp.data.values import Bottle
from pureyarp.data.vectors import Vector
from pureyarp.network.ports import Port
from pureyarp.network.settings import Contact, use_settings
from pureyarp.wire.carriers import CARRIERS
from tests.pureyarp.network.local_ports import NOBODY, nothing_is_left
from tests.pureyarp.network.number_ports import Doubler
from tests.pureyarp.network.running_threads import in_background, joined
from tests.waiting import wait_until


def test_a_port_is_known_by_its_name_until_it_is_closed(name_server, name_client):
    port = Port()
    assert port.open("/a")
    assert name_client.query("/a") == port.where() == Contact("/a", "tcp", "127.0.0.1", port.where().getPort())
    assert name_client.get_property("/a", "accepts") == sorted(["tcp", "fast_tcp", "udp", "text", "text_ack"])
    assert port.isOpen()
    port.close()
    assert not name_client.query("/a").isValid()
    assert not port.isOpen()
    assert port.getName() == "/a"


def test_an_anonymous_port_gets_a_name(opened):
    assert opened(Port).getName().startswith("/tmp/port/")


@pytest.mark.parametrize("name", ["a", "/a@b", "/a\tb"])
def test_what_is_no_name_is_refused(name_server, name, caplog):
    assert not Port().open(name)
    assert "is no name of a port" in caplog.text


def test_nothing_opens_without_a_name_server(name_server, caplog):
    use_settings(NOBODY)
    assert not Port().open("/a")
    assert "no name server" in caplog.text


def test_nothing_opens_before_the_network_was_initialised(caplog):
    assert not Port().open("/a")
    assert "call Network.init() first" in caplog.text


def test_a_port_that_is_open_is_opened_anew(opened, name_client):
    port = opened(Port, "/a")
    assert port.open("/b")
    assert port.getName() == "/b"
    assert not name_client.query("/a").isValid()


def test_a_name_ends_before_its_first_blank(opened, caplog):
    assert opened(Port, "/a b").getName() == "/a"
    assert "a port is called /a instead of '/a b'" in caplog.text


def test_a_port_opens_again_after_it_was_closed(opened):
    port = opened(Port, "/a")
    port.close()
    assert port.open("/b")
    assert port.getName() == "/b"


def test_a_living_name_stays_that_of_its_first_port(opened, name_client, caplog):
    first, second = opened(Port, "/a"), Port()
    assert not second.open("/a")
    assert "/a is open already, at tcp://127.0.0.1:" in caplog.text
    assert (second.isOpen(), second.getName()) == (False, "/a")
    second.close()
    assert name_client.query("/a") == first.where()


@pytest.mark.parametrize("answers", [True, False], ids=["another_port_listens_there", "nobody_listens_there"])
def test_a_name_that_was_left_behind_is_opened_again(opened, name_client, answers):
    """As after a process was killed; its TCP port may be that of another one by now."""
    other = opened(Port, "/other").where()
    name_client.register("/a", "tcp", "127.0.0.1", other.getPort() if answers else 1)
    assert opened(Port, "/a").where() == name_client.query("/a")
    assert name_client.query("/other") == other


def test_a_port_that_hangs_keeps_its_name(name_server, name_client):
    with socket.create_server(("127.0.0.1", 0)) as hanging:  # its connections are never answered
        contact = name_client.register("/a", "tcp", "127.0.0.1", hanging.getsockname()[1])
        assert not Port().open("/a")
        assert name_client.query("/a") == contact


def test_a_port_opens_at_a_wanted_address(name_server, name_client, opened):
    free = opened(Port)
    number = free.where().getPort()
    free.close()
    port = Port()
    assert port.open(Contact("/a", "tcp", "127.0.0.1", number))
    assert name_client.query("/a").getPort() == number
    port.close()


def test_a_port_whose_address_is_taken_does_not_take_a_name(name_server, name_client, opened, caplog):
    taken = opened(Port, "/a").where()
    port = Port()
    for name in ("/a", "/b"):
        assert not port.open(Contact(name, "tcp", "127.0.0.1", taken.getPort()))
    assert "is it taken?" in caplog.text
    assert name_client.query("/a") == taken
    assert not name_client.query("/b").isValid()


def test_an_unregistered_port_opens_at_an_address(name_client):
    port = Port()
    assert port.open(Contact("/a", "tcp", "127.0.0.1", 0), False)
    assert not name_client.query("/a").isValid()
    port.close()


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_message_is_read(opened, carrier):
    into, out = opened(Port, "/in"), opened(Port, "/out")
    assert out.addOutput("/in", carrier)
    _, results = in_background(lambda: out.write(Bottle("hello 1 2.5 (3 x)")))
    bottle = Bottle()
    assert into.read(bottle)
    assert bottle.toString() == "hello 1 2.5 (3 x)"
    wait_until(lambda: results == [True])


def test_a_writer_waits_until_its_message_is_read(opened):
    into, out = opened(Port, "/in"), opened(Port, "/out")
    out.addOutput("/in")
    thread, results = in_background(lambda: out.write(Bottle("1")))
    wait_until(lambda: out.isWriting())
    assert results == []
    assert into.read(Bottle())
    joined(thread)
    assert results == [True]
    assert not out.isWriting()


def test_an_envelope_travels_beside_every_message(opened):
    into, out = opened(Port, "/in"), opened(Port, "/out")
    out.addOutput("/in")
    stamp = Stamp()
    assert not into.getEnvelope(stamp)
    out.setEnvelope(Stamp(5, 1700000000.25))
    for _ in range(2):
        thread, _ = in_background(lambda: out.write(Bottle("1")))
        assert into.read(Bottle())
        assert into.getEnvelope(stamp)
        assert (stamp.getCount(), stamp.getTime()) == (5, 1700000000.25)
        joined(thread)


def test_an_envelope_may_be_anything(opened):
    into, out = opened(Port, "/in"), opened(Port, "/out")
    out.addOutput("/in")
    out.setEnvelope(Bottle("any (thing 1.5)"))
    thread, _ = in_background(lambda: out.write(Bottle("1")))
    assert into.read(Bottle())
    envelope = Bottle()
    assert into.getEnvelope(envelope)
    assert envelope.toString() == "any (thing 1.5)"
    joined(thread)


@pytest.mark.parametrize("wake", ["close", "interrupt"])
def test_who_waits_for_a_message_is_woken(opened, wake):
    port = opened(Port, "/in")
    thread, results = in_background(lambda: port.read(Bottle()))
    getattr(port, wake)()
    joined(thread)
    assert results == [False]


def test_an_interrupted_port_reads_again_after_it_was_resumed(opened):
    into, out = opened(Port, "/in"), opened(Port, "/out")
    out.addOutput("/in")
    into.interrupt()
    assert not into.read(Bottle())
    into.resume()
    thread, _ = in_background(lambda: out.write(Bottle("1")))
    assert into.read(Bottle())
    joined(thread)


def test_what_is_no_message_for_the_reader_is_left_out(opened, caplog):
    into, out = opened(Port, "/in"), opened(Port, "/out")
    out.addOutput("/in")
    vector = Vector(2)
    vector.array[:] = 1.5, 2.5

    def write():
        out.write(Bottle("not a vector"))
        out.write(vector)

    thread, _ = in_background(write)
    read = Vector()
    assert into.read(read)
    assert list(read.array) == [1.5, 2.5]
    assert "was not read" in caplog.text
    joined(thread)


def test_a_port_that_is_closed_or_interrupted_sends_nothing(opened):
    assert Port().write(Bottle("1"))  # to nobody
    port = opened(Port)
    port.interrupt()
    assert not port.write(Bottle("1"))
    port.resume()
    assert port.write(Bottle("1"))


def test_an_output_is_added_by_contact(opened):
    into, out = opened(Port, "/in"), opened(Port, "/out")
    into.setReader(Doubler())
    assert out.addOutput(into.where())
    assert out.write(Bottle("1"))
    assert out._core.outputs.all()[0].target == "/in"


def test_nothing_is_left_of_closed_ports(opened):
    with nothing_is_left():
        ports = [opened(Port, f"/port{index}") for index in range(4)]
        for carrier, out in zip(CARRIERS, ports[1:], strict=False):
            assert out.addOutput("/port0", carrier)
            out._core.offer([1])
            out._core.offer([2])
        for port in ports:
            port.close()
