"""The other process of a recorded program: ``python -m tests.middleware.behaviour.other``.

Reads ``[source, prefix, folder]`` as a line of JSON, runs the source, says READY and lives until it is killed.
"""

from __future__ import annotations

import json
import sys

from gradiva.middleware import yarp
from tests.middleware.behaviour.programs import Scene

if __name__ == "__main__":
    source, prefix, folder = json.loads(sys.stdin.readline())
    yarp.Network.init()
    exec(source, Scene(prefix, folder).names())
    print("READY", flush=True)
    sys.stdin.read()
