"""Every recorded conversation, and which tests prove that our code can hold either end of it.

``server`` is the end that was called: our port, name server or device server hears the recorded client, and answers in
the recorded bytes. ``client`` is the end that called: our code speaks to a recorded server, and says the recorded
bytes. Port numbers, process ids, times and counters differ; how a message is cut into blocks has no meaning.
"""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

_FILES = ("yarp_3_12.json", "yarp_4_0.json")


@dataclass(frozen=True)
class Proof:
    """Tests that play the ends of a recording.

    Attributes:
        server: Tests that play the recorded client.
        client: Tests that play the recorded server.
        exception: What is not proven, and why.
    """

    server: tuple[str, ...] = ()
    client: tuple[str, ...] = ()
    exception: str = ""


CONNECTIONS = "tests.pureyarp.network.test_recorded_connections:"
TAKEN = CONNECTIONS + "test_a_recorded_sender_is_acknowledged_as_by_the_real_receiver"
SENT = CONNECTIONS + "test_our_port_says_to_a_recorded_receiver_what_the_real_one_said"
HEARD = CONNECTIONS + "test_a_recorded_client_hears_from_our_server_what_it_heard_from_the_real_one"
ASKED = CONNECTIONS + "test_our_port_asks_a_recorded_server_as_the_real_one_did"
PORTS = "test_recorded_ports:"
STREAM_TAKEN = PORTS + "test_a_recorded_stream_is_taken_as_by_the_real_receiver"
STREAM_SENT = PORTS + "test_our_port_streams_what_the_real_one_streamed"
CALL_ANSWERED = PORTS + "test_our_port_answers_a_recorded_caller_if_its_owner_does"
CALLED = PORTS + "test_our_port_calls_as_the_real_client_did"
NETWORKS = "test_recorded_networks:"
NAMES_ANSWERED = NETWORKS + "test_the_name_server_answers_the_recorded_lines"
DEVICES = "test_recorded_devices:"
BOARD_ANSWERS = DEVICES + "test_the_control_board_server_answers_every_recorded_request"
BOARD_ASKED = DEVICES + "test_our_client_makes_every_recorded_call_in_the_recorded_bytes"
BOARD_SENDS = DEVICES + "test_our_board_sends_the_recorded_states"
SESSIONS = "tests.pureyarp.devices.test_recorded_sessions:"
SERVER_SESSIONS = "tests.pureyarp.devices.test_device_servers:"
NOT_OUR_SERVICE = "the service behind the port is not ours: its recorded replies are decoded, and encoded again"

PROOFS = {
    "ns_port_open_close": Proof(
        (NAMES_ANSWERED,), (NETWORKS + "test_opening_and_closing_ports_asks_what_real_ports_ask",)
    ),
    "ns_requests": Proof(
        (NAMES_ANSWERED, "tests.pureyarp.network.test_name_server:test_recorded_text_connections_are_answered"),
        ("tests.pureyarp.network.test_peers:test_recorded_answers_are_understood",),
    ),
    "ns_cli": Proof(
        (NAMES_ANSWERED,), (NETWORKS + "test_our_client_asks_about_names_in_the_words_of_the_recorded_tool",)
    ),
    "bottles_tcp": Proof((TAKEN,), (SENT,)),
    "bottles_fast_tcp": Proof((TAKEN,), (SENT,)),
    "bottles_text": Proof((TAKEN,), (SENT,)),
    "bottles_text_ack": Proof((TAKEN,), (SENT,)),
    "bottles_udp": Proof(
        (CONNECTIONS + "test_recorded_datagrams_reach_our_port_and_the_recorded_text_message_ends_their_connection",),
        (CONNECTIONS + "test_our_datagrams_are_the_recorded_ones",),
    ),
    "bottles_mcast": Proof(
        (
            PORTS + "test_a_recorded_group_is_refused_and_its_datagrams_are_understood",
            "tests.pureyarp.network.test_name_server:test_the_group_of_a_multicast_is_answered_as_recorded",
        ),
        exception="multicast is not spoken: the connection is refused, names of groups are given, datagrams understood",
    ),
    "stamp_envelope_tcp": Proof((TAKEN,), (SENT,)),
    "stamp_envelope_text_ack": Proof(
        (PORTS + "test_a_recorded_sender_by_text_ack_is_acknowledged_and_its_stamps_are_read",), (SENT,)
    ),
    "vector_tcp": Proof(
        (STREAM_TAKEN,), (STREAM_SENT, CONNECTIONS + "test_our_port_sends_vectors_in_the_recorded_blocks")
    ),
    "property_tcp": Proof((STREAM_TAKEN,), (STREAM_SENT,)),
    "rpc_tcp": Proof((HEARD,), (ASKED,)),
    "rpc_fast_tcp": Proof((HEARD,), (ASKED,)),
    "rpc_text_ack": Proof((HEARD,), (ASKED,)),
    "admin_tcp": Proof(
        ("tests.pureyarp.network.test_administration:test_a_recorded_administrator_gets_the_recorded_answers",),
        (
            NETWORKS + "test_our_administrator_asks_as_the_recorded_one",
            NETWORKS + "test_our_port_greets_receivers_by_each_carrier_as_recorded",
        ),
        "one question, for a port monitor, is answered [fail]: monitors are plug-ins of the real port",
    ),
    "cli_connect_write_disconnect": Proof(
        (NETWORKS + "test_a_connection_is_made_used_and_ended_as_recorded",),
        (
            NETWORKS + "test_a_connection_is_made_used_and_ended_as_recorded",
            NETWORKS + "test_connecting_and_disconnecting_asks_in_the_recorded_words",
        ),
    ),
    "cli_exists_ping": Proof(
        (NETWORKS + "test_existence_is_answered_and_asked_as_recorded",),
        (NETWORKS + "test_existence_is_answered_and_asked_as_recorded",),
        "our ping asks for the same description; it measures the time to the answer, not to the connection",
    ),
    "rcb_open_tcp": Proof(
        (
            SERVER_SESSIONS + "test_the_recorded_client_opens_commands_and_leaves_it_by_tcp",
            "tests.pureyarp.network.test_name_server:test_a_control_boards_ports_are_registered_as_recorded",
        ),
        (SESSIONS + "test_a_session_by_tcp",),
    ),
    "rcb_open_default_udp": Proof(
        (SERVER_SESSIONS + "test_the_recorded_client_reads_and_leaves_it_by_udp",),
        (SESSIONS + "test_a_session_by_udp_which_is_the_default",),
    ),
    "rcb_rpc_all": Proof((BOARD_ANSWERS,), (BOARD_ASKED,)),
    "rcb_streaming_all": Proof((BOARD_ANSWERS,), (BOARD_ASKED,)),
    "stateExt": Proof((STREAM_TAKEN,), (STREAM_SENT, BOARD_SENDS)),
    "state": Proof((STREAM_TAKEN,), (STREAM_SENT, BOARD_SENDS)),
    "cb_raw_rpc": Proof((BOARD_ANSWERS,), exception="the caller was an independent program, not a device"),
    "mas": Proof(
        (DEVICES + "test_our_sensors_answer_and_stream_as_recorded", STREAM_TAKEN),
        (DEVICES + "test_our_client_asks_recorded_sensors_and_reads_what_they_measured", STREAM_SENT),
    ),
    "thrift_rpc": Proof((CALL_ANSWERED,), (CALLED,), NOT_OUR_SERVICE),
    "thrift_struct": Proof((STREAM_TAKEN,), (STREAM_SENT,)),
    "rfmodule": Proof(
        (DEVICES + "test_a_module_answers_and_ends_as_recorded",),
        exception="the caller was an independent program; calls are proven by rpc_tcp",
    ),
    "yarprun": Proof((CALL_ANSWERED,), (CALLED,), NOT_OUR_SERVICE),
    "auth": Proof(
        (NETWORKS + "test_the_name_server_proves_the_key_as_recorded",),
        (NETWORKS + "test_our_client_proves_the_key_as_recorded",),
    ),
    "v4_bottles_tcp": Proof((STREAM_TAKEN,), (STREAM_SENT,)),
    "v4_vector_tcp": Proof(
        (STREAM_TAKEN,), (STREAM_SENT, PORTS + "test_a_vector_of_the_4_family_is_written_as_recorded")
    ),
    "v4_rpc_tcp": Proof((CALL_ANSWERED, PORTS + "test_the_data_only_connection_of_the_4_family_is_taken"), (CALLED,)),
    "v4_nwc_open": Proof(
        (SERVER_SESSIONS + "test_a_recorded_client_of_the_4_family_opens_it_and_commands_it", STREAM_TAKEN),
        (SESSIONS + "test_a_session_with_the_4_family", STREAM_SENT),
    ),
}


def recorded_names() -> list[str]:
    """Return the names of all recordings."""
    folder = Path(__file__).parent / "recordings"
    return [entry["name"] for file in _FILES for entry in json.loads((folder / file).read_text())]


def test_every_recording_is_in_a_row_and_every_row_is_a_recording():
    assert sorted(PROOFS) == sorted(recorded_names())
    assert len(PROOFS) == 36


@pytest.mark.parametrize("name", PROOFS)
def test_the_tests_that_a_row_names_are_there_and_know_the_recording(name):
    proof = PROOFS[name]
    for reference in (*proof.server, *proof.client):
        module_name, test_name = reference.split(":")
        is_full = module_name.startswith("tests.")
        module = importlib.import_module(module_name if is_full else f"tests.middleware.{module_name}")
        assert callable(getattr(module, test_name))
        assert f'"{name}"' in Path(module.__file__ or "").read_text(), f"{module_name} does not mention {name}"


def test_what_is_proven_at_one_end_only_is_an_exception_with_a_reason():
    for name, proof in PROOFS.items():
        assert (proof.server and proof.client) or len(proof.exception) > 20, name
    assert sum(bool(proof.server) for proof in PROOFS.values()) == 36
    assert sum(bool(proof.client) for proof in PROOFS.values()) == 33
