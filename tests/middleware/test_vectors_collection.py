"""Named vectors as loggers of this field exchange them: messages, server, client."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gradiva.middleware import yarp
from gradiva.middleware.vectors_collection import (
    VectorsCollectionClient,
    VectorsCollectionServer,
    names_from_items,
    names_to_items,
    values_from_items,
    values_from_text,
    values_to_items,
)
from pureyarp.errors import MalformedMessage, NetworkError, PeerUnreachable
from pureyarp.network.peers import request
from pureyarp.wire.binary import encode_list
from pureyarp.wire.text import to_text
from tests.waiting import TIMEOUT

pytestmark = pytest.mark.usefixtures("names")

NAME = "/walking-coordinator/logger"


@pytest.fixture
def server() -> Iterator[VectorsCollectionServer]:
    with VectorsCollectionServer(NAME) as server:
        server.populate_metadata("dcm::position::measured", ["x", "y"])
        server.populate_metadata("com", ["x", "y", "z"])
        yield server


@pytest.fixture
def client(server) -> Iterator[VectorsCollectionClient]:
    client = VectorsCollectionClient(NAME, "/logger")
    client.open()
    yield client
    client.close()


def hexadecimal(text: str) -> bytes:
    return bytes.fromhex(text.replace(" ", ""))


def test_values_have_the_bytes_of_generated_code():
    expected = hexadecimal(
        "00010000 02000000"  # a struct of two fields
        "00010000 02000000"  # a map of two entries, sorted
        "00010000 02000000 04000000 01000000 61 0a010000 01000000 000000000000f03f"
        "00010000 02000000 04000000 01000000 62 0a010000 00000000"
        "01000000 07000000"
    )
    assert encode_list(values_to_items({"b": [], "a": [1.0]}, 7)) == expected
    assert values_from_items([[["a", [1.0]], ["b", []]], 7]) == ({"a": [1.0], "b": []}, 7)


def test_names_have_the_bytes_of_generated_code():
    expected = hexadecimal(
        "00010000 02000000 00010000 01000000"
        "00010000 02000000 04000000 01000000 61 04010000 01000000 01000000 78"
        "01000000 00000000"
    )
    assert encode_list(names_to_items({"a": ["x"]}, 0)) == expected
    assert names_from_items([[["a", ["x"]]], 0]) == ({"a": ["x"]}, 0)


@pytest.mark.parametrize(
    "vectors", [{}, {"a": []}, {"a": [1.0, -2.5e-300], "b::c": [0.1 + 0.2], "d e": [float("inf"), 3.0]}]
)
def test_the_text_of_values_says_what_their_elements_say(vectors):
    items = values_to_items(vectors, 7)
    assert values_from_text(to_text(items)) == values_from_items(items)


@pytest.mark.parametrize(
    "text", ["", "() x", '((a ("1.0"))) 7', "((a (x))) 7", "((a (1.0)) b) 7", '(("a\\"" (1.0))) 7']
)
def test_text_of_other_elements_is_left_to_those(text):
    assert values_from_text(text) is None


@pytest.mark.parametrize("items", [[], [[], "x"], [[["a"]], 0], [[["a", ["x"]]], 0], [[[1, [1.0]]], 0]])
def test_what_are_no_values_is_refused(items):
    with pytest.raises(MalformedMessage):
        values_from_items(items)


def test_a_client_reads_every_message_with_its_time(server, client):
    for count in range(20):
        server.send({"com": [float(count), 0.0, 1.0]}, yarp.Stamp(count, 100.0 + count), strict=True)
    read = [client.read(TIMEOUT) for _ in range(20)]
    assert [one.vectors["com"][0] for one in read] == [float(count) for count in range(20)]
    assert [one.time for one in read] == [100.0 + count for count in range(20)]
    assert client.read() is None


def test_a_client_knows_what_elements_are_called(server, client):
    assert client.are_metadata_ready() is False
    assert client.element_names() == {"com": ["x", "y", "z"], "dcm::position::measured": ["x", "y"]}
    server.send({"com": [1.0, 2.0, 3.0]})
    assert client.are_metadata_ready() is True


def test_vectors_that_are_added_later_begin_a_new_version(server, client, names):
    client.element_names()
    server.send({"com": [1.0, 2.0, 3.0]}, strict=True)
    server.populate_metadata("zmp", ["x", "y"])
    server.send({"zmp": [1.0, 2.0]}, strict=True)
    assert [client.read(TIMEOUT).version for _ in range(2)] == [0, 1]
    port = names.query(f"{NAME}/rpc:i")
    assert to_text(request(port, ["getMetadataIncremental", 0], timeout=10.0)) == "((zmp (x y))) 1"
    assert "zmp" in client.element_names()
    assert "com" in client.element_names()


def test_a_vector_without_names_or_of_another_length_is_refused(server):
    with pytest.raises(NetworkError, match=r"vector zmp has no names \(known: dcm::position::measured, com\)"):
        server.send({"zmp": [1.0]})
    with pytest.raises(NetworkError, match="vector com has 2 elements, but 3 names"):
        server.send({"com": [1.0, 2.0]})


def test_a_client_without_a_server_says_so(names):
    with pytest.raises(PeerUnreachable, match="problem connecting to /nobody"):
        VectorsCollectionClient("/nobody", "/logger").open()
    assert names.list_names("/logger") == []


def test_unknown_questions_are_refused(server, names):
    assert to_text(request(names.query(f"{NAME}/rpc:i"), ["makeCoffee"], timeout=10.0)) == "[fail]"


def test_a_source_that_hangs_does_not_block_its_client(server, monkeypatch):
    monkeypatch.setattr("gradiva.middleware.vectors_collection._REPLY_TIMEOUT", 0.1)
    client = VectorsCollectionClient(NAME, "/logger")
    client.open()
    with server._naming, pytest.raises(PeerUnreachable, match="does not answer"):
        client.element_names()
    client.close()
