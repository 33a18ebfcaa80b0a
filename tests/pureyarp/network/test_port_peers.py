"""What a port makes of peers that die, come again and close."""

from pureyarp.data.values import Bottle
from pureyarp.network.ports import Port
from pureyarp.network.settings import Contact
from tests.pureyarp.network.local_ports import quiet
from tests.pureyarp.network.number_ports import Doubler
from tests.pureyarp.network.running_threads import in_background, joined
from tests.waiting import TIMEOUT, wait_until


def test_the_death_of_a_receiver_is_told_once(opened):
    into, out = opened(Port, "/in"), opened(Port, "/out")
    into.setReader(Doubler())
    out.addOutput("/in")
    assert out.write(Bottle("1"))
    assert out.write(Bottle("1"))
    for connection in into._core.inputs.all():
        connection.close()  # as when its process dies
        connection.join(TIMEOUT)
    with quiet():
        assert not out.write(Bottle("1"))
    assert out.getOutputCount() == 0
    assert out.write(Bottle("1"))


def test_the_death_of_a_sender_is_forgotten_at_once(opened):
    into, out = opened(Port, "/in"), opened(Port, "/out")
    out.addOutput("/in")
    wait_until(lambda: into.getInputCount() == 1)
    out.close()
    wait_until(lambda: into.getInputCount() == 0)


def test_a_sender_whose_message_nobody_reads_may_die(opened):
    into, out = opened(Port, "/in"), opened(Port, "/out")
    out.addOutput("/in")
    with quiet():
        thread, _ = in_background(lambda: out.write(Bottle("1")))
        wait_until(out.isWriting)
        out.close()
        joined(thread)
        wait_until(lambda: into.getInputCount() == 0)


def test_connecting_again_replaces_the_connection(opened):
    into, out = opened(Port, "/in"), opened(Port, "/out")
    for carrier in ("tcp", "udp", "text", "fast_tcp"):
        assert out.addOutput("/in", carrier)
        wait_until(lambda: into.getInputCount() == 1)
        assert out.getOutputCount() == 1
        assert into._core.inputs.all()[0].carrier_name == carrier


def test_a_rooted_sender_that_connects_again_replaces_its_older_self(opened, name_server):
    into, first = opened(Port, "/in"), opened(Port, "/out")
    first.addOutput("/in")
    second = Port()
    second.open(Contact("/out", "tcp", "127.0.0.1", 0), False)
    second._core.settings = name_server.settings
    assert second.addOutput("/in")
    wait_until(lambda: into.getInputCount() == 1)
    with quiet():
        assert not first.write(Bottle("1"))
    second.close()


def test_a_closing_receiver_has_its_senders_disconnect(opened):
    into, out = opened(Port, "/in"), opened(Port, "/out")
    out.addOutput("/in", "udp")
    assert out.getOutputCount() == 1
    into.close()
    assert out.getOutputCount() == 0
