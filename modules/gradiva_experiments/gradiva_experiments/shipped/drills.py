"""The faults that are drilled: what is done to an application that walks, and the state in which it has to end."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gradiva.common import Side
from gradiva.middleware import ask, carrier_between, registered_names, yarp
from gradiva.setup import Setup
from gradiva.simulated_walk import (
    COORDINATOR,
    FREE_RUNNING_SPEED,
    LOGGER,
    SIMULATOR,
    ApplicationFailed,
    pairs,
    plan_from_start,
)
from gradiva.simulation import Bump, Push
from gradiva_experiments.shipped.drilled_walk import COMMAND, SETTLED, STREAM_PERIOD, DrilledWalk, swing_time

STALL = 0.3  # [s] of simulated time
_SILENCE = f"neither sensors nor commands for {STALL:g} s"
_FAULTY = 2.0  # [s] of simulated time that a sensor fails: beyond the end of the step
_BLIND = 1.0  # [s] of simulated time without a module
_GARBAGE = 100  # requests, and as many connections with noise
_NOISE = bytes(range(256)) * 4
_PLANNER_CONNECTIONS = (
    ("/walking-coordinator/whole-body/plan-request:o", "/planner/request:i"),
    ("/planner/plan:o", "/walking-coordinator/whole-body/plan:i"),
)
_GOAL = "/walking-coordinator/goal:i"
_NEEDED_NAMES = {LOGGER, _GOAL, *(name for ends in _PLANNER_CONNECTIONS for name in ends)}  # by the drills that follow
_STREAMED = 5  # goals
_NAMELESS = 0.5  # [s] without a name server
_PUSH = 0.05  # [m] by which it moves the DCM
_PUSH_DURATION = 0.1  # [s]
_WEAK_MOTOR = "weak motor"
_WEAK = 0.4  # [-] of its torque that a weak motor has
_BUMP = 0.01  # [m]


@dataclass(frozen=True, slots=True)
class Drill:
    """One fault and the state and event that it has to end in.

    Attributes:
        fault: What it is.
        done: What the drill does.
        act: Does it, with a foot in the air, and waits until the robot does what it should.
        state: In which the walk has to be afterwards.
        reason: Text that the reason of the state has to contain.
        event: Kind of the safety event that has to be reported; empty for none.
        walks_on: Whether the robot is still walking after ``act``; its feet are closed then.
        may_stop: Kind of the event that ends the walk instead, where that is a matter of chance: how long a stall or a
            restart takes depends on the machine. Empty where it is none.
        may_jump: Whether a `clock_jump` may be reported: how far the clock goes in one tick depends on the machine.
    """

    fault: str
    done: str
    act: Callable[[DrilledWalk], None]
    state: str
    reason: str
    event: str = ""
    may_stop: str = ""
    may_jump: bool = False
    walks_on: bool = False

    def complaint(self, state: str, reason: str, event: str) -> str:
        """Return what is not as it should be; empty if all is."""
        if self.may_stop and (state, event) == ("stopped", self.may_stop):
            return ""
        events = (self.event, _JUMP) if self.may_jump else (self.event,)
        if state != self.state or event not in events:
            return f"state {state}, event '{event}' instead of {self.state}, '{self.event}'"
        return "" if self.reason in reason else f"the reason does not contain '{self.reason}'"


def lockstep_drills(setup: Setup) -> list[Drill]:
    """Return those in which time may stand still between two steps of the drill."""
    dead, weak = _disturbance_drills(setup)
    sensors = [*_sensor_drills(setup), dead]
    return [*sensors, _stall_of_everything(_JUMP), *_silent_sources(), *_killed_modules(), _flood(), weak]


def quick_drills(setup: Setup) -> list[Drill]:
    """Return faults of each way to fail, in fewer walks: those that a robot walks through come one after the other.

    A weak motor is left to the long form: it may fell the robot, and with it the drills of the same walk. Of the
    sensors that end a walk one stands for all: a tick without ports has the others.
    """
    _, frozen, *_ = _sensor_drills(setup)
    references, planner_hangs = _silent_sources()
    planner, model_control, whole_body, logger, names = _killed_modules()
    stall = Drill("network stalls", _SILENCE, _silence, "walking", "", _JUMP, walks_on=True)
    together = _one_after_the_other(
        [stall, replace(planner, act=_kill_planner_and_walk_on), logger, names, _flood(), references]
    )
    return [together, planner_hangs, model_control, frozen, whole_body]


def _one_after_the_other(drills: Sequence[Drill]) -> Drill:
    """Return all of them in one walk, which ends as the last one; the event is the first's."""

    def act(walk: DrilledWalk) -> None:
        for drill in drills:
            drill.act(walk)

    fault, done = (", ".join(getattr(drill, name) for drill in drills) for name in ("fault", "done"))
    return replace(drills[-1], fault=fault, done=done, act=act, event=drills[0].event)


def free_running_drills() -> list[Drill]:
    """Return those in which modules go by the clock alone."""
    stalls = [
        Drill(
            f"{layer} stalls", f"SIGSTOP for {STALL:g} s", _stalling(layer), "paused", _PAUSED, "", may_stop, may_jump
        )
        for layer, may_stop, may_jump in (
            ("model_control", "", False),
            ("whole_body", _STALE, True),
            ("simulator", _STALE, True),
        )
    ]
    return [*stalls, _stall_of_everything("", may_stop=_STALE, may_jump=True)]


_STALE = "stale_measurement"
_SILENT = "stale_reference"  # of model control
_FORCE = "foot_force"
_JUMP = "clock_jump"  # of a tick that comes late: control time, and the plan, go on by one period
_PAUSED = "paused as commanded, both feet on the ground"


def _sensor_drills(setup: Setup) -> list[Drill]:
    standing = plan_from_start(setup, COMMAND).at(swing_time(setup)).stance_foot
    foot = setup.robot.force_torque_sensors[setup.robot.sensors_of(standing)[0]].name
    knee = most_bent_joint(setup)
    return [
        Drill(fault, f"fault {request}", _failing(request), "stopped", reason, event)
        for fault, request, reason, event in (
            ("NaN from a force-torque sensor", f"nan_wrench {_FAULTY:g} {foot}", foot, "sensor_not_finite"),
            ("frozen force-torque sensor", f"frozen_wrench {_FAULTY:g} {foot}", foot, "sensor_frozen"),
            ("encoder jump", f"encoder_offset {_FAULTY:g} {knee} 0.3", knee, "encoder_jump"),
            ("NaN from the IMU", f"nan_imu {_FAULTY:g}", "no usable reading", "sensor_not_finite"),
        )
    ]


def most_bent_joint(setup: Setup) -> str:
    """Return the joint of the left leg that is bent most in the start posture: its knee."""
    leg = setup.robot.joint_groups[f"{Side.LEFT}_leg"]
    posture = dict(zip(setup.robot.joints, setup.robot.posture.tolist(), strict=True))
    return max(leg.joints, key=lambda joint: abs(posture[joint]))


def _disturbance_drills(setup: Setup) -> list[Drill]:
    """Return those of which no sensor check reports: a foot whose sensors die, a motor that grows weak."""
    standing = plan_from_start(setup, COMMAND).at(swing_time(setup)).stance_foot
    feet = [setup.robot.force_torque_sensors[row].name for row in setup.robot.sensors_of(standing)]
    dead = [f"dead_wrench {_FAULTY:g} {foot}" for foot in feet]
    weak = f"weak_motor {_FAULTY:g} {most_bent_joint(setup)} {_WEAK:g}"
    return [
        Drill("dead foot sensor", f"fault {', '.join(dead)}", _failing(*dead), "stopped", f"{standing} foot", _FORCE),
        Drill(_WEAK_MOTOR, f"fault {weak}", _failing(weak, walks_on=True), "paused", _PAUSED, walks_on=True),
    ]


def bump_drill() -> Drill:
    """Return the drill of a bump that is on the floor already."""
    done = f"{1e3 * _BUMP:.0f} mm below the first steps"
    return Drill("bump", done, _failing(walks_on=True), "paused", _PAUSED, walks_on=True)


def bump_below(setup: Setup) -> Bump:
    """Return a bump below the left sole after its first step."""
    plan = plan_from_start(setup, COMMAND)
    foot = plan.at(plan.start_time + 2.0 * swing_time(setup)).foot(Side.LEFT).position
    return Bump(float(foot[0]), float(foot[1]), _BUMP)


def _stall_of_everything(event: str, may_stop: str = "", may_jump: bool = False) -> Drill:
    def act(walk: DrilledWalk) -> None:
        _silence(walk)
        walk.end_walk()

    return Drill("network stalls", _SILENCE, act, "paused", _PAUSED, event, may_stop, may_jump)


def _silent_sources() -> list[Drill]:
    def stop_planner(walk: DrilledWalk) -> None:
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

    return [
        Drill("references stop", "goal:i falls silent", _falling_silent, "paused", "goal:i"),
        Drill("planner hangs", "SIGSTOP, a push, then pauseWalking", stop_planner, "paused", _PAUSED),
    ]


def _killed_modules() -> list[Drill]:
    killed = "kill -9, started again"
    return [
        Drill("planner is killed", killed, _kill_planner, "paused", _PAUSED),
        Drill("model_control is killed", killed, _kill_model_control, "paused", _PAUSED, may_stop=_SILENT),
        Drill("whole_body is killed", killed, _kill_whole_body, "configured", "configured"),
        Drill("logger is killed", killed, _kill_logger, "paused", _PAUSED, walks_on=True),
        Drill("name server is killed", killed, _kill_name_server, "paused", _PAUSED, walks_on=True),
    ]


def _flood() -> Drill:
    return Drill("RPC flood", f"{_GARBAGE} times garbage and noise", _flood_rpc, "paused", _PAUSED, walks_on=True)


# -- what is done ----------------------------------------------------------------------------------------------


def _silence(walk: DrilledWalk) -> None:
    walk.application.ask(SIMULATOR, f"fault silence {STALL:g}")
    walk.walker.pass_time(_BLIND)


def _failing(*requests: str, walks_on: bool = False) -> Callable[[DrilledWalk], None]:
    def act(walk: DrilledWalk) -> None:
        for request in requests:
            walk.application.ask(SIMULATOR, f"fault {request}")
        if not walks_on:
            walk.wait_for("stopped", "fault")
        walk.walker.pass_time(_FAULTY + _BLIND if walks_on else SETTLED)

    return act


def _stalling(layer: str) -> Callable[[DrilledWalk], None]:
    def act(walk: DrilledWalk) -> None:
        module = f"gradiva-{layer.replace('_', '-')}"
        walk.send(module, signal.SIGSTOP)
        time.sleep(STALL / FREE_RUNNING_SPEED)
        walk.send(module, signal.SIGCONT)
        walk.walker.pass_time(_BLIND)
        walk.end_walk()

    return act


def _kill_planner(walk: DrilledWalk) -> None:
    _replace_planner(walk, walk.close_feet)


def _kill_planner_and_walk_on(walk: DrilledWalk) -> None:
    _replace_planner(walk, lambda: walk.walker.walk(COMMAND))


def _replace_planner(walk: DrilledWalk, ask: Callable[[], None]) -> None:
    answered = walk.answered("planner")
    walk.send("gradiva-planner", signal.SIGKILL)
    walk.walker.pass_time(_BLIND)
    walk.application.wait_until(
        lambda: all(carrier_between(*ends) for ends in _PLANNER_CONNECTIONS), "the planner is connected again"
    )
    ask()
    walk.await_answer("planner", answered)


def _kill_model_control(walk: DrilledWalk) -> None:
    walk.send("gradiva-model-control", signal.SIGKILL)
    walk.walker.pass_time(_BLIND)
    walk.end_walk()
    answered = walk.answered("model_control")
    walk.await_port("/model-control/rpc")
    walk.await_answer("model_control", answered)


def _kill_whole_body(walk: DrilledWalk) -> None:
    walk.send("gradiva-whole-body", signal.SIGKILL)
    walk.walker.pass_time(_BLIND)
    walk.application.wait_until(lambda: walk.state == "configured", "whole_body is there again")


def _kill_logger(walk: DrilledWalk) -> None:
    walk.send("gradiva-logger", signal.SIGKILL)
    walk.walker.pass_time(_BLIND)
    walk.await_port(LOGGER)
    walk.application.wait_until(walk.walker.is_logged, "the logger listens again")
    walk.walker.pass_time(STREAM_PERIOD)
    if not pairs(walk.application.ask(LOGGER, "getStatus")[1:])["rows"]:
        raise ApplicationFailed("the logger that was started again records nothing")


def _kill_name_server(walk: DrilledWalk) -> None:
    walk.application.ask(SIMULATOR, "resume")
    walk.names.kill()
    time.sleep(_NAMELESS)
    walk.names.start()
    walk.await_port(SIMULATOR)
    walk.application.ask(SIMULATOR, "pause")
    walk.await_port(COORDINATOR)
    needed = ", ".join(sorted(_NEEDED_NAMES))
    walk.application.wait_until(lambda: registered_names() >= _NEEDED_NAMES, f"{needed} are known again")


def _falling_silent(walk: DrilledWalk) -> None:
    port = yarp.BufferedPortBottle()
    if not (port.open("/drill/goal:o") and yarp.Network.connect("/drill/goal:o", _GOAL)):
        raise ApplicationFailed("goal:i cannot be connected")
    try:
        for _ in range(_STREAMED):
            port.prepare().fromString("0.4 0.0 0.0")
            port.write(True)
            walk.walker.pass_time(STREAM_PERIOD)
        walk.wait_for("paused")
    finally:
        port.close()


def _flood_rpc(walk: DrilledWalk) -> None:
    flood = threading.Thread(target=_send_garbage, name="flood")
    flood.start()
    walk.walker.pass_time(_BLIND)
    flood.join()


def _send_garbage() -> None:
    contact = yarp.Network.queryName(COORDINATOR)
    for number in range(_GARBAGE):
        ask(COORDINATOR, yarp.Bottle(f'setGoal (velocity nonsense {number}) [oops] "x"'), STALL)
        with socket.create_connection((contact.getHost(), contact.getPort()), STALL) as noise:
            noise.sendall(_NOISE)
