import signal

import pytest

from gradiva.middleware import NameClient, NetworkSettings, current_settings, use_settings
from tests.cli.yarp.conftest import free_port


def client(port):
    return NameClient(NetworkSettings(name_server_port=port))


def test_it_serves_as_configured_until_ctrl_c_prints_registrations_and_can_be_started_again_at_once(configured, start):
    port = current_settings().name_server_port
    server = start("yarpserver", "--verbose")
    assert server.process.stdout.readline() == f"name server /root at 127.0.0.1:{port}\n"
    assert client(port).register("/some/port").getPort() == port + 2
    client(port).unregister("/some/port")
    client(port).register("/other/port")
    printed = "+ /some/port\n- /some/port\n+ /other/port\n"
    assert server.stop(signal.SIGINT) == (0, printed, f"as {configured} says\n")
    again = start("yarpserver")
    assert again.process.stdout.readline() == f"name server /root at 127.0.0.1:{port}\n"
    assert again.stop()[0] == 0


def test_it_writes_the_address_of_a_host_s_name_into_the_file_and_ends_at_sigterm(configured, start):
    port = free_port()
    server = start("yarpserver", "--host", "localhost", "--port", port, "--write")
    assert server.process.stdout.readline() == f"name server /root at 127.0.0.1:{port}\n"
    assert configured.read_text().split() == ["127.0.0.1", str(port), "yarp"]
    use_settings(None)
    assert current_settings().name_server_port == port
    assert server.stop(signal.SIGTERM) == (0, "", f"wrote {configured}\n")


def test_another_namespace_has_another_file(configured, start):
    port = free_port()
    server = start("yarpserver", "--port", port, "--namespace", "/lab", "--write")
    assert server.process.stdout.readline() == f"name server /lab at 127.0.0.1:{port}\n"
    assert (configured.parent / "_lab.conf").read_text().split()[:2] == ["127.0.0.1", str(port)]
    assert "/lab" in {contact.getRegName() for contact in client(port).list_names()}
    assert server.stop()[0] == 0


def test_it_prints_where_programs_look_for_it_instead(configured, start):
    server = start("yarpserver", "--port", free_port())
    server.process.stdout.readline()
    elsewhere = current_settings().name_server_port
    assert server.stop()[2] == f"programs look for it at 127.0.0.1:{elsewhere}; --write changes {configured}\n"


def test_it_refuses_an_address_at_which_another_one_answers(name_server, gradiva):
    status, out, err = gradiva("yarpserver")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert f"127.0.0.1:{current_settings().name_server_port}" in err


def test_it_refuses_an_address_of_another_machine(configured, gradiva):
    status, out, err = gradiva("yarpserver", "--host", "192.0.2.1")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "192.0.2.1 (--host) is no address of this machine" in err


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--port", "0"], "--port"),
        (["--port", "70000"], "--port"),
        (["--namespace", "lab"], "--namespace lab: must begin with /"),
        (["--host", "no.such.host.invalid"], "no.such.host.invalid"),
        (["extra"], "extra"),
    ],
)
def test_wrong_options_are_refused_in_one_line(configured, gradiva, options, text):
    status, out, err = gradiva("yarpserver", *options)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert text in err
