import pytest

from pureyarp.network.settings import Contact


@pytest.mark.parametrize(
    ("text", "name", "carrier", "host", "port"),
    [
        ("/out", "/out", "", "", -1),
        ("/out:1", "/out:1", "", "", -1),
        ("tcp://gold/in", "/gold/in", "tcp", "", -1),
        ("fast_tcp:/gold/in", "/gold/in", "fast_tcp", "", -1),
        ("tcp://127.0.0.1:10002/", "", "tcp", "127.0.0.1", 10002),
        ("udp://10.0.0.1:10002/out", "/out", "udp", "10.0.0.1", 10002),
        ("127.0.0.1:10002", "127.0.0.1:10002", "", "", -1),
    ],
)
def test_a_text_tells_name_carrier_and_address(text, name, carrier, host, port):
    contact = Contact.fromString(text)
    assert (contact.getRegName(), contact.getCarrier(), contact.getHost(), contact.getPort()) == (
        name,
        carrier,
        host,
        port,
    )


def test_the_forms_of_the_constructor_agree():
    assert Contact("127.0.0.1", 10002) == Contact("", "", "127.0.0.1", 10002)
    assert Contact("tcp", "127.0.0.1", 10002) == Contact("", "tcp", "127.0.0.1", 10002)
    assert Contact(Contact("/a", "tcp", "127.0.0.1", 10002)) == Contact("/a", "tcp", "127.0.0.1", 10002)


def test_a_contact_is_valid_once_its_tcp_port_is_known():
    contact = Contact("/a")
    assert not contact.isValid()
    contact.setSocket("tcp", "127.0.0.1", 10002)
    assert contact.isValid()
    assert contact.toURI() == "tcp://127.0.0.1:10002/"
    assert contact.toURI(False) == "/127.0.0.1:10002/"
    assert contact.toString_c() == "tcp://a"


def test_a_contact_without_a_name_is_called_by_its_address():
    assert Contact("127.0.0.1", 10002).getName() == "/127.0.0.1:10002"
    assert Contact("127.0.0.1", 10002).getRegName() == ""


def test_a_timeout_is_there_once_set():
    contact = Contact("/a")
    assert not contact.hasTimeout()
    contact.setTimeout(0.5)
    assert contact.hasTimeout()
    assert contact.getTimeout() == 0.5


def test_an_unknown_host_keeps_its_name():
    assert Contact.convertHostToIp("127.0.0.1") == "127.0.0.1"
    assert Contact.convertHostToIp("no.such.host.invalid") == "no.such.host.invalid"
