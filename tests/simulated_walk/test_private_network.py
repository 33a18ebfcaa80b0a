"""A network of a test's own, and streams between processes on it."""

import os

import pytest

from gradiva.middleware import NameServer, NetworkError, NetworkSettings
from gradiva.simulated_walk.private_network import (
    NameServerProcess,
    Peer,
    PeriodicStream,
    StrictStream,
    joined,
    measure_periodic_stream,
    measure_round_trips,
    measure_strict_stream,
    private_network,
)
from tests.waiting import TIMEOUT


@pytest.fixture(scope="module")
def network():
    with private_network() as environment:
        yield environment


def test_every_call_is_answered_with_what_was_asked(network):
    trips = measure_round_trips(network, "tcp", 100)
    assert (len(trips.durations_us), trips.failures) == (100, 0)


def test_a_strict_stream_of_ten_thousand_messages_loses_none(network):
    stream = measure_strict_stream(network, "tcp", 10_000)
    assert (stream.lost, stream.in_order) == (0, True)


def test_a_stream_is_read_to_its_last_message(network):
    stream = measure_periodic_stream(network, "fast_tcp", 200.0, 0.5)
    assert len(stream.ages_us) + stream.missing == 100
    assert min(stream.ages_us) > 0.0


def test_the_age_of_a_share_of_the_messages():
    assert PeriodicStream([1.0, 2.0, 3.0, 4.0, 100.0], 0).age_us(75.0) == 4.0


def test_the_rate_of_a_stream():
    assert StrictStream(3, 0, True, [500.0, 1500.0]).rate == 1000.0


def test_a_name_server_is_ready_once_its_file_is_written(tmp_path):
    names = NameServerProcess(tmp_path)
    server = NameServer(NetworkSettings(name_server_port=names._port))
    server.start()
    try:
        assert not names._serves()  # else who joins now is on the network of the default address
        (tmp_path / "yarp.conf").touch()
        assert not names._serves()
        server.write_file(tmp_path / "yarp.conf")
        assert names._serves()
    finally:
        server.stop()


def test_the_default_address_is_never_joined_in_place_of_a_private_network(tmp_path):
    with (
        pytest.raises(NetworkError, match="no file names the private network"),
        joined({"YARP_CONFIG_HOME": str(tmp_path)}),
    ):
        pass


def test_what_yarp_itself_writes_on_standard_output_is_no_word_of_a_peer(network, tmp_path):
    said = "print('[INFO] |yarp.os.Port| Port /talkative')"
    (tmp_path / "sitecustomize.py").write_text(f"import atexit\n{said}\natexit.register(lambda: {said})\n")
    path = f"{tmp_path}{os.pathsep}{network.get('PYTHONPATH', '')}"
    with Peer({**network, "PYTHONPATH": path}, "echo", "/talkative") as peer:
        assert peer.findings(TIMEOUT) == {}


def test_a_peer_that_cannot_begin_says_why(network):
    with pytest.raises(NetworkError, match="'no-slash' is no name of a port"):
        Peer(network, "echo", "no-slash")


def test_a_reader_does_not_outlive_a_measurement_that_fails(network):
    with pytest.raises(NetworkError, match="cannot be connected"), Peer(network, "count", "/left", 10) as reader:
        Peer(network, "send", "/left", "pigeon", 10).findings(60.0)
    assert reader.has_ended
