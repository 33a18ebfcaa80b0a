"""Settings, contacts and addresses."""

import logging
import socket
from pathlib import Path

import pytest

from pureyarp.errors import SettingsError
from pureyarp.network import settings as module
from pureyarp.network.settings import (
    Contact,
    NameServerAddress,
    NetworkSettings,
    current_settings,
    is_loopback,
    load_settings,
    local_addresses,
    name_server_file,
    read_name_server_file,
    registered_host,
    use_settings,
    write_name_server_file,
)
from pureyarp.wire import WireFamily


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
def test_a_text_holds_name_carrier_and_address(text, name, carrier, host, port):
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


@pytest.fixture(autouse=True)
def no_folder_of_ours(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def environment(tmp_path) -> dict[str, str]:
    return {name: str(tmp_path / name) for name in ("YARP_CONFIG_HOME", "YARP_DATA_HOME")} | {
        "YARP_CONFIG_DIRS": str(tmp_path / "etc"),
        "YARP_DATA_DIRS": str(tmp_path / "share"),
    }


def write(environment, name, text):
    folder = Path(environment["YARP_CONFIG_HOME"])
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return folder / name


def test_without_files_and_variables_the_name_server_is_on_loopback(environment):
    assert load_settings(environment) == NetworkSettings()


@pytest.mark.parametrize("text", ["10.1.2.3 10100 yarp\n", "10.1.2.3 10100", "[name]\nhost 10.1.2.3\nport 10100\n"])
def test_the_file_holds_the_address_in_either_form(environment, text):
    path = write(environment, "yarp.conf", text)
    settings = load_settings(environment)
    assert (settings.name_server_host, settings.name_server_port) == ("10.1.2.3", 10100)
    assert settings.found_in == str(path)


def test_each_namespace_has_its_file(environment):
    write(environment, "yarp_namespace.conf", '"/my/ns"\n')
    write(environment, "_my_ns.conf", "127.0.0.1 10200 yarp")
    write(environment, "yarp.conf", "127.0.0.1 10300 yarp")
    settings = load_settings(environment)
    assert (settings.namespace, settings.name_server_port) == ("/my/ns", 10200)
    settings = load_settings({**environment, "YARP_NAMESPACE": "/root"})
    assert (settings.namespace, settings.name_server_port) == ("/root", 10300)


def test_the_folder_is_that_of_xdg_unless_yarp_has_its_own(tmp_path, environment):
    (tmp_path / "xdg" / "yarp").mkdir(parents=True)
    (tmp_path / "xdg" / "yarp" / "yarp.conf").write_text("127.0.0.1 10400")
    del environment["YARP_CONFIG_HOME"]
    assert load_settings({**environment, "XDG_CONFIG_HOME": str(tmp_path / "xdg")}).name_server_port == 10400


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "must hold address, port and mode"),
        ("127.0.0.1", "must hold address, port and mode"),
        ("127.0.0.1 ten yarp", "must hold address, port and mode"),
        ("127.0.0.1 70000 yarp", "must be 1 to 65535"),
        ("127.0.0.1 10000 ros", r"mode 'ros' is not spoken here \(valid: yarp\)"),
        ("[name]\nhost 10.1.2.3\n", "must hold address, port and mode"),
    ],
)
def test_a_file_without_an_address_is_named(environment, text, complaint):
    path = write(environment, "yarp.conf", text)
    with pytest.raises(SettingsError, match=complaint) as raised:
        load_settings(environment)
    assert str(path) in str(raised.value)


def test_the_key_of_the_authentication_is_found(environment):
    write(environment, "auth.conf", '[AUTH]\nkey "secret key 1"\n')
    assert load_settings(environment).authentication_key == b"secret key 1"


def test_a_key_that_cannot_be_read_is_no_reason_to_go_without(environment):
    write(environment, "auth.conf", "[AUTH]\nkex secret\n")
    with pytest.raises(SettingsError, match=r"auth\.conf: it must have a group \[AUTH\]"):
        load_settings(environment)


def test_the_variables_of_this_implementation_are_read(environment):
    settings = load_settings(
        {
            **environment,
            "PUREYARP_LISTEN": "0.0.0.0",
            "PUREYARP_FAMILY": "4",
            "PUREYARP_LARGEST_FRAME": "65536",
            "YARP_PORT_PREFIX": "/robot",
        }
    )
    assert settings.listen_host == "0.0.0.0"
    assert settings.family is WireFamily.YARP_4
    assert settings.limits.largest_frame == 65536
    assert settings.port_prefix == "/robot"


def test_the_variables_are_read_by_their_former_names_unless_the_present_ones_are_set(environment):
    former = {f"GRADIVA_YARP_{name}": value for name, value in (("LISTEN", "0.0.0.0"), ("FAMILY", "4"))}
    settings = load_settings({**environment, **former, "PUREYARP_FAMILY": "3"})
    assert (settings.listen_host, settings.family) == ("0.0.0.0", WireFamily.YARP_3)
    with pytest.raises(SettingsError, match="GRADIVA_YARP_" + "FAMILY='5' is no family"):
        load_settings({**environment, "GRADIVA_YARP_" + "FAMILY": "5"})


def test_ports_listen_where_yarp_ip_begins_an_address_of_this_machine(environment, monkeypatch):
    monkeypatch.setattr(module, "local_addresses", lambda: ["10.0.0.7", "127.0.0.1", "192.168.1.5"])
    assert load_settings({**environment, "YARP_IP": "192.168."}).listen_host == "192.168.1.5"
    both = {**environment, "YARP_IP": "192.168.", "PUREYARP_LISTEN": "localhost"}
    assert load_settings(both).listen_host == "127.0.0.1"


@pytest.mark.parametrize(
    ("variable", "value", "complaint"),
    [
        ("YARP_IP", "300.", r"YARP_IP='300\.' begins no address of this machine \(valid: .*127\.0\.0\.1"),
        (
            "PUREYARP_LISTEN",
            "everywhere",
            r"PUREYARP_LISTEN='everywhere' is no IPv4 address \(valid: 0\.0\.0\.0",
        ),
        ("PUREYARP_FAMILY", "5", r"PUREYARP_FAMILY='5' is no family of YARP \(valid: 3, 4\)"),
        ("PUREYARP_LARGEST_FRAME", "4MB", r"PUREYARP_LARGEST_FRAME='4MB' must be bytes, from 1024"),
        ("PUREYARP_LARGEST_FRAME", "10", "from 1024 to 2147483647"),
        ("YARP_PORT_PREFIX", "/my robot", "YARP_PORT_PREFIX='/my robot' must not have blanks"),
        ("YARP_NAMESPACE", "root", "YARP_NAMESPACE: namespace 'root' must begin with /"),
    ],
)
def test_a_bad_value_is_named_with_what_is_valid(environment, variable, value, complaint):
    with pytest.raises(SettingsError, match=complaint):
        load_settings({**environment, variable: value})


def test_settings_are_read_once_and_can_be_replaced(environment, monkeypatch):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    use_settings(None)
    try:
        write(environment, "yarp.conf", "127.0.0.1 10500")
        assert current_settings().name_server_port == 10500
        write(environment, "yarp.conf", "127.0.0.1 10600")
        assert current_settings().name_server_port == 10500
        use_settings(NetworkSettings(name_server_port=10700))
        assert current_settings().name_server_port == 10700
    finally:
        use_settings(None)


def test_ports_that_a_distant_name_server_cannot_hand_out_are_warned_of_once(environment, monkeypatch, caplog):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    write(environment, "yarp.conf", "203.0.113.9 10000")
    use_settings(None)
    try:
        with caplog.at_level(logging.WARNING, "pureyarp"):
            current_settings()
            current_settings()
    finally:
        use_settings(None)
    assert len(caplog.records) == 1
    assert "set PUREYARP_LISTEN=0.0.0.0" in caplog.text


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("127.1.2.3", True), ("localhost", True), ("10.0.0.1", False), ("robot", False)],
)
def test_loopback_is_distinguished_from_other_hosts(host, expected):
    assert is_loopback(host) is expected


@pytest.mark.parametrize(
    ("listen", "server", "registered"),
    [
        ("127.0.0.1", "127.0.0.1", ""),
        ("0.0.0.0", "127.0.0.1", ""),
        ("0.0.0.0", "10.0.0.1", ""),
        ("127.0.0.1", "10.0.0.1", "127.0.0.1"),
        ("10.0.0.7", "127.0.0.1", "10.0.0.7"),
        ("10.0.0.7", "10.0.0.1", "10.0.0.7"),
    ],
)
def test_the_address_is_said_where_the_name_server_would_see_another_one(listen, server, registered):
    assert registered_host(NetworkSettings(listen_host=listen, name_server_host=server)) == registered


def test_every_address_can_be_listened_at_and_loopback_is_one():
    addresses = local_addresses()
    assert "127.0.0.1" in addresses
    for address in addresses:
        with socket.socket() as sock:
            sock.bind((address, 0))
            assert sock.getsockname()[0] == address


def test_what_is_written_is_read(tmp_path):
    path = name_server_file({"YARP_CONFIG_HOME": str(tmp_path / "new"), "YARP_NAMESPACE": "/my-ns/a"})
    assert path == tmp_path / "new" / "_my_ns_a.conf"
    assert read_name_server_file(path) is None
    write_name_server_file(path, NameServerAddress("127.0.0.1", 10000))
    assert path.read_text() == "127.0.0.1 10000 yarp\n"
    assert read_name_server_file(path) == NameServerAddress("127.0.0.1", 10000)
