"""An operator's session with a simulated robot, on the bindings that the process has.

``python -m tests.bindings.operator_session FOLDER`` starts an application, looks about with the tools, prepares the
robot, walks to a goal and stops; what came of it is in ``FOLDER/session.json``.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from gradiva.cli.commands import carry_out
from gradiva.simulated_walk.private_network import joined, private_network
from gradiva.simulated_walk.running_application import (
    COORDINATOR,
    LOGGER,
    SIMULATOR,
    TIMEOUT,
    RunningApplication,
    pairs,
)

APPLICATION = "icub_v2_7-simulation"
GOAL = 0.1  # [m] ahead
_SHORT = "--set walking.prepare_duration=0.5 --set planner.pendulum.first_double_support=0.4"
_OPTIONS = (
    *("--add", "gradiva-simulator=--paused --speed 0 --timeout 4"),  # time passes when the operator says so
    *("--add", f"gradiva-walking={_SHORT}"),  # the robot stands in its start posture
)
_STEP = 0.5  # [s] of simulated time between two looks at the state
_PAUSE = 0.5  # [s] before a look at modules that start: each look opens ports, and takes from them a processor's time
_BASE, _READER = "/icubSim/floating_base/state:o", "/walking-coordinator/robotBase:i"
TOOLS: tuple[tuple[str, ...], ...] = (
    ("yarp", "where"),
    ("yarp", "name", "list"),
    ("yarp", "exists", COORDINATOR),
    ("yarp", "exists", "/nobody"),
    ("yarp", "ping", "--count", "1", COORDINATOR),
    ("yarp", "connect", _BASE, _READER, "fast_tcp"),
    ("yarp", "disconnect", _BASE, _READER),
    ("yarp", "disconnect", _BASE, _READER),
    ("yarp", "read", "--count", "2", "--carrier", "fast_tcp", "...", "/icubSim/torso/state:o"),
    ("yarp", "read", "--count", "1", "--rate", "...", "/icubSim/torso/state:o"),
    ("yarp", "write", "...", _READER, "0.1 0.2 0.3 0 0 0"),
    ("rpc", COORDINATOR, "getReason"),
    ("rpc", COORDINATOR, "startWalking"),
    ("rpc", "--timeout", "0.3", "/nobody", "help"),
    ("yarp", "clean"),
    ("doctor", "--robot", "icub_v2_7", "--set", "bring_up.rate_duration=0.5"),
)


def printed_by(application, module):
    """Return what a module has printed so far."""
    paths = sorted(application.folder.glob(f"runs/*/{module}.log"))
    return "".join(path.read_text(encoding="utf-8", errors="replace") for path in paths)


def run(folder: Path) -> dict[str, Any]:
    """Return what came of it."""
    begin = time.monotonic()
    with private_network() as network, joined(network), ExitStack() as ends:
        terminated = status_of_terminated(("logger", "--name", "/terminated", "--remote", "/nobody"), network, folder)
        application = ends.enter_context(RunningApplication(APPLICATION, network, folder, *_OPTIONS))
        application.wait_until(lambda: seldom() and state_of(application) == "configured", "the robot is there")
        application.wait_until(lambda: seldom() and is_logged(application), "the logger listens")
        reached = time.monotonic()
        tools = [use(words) for words in TOOLS]
        looked = time.monotonic()
        walk(application)
        status = application.ask(COORDINATOR, "getStatus")
        truth = pairs(application.ask(SIMULATOR, "getStatus"))
        result = application.stop()
        logs = {module["name"]: printed_by(application, module["name"]) for module in result["modules"]}
    return {
        "tools": tools,
        "terminated": terminated,
        "state": str(status[0]),
        "status": {name: pairs(status[1:])[name] for name in ("pose", "qp_failures", "safety_events")},
        "fall": truth["fall"],
        "exit_statuses": {module["name"]: module["exit_status"] for module in result["modules"]},
        "outcome": result["outcome"],
        "run_folders": sorted(path.parent.name for path in folder.glob("runs/*/log.mat")),
        "lost_ticks": sum(text.count("no command for") for text in logs.values()),
        "reconnections": sum(len(re.findall(r"connected \S+ to \S+ again", text)) for text in logs.values()),
        "logs": logs,
        "took_s": {"reach": reached - begin, "look": looked - reached, "walk": time.monotonic() - looked},
    }


def use(words: tuple[str, ...]) -> dict[str, Any]:
    """Return exit status and output of a command of ``gradiva``."""
    output = io.StringIO()
    with redirect_stdout(output), redirect_stderr(output):
        status = carry_out(words)
    return {"words": words, "status": status, "output": output.getvalue()}


def status_of_terminated(words: tuple[str, ...], network: Mapping[str, str], folder: Path) -> int:
    """Return the exit status of a module that gets SIGTERM as soon as it is ready."""
    module = subprocess.Popen(
        [sys.executable, "-m", "gradiva.cli", "module", *words],
        cwd=folder,
        env=network,
        stderr=subprocess.PIPE,
        text=True,
    )
    with module:
        assert module.stderr is not None
        next((line for line in module.stderr if "ready at" in line), "")
        module.terminate()
        return module.wait(TIMEOUT)


def walk(application: RunningApplication) -> None:
    """Prepare, walk to the goal, stop."""
    application.ask(COORDINATOR, "prepareRobot")
    pass_time_until(application, "prepared")
    application.ask(COORDINATOR, "startWalking")
    application.ask(COORDINATOR, f"setGoal {GOAL} 0.0")
    pass_time_until(application, "paused")
    application.ask(COORDINATOR, "stopWalking")
    pass_time_until(application, "stopped")


def pass_time_until(application: RunningApplication, state: str) -> None:
    """Let time pass, step by step, until the coordinator is in a state."""

    def is_reached() -> bool:
        application.ask(SIMULATOR, f"advance {_STEP}")
        return state_of(application) == state

    application.wait_until(is_reached, state)


def seldom() -> bool:
    """Wait before a look; return that it is time for it."""
    time.sleep(_PAUSE)
    return True


def state_of(application: RunningApplication) -> str:
    """Return the state of the coordinator."""
    return str(application.ask(COORDINATOR, "getStatus")[0])


def is_logged(application: RunningApplication) -> bool:
    """Return whether the logger hears the walk."""
    return bool(pairs(application.ask(LOGGER, "getStatus")[1:])["connected"])


if __name__ == "__main__":
    place = Path(sys.argv[1])
    (place / "session.json").write_text(json.dumps(run(place), indent=1), encoding="utf-8")
