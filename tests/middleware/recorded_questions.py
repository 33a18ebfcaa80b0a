"""Questions of programs to a real name server, and its answers."""

from __future__ import annotations

from itertools import groupby

from tests.middleware.recorded_messages import recording


def recorded_questions(name: str) -> list[tuple[bytes, bytes]]:
    """Return question and answer of each connection to the name server, in their order."""
    entry = recording("yarp_3_12", name)
    asked = {connection["conn"] for connection in entry["connections"] if connection["kind"] == "nameserver"}
    frames = [frame for frame in entry["frames"] if frame["conn"] in asked]
    exchanges = []
    for _, group in groupby(frames, key=lambda frame: frame["conn"]):
        question, answer = (bytes.fromhex(frame["hex"]) for frame in group)
        exchanges.append((question, answer))
    return exchanges
