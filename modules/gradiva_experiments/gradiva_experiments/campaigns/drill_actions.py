"""What a drill does to an application while its robot walks: it stalls, kills, floods and lets sensors fail."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Callable

from gradiva.middleware import ask, carrier_between, registered_names, yarp
from gradiva.simulated_walk import COORDINATOR, FREE_RUNNING_SPEED, LOGGER, SIMULATOR, ApplicationFailed, pairs
from gradiva.simulation import Push
from gradiva_experiments.campaigns.drilled_walk import COMMAND, LOOK, SETTLED, DrilledWalk

STALL = 0.3  # [s] of simulated time
FAULTY = 2.0  # [s] of simulated time that a sensor fails: beyond the end of the step
_BLIND = 1.0  # [s] of simulated time without a module
GARBAGE = 100  # requests, and as many connections with noise
_NOISE = bytes(range(256)) * 4
_PLANNER_CONNECTIONS = (
    ("/walking-coordinator/whole-body/plan-request:o", "/planner/request:i"),
    ("/planner/plan:o", "/walking-coordinator/whole-body/plan:i"),
)
_GOAL = "/walking-coordinator/goal:i"
NEEDED_NAMES = {LOGGER, _GOAL, *(name for ends in _PLANNER_CONNECTIONS for name in ends)}  # by the drills that follow
_ANSWER = 5.0  # [s] of the machine for a port that is there to answer
_STREAM_PERIOD = 0.1  # [s] of simulated time
_STREAMED = 5  # goals
_NAMELESS = 0.5  # [s] without a name server
_PUSH = 0.05  # [m] by which it moves the DCM
_PUSH_DURATION = 0.1  # [s]


def stop_planner(walk: DrilledWalk) -> None:
    """Stop the planner, push the robot, and pause the walk that the planner cannot end."""
    setup = walk.setup
    impulse = _PUSH * setup.robot.mass * setup.walking.planner.natural_frequency  # ahead: it adapts the step
    push = Push(setup.robot.torso_frame, (impulse / _PUSH_DURATION, 0.0, 0.0), 0.0, _PUSH_DURATION)
    walk.send("gradiva-planner", signal.SIGSTOP)
    try:
        walk.walker.push(push)
        walk.walker.pass_time(_BLIND)
        walk.close_feet()
    finally:
        walk.send("gradiva-planner", signal.SIGCONT)
        walk.application.ask(COORDINATOR, "setStepAdaptation off")


def silence(walk: DrilledWalk) -> None:
    """Let neither sensors nor commands through for a while."""
    walk.application.ask(SIMULATOR, f"fault silence {STALL:g}")
    walk.walker.pass_time(_BLIND)


def failing(*requests: str, walks_on: bool = False) -> Callable[[DrilledWalk], None]:
    """Return the action that injects faults into the simulator, by ``requests``, and waits for what the robot does."""

    def act(walk: DrilledWalk) -> None:
        for request in requests:
            walk.application.ask(SIMULATOR, f"fault {request}")
        if not walks_on:
            walk.wait_for("stopped", "fault")
        walk.walker.pass_time(FAULTY + _BLIND if walks_on else SETTLED)

    return act


def stalling(layer: str) -> Callable[[DrilledWalk], None]:
    """Return the action that stops the process of a layer for a while."""

    def act(walk: DrilledWalk) -> None:
        module = f"gradiva-{layer.replace('_', '-')}"
        walk.send(module, signal.SIGSTOP)
        time.sleep(STALL / FREE_RUNNING_SPEED)
        walk.send(module, signal.SIGCONT)
        walk.walker.pass_time(_BLIND)
        walk.end_walk()

    return act


def kill_planner(walk: DrilledWalk) -> None:
    """Kill the planner; the one that is started again closes the feet."""
    _replace_planner(walk, walk.close_feet)


def kill_planner_and_walk_on(walk: DrilledWalk) -> None:
    """Kill the planner; the one that is started again follows a new command."""

    def command_anew() -> None:
        walk.walker.walk(COMMAND)
        walk.walker.pass_time(LOOK)

    _replace_planner(walk, command_anew)


def _replace_planner(walk: DrilledWalk, ask: Callable[[], None]) -> None:
    answered = _answered(walk, "planner")
    walk.send("gradiva-planner", signal.SIGKILL)
    walk.walker.pass_time(_BLIND)
    walk.application.wait_until(
        lambda: all(carrier_between(*ends) for ends in _PLANNER_CONNECTIONS), "the planner is connected again"
    )
    ask()
    if _answered(walk, "planner") <= answered:
        raise ApplicationFailed("the planner that was started again has not answered")


def kill_model_control(walk: DrilledWalk) -> None:
    """Kill model control, and wait until the one that is started again answers."""
    walk.send("gradiva-model-control", signal.SIGKILL)
    walk.walker.pass_time(_BLIND)
    walk.end_walk()
    answered = _answered(walk, "model_control")
    await_port(walk, "/model-control/rpc")
    deadline = time.monotonic() + 60.0
    while _answered(walk, "model_control") <= answered:
        if time.monotonic() > deadline:
            raise ApplicationFailed("model control that was started again has not answered")
        walk.walker.pass_time(_STREAM_PERIOD)


def kill_whole_body(walk: DrilledWalk) -> None:
    """Kill the module of the robot, and wait until the one that is started again is configured."""
    walk.send("gradiva-whole-body", signal.SIGKILL)
    walk.walker.pass_time(_BLIND)
    walk.application.wait_until(lambda: walk.state == "configured", "whole_body is there again")


def kill_logger(walk: DrilledWalk) -> None:
    """Kill the logger, and wait until the one that is started again records."""
    walk.send("gradiva-logger", signal.SIGKILL)
    walk.walker.pass_time(_BLIND)
    await_port(walk, LOGGER)
    walk.application.wait_until(walk.walker.is_logged, "the logger listens again")
    walk.walker.pass_time(_STREAM_PERIOD)
    if not pairs(walk.application.ask(LOGGER, "getStatus")[1:])["rows"]:
        raise ApplicationFailed("the logger that was started again records nothing")


def kill_name_server(walk: DrilledWalk) -> None:
    """Kill the name server, start it again, and wait for the names that later drills need."""
    walk.application.ask(SIMULATOR, "resume")
    walk.names.kill()
    time.sleep(_NAMELESS)
    walk.names.start()
    await_port(walk, SIMULATOR)
    walk.application.ask(SIMULATOR, "pause")
    await_port(walk, COORDINATOR)
    needed = ", ".join(sorted(NEEDED_NAMES))
    walk.application.wait_until(lambda: registered_names() >= NEEDED_NAMES, f"{needed} are known again")


def fall_silent(walk: DrilledWalk) -> None:
    """Stream goals, then stop without a word."""
    port = yarp.BufferedPortBottle()
    if not (port.open("/drill/goal:o") and yarp.Network.connect("/drill/goal:o", _GOAL)):
        raise ApplicationFailed("goal:i cannot be connected")
    try:
        for _ in range(_STREAMED):
            port.prepare().fromString("0.4 0.0 0.0")
            port.write(True)
            walk.walker.pass_time(_STREAM_PERIOD)
        walk.wait_for("paused")
    finally:
        port.close()


def flood_rpc(walk: DrilledWalk) -> None:
    """Send garbage and noise to the coordinator while the robot walks."""
    flood = threading.Thread(target=_send_garbage, name="flood")
    flood.start()
    walk.walker.pass_time(_BLIND)
    flood.join()


def _send_garbage() -> None:
    contact = yarp.Network.queryName(COORDINATOR)
    for number in range(GARBAGE):
        ask(COORDINATOR, yarp.Bottle(f'setGoal (velocity nonsense {number}) [oops] "x"'), STALL)
        with socket.create_connection((contact.getHost(), contact.getPort()), STALL) as noise:
            noise.sendall(_NOISE)


# -- looking ---------------------------------------------------------------------------------------------------


def _answered(walk: DrilledWalk, layer: str) -> int:
    return int(pairs(walk.walker.status()[layer])["answered"])


def await_port(walk: DrilledWalk, port: str) -> None:
    """Wait until a port answers again."""
    health = yarp.Bottle("getHealth")
    walk.application.wait_until(lambda: ask(port, health, _ANSWER) is not None, f"{port} answers again")
