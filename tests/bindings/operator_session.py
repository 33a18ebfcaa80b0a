"""An operator's session with a simulated robot, on whatever bindings the process has: ``python operator_session.py FOLDER``.

It starts an application, looks about with the tools, prepares the robot, walks and stops, and writes what came of it to
``FOLDER/session.json``.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from gradiva.cli.commands import app
from gradiva.experiments.private_network import joined, private_network
from gradiva.experiments.running_application import RunningApplication
from gradiva.experiments.walkers import COORDINATOR, WalkerOverPorts, pairs
from gradiva.middleware import yarp
from gradiva.planner import VelocityCommand

APPLICATION = "icub_v2_7-simulation"
_OPTIONS = (
    ("--add", "gradiva-simulator=--paused --speed 0 --patience 4"),
    ("--add", "gradiva-walking=--set coordinator.reply_patience=10"),
)
_PREPARED, _WALKED, _CLOSED = 4.0, 2.0, 3.0  # [s] of simulated time
_TOOLS: tuple[tuple[str, ...], ...] = (
    ("yarp", "where"),
    ("yarp", "name", "list"),
    ("yarp", "exists", COORDINATOR),
    ("yarp", "exists", "/nobody"),
    ("yarp", "ping", "--count", "1", COORDINATOR),
    ("yarp", "connect", "/icubSim/floating_base/state:o", "/walking-coordinator/goal:i", "fast_tcp"),
    ("yarp", "disconnect", "/icubSim/floating_base/state:o", "/walking-coordinator/goal:i"),
    ("yarp", "disconnect", "/icubSim/floating_base/state:o", "/walking-coordinator/goal:i"),
    ("yarp", "read", "--count", "2", "--carrier", "fast_tcp", "...", "/icubSim/torso/state:o"),
    ("yarp", "write", "...", "/walking-coordinator/robotBase:i", "0.1 0.2 0.3 0 0 0"),
    ("rpc", COORDINATOR, "getReason"),
    ("rpc", "--timeout", "0.3", "/nobody", "help"),
    ("yarp", "clean"),
)


def run(folder: Path) -> dict[str, Any]:
    """Return what came of it."""
    begin = time.monotonic()
    with private_network() as network, joined(network):
        options = [word for pair in _OPTIONS for word in pair]
        with RunningApplication(APPLICATION, network, folder, *options) as application:
            walker = WalkerOverPorts(application, is_lockstep=True)
            reached = time.monotonic()
            tools = {" ".join(words): use(words) for words in _TOOLS}
            looked = time.monotonic()
            walk(walker)
            status = {**walker.status(), "state": walker.state}
            health = pairs(application.ask(COORDINATOR, "getHealth"))
            result = application.stop()
            logs = {module["name"]: application.log_of(module["name"]) for module in result["modules"]}
    took = {"reach_s": reached - begin, "look_s": looked - reached, "walk_s": time.monotonic() - looked}
    return {
        "bindings": getattr(yarp.Bottle, "__module__", ""),
        "tools": tools,
        "status": {name: status[name] for name in ("state", "reason", "safety_events")},
        "deadline_misses": health["deadline_misses"],
        "exit_statuses": {module["name"]: module["exit_status"] for module in result["modules"]},
        "outcome": result["outcome"],
        "run_folders": sorted(str(path.parent.name) for path in folder.glob("runs/*/log.mat")),
        "reconnections": sum(text.count(" again") for text in logs.values()),
        "logs": logs,
        "took": took,
    }


def use(words: tuple[str, ...]) -> dict[str, Any]:
    """Return exit status and output of a command of ``gradiva``."""
    result = CliRunner().invoke(app, list(words))
    error = "" if result.exception is None else repr(result.exception)
    return {"status": result.exit_code, "output": result.output, "error": error}


def walk(walker: WalkerOverPorts) -> None:
    """Prepare, walk a little, stop."""
    walker.prepare()
    walker.wait_until(_PREPARED)
    walker.start()
    walker.walk(VelocityCommand(0.15))
    walker.wait_until(_PREPARED + _WALKED)
    walker.pause()
    walker.wait_until(_PREPARED + _WALKED + _CLOSED)
    walker.stop()


if __name__ == "__main__":
    place = Path(sys.argv[1])
    (place / "session.json").write_text(json.dumps(run(place), indent=1), encoding="utf-8")
