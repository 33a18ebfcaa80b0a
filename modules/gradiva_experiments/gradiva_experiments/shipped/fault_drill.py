"""Fault drill: faults of an application while its robot walks, and the state in which each has to end."""

from __future__ import annotations

import math
import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from gradiva.common import Side
from gradiva.middleware import NAMED_ERRORS, ask, carrier_between, registered_names, yarp
from gradiva.planner import VelocityCommand
from gradiva.setup import Plant, Setup, load_setup
from gradiva.simulated_walk import (
    COORDINATOR,
    FREE_RUNNING,
    FREE_RUNNING_SPEED,
    LOCKSTEP,
    LOGGER,
    SIMULATOR,
    ApplicationFailed,
    NameServerProcess,
    RunningApplication,
    WalkerOverPorts,
    joined,
    pairs,
    plan_from_start,
)
from gradiva.simulation import Bump, Push
from gradiva_experiments.experiment import Experiment, ExperimentRun, Row

COMMAND = VelocityCommand(0.2)
_EARLIEST = 0.5  # [s] after the command: the first swing is found
_LOOK = 0.25  # [s] of simulated time between two looks at the state
_LONGEST = 20.0  # [s] of simulated time for what should happen
_SETTLED = 0.5  # [s]
_LOWEST, _STEEPEST = 0.8, 20.0  # [-] of the height at the start, [deg]: beyond either the robot does not stand


class DrilledWalk:
    """A walk that is brought to the middle of a step and back to its beginning, by RPC alone.

    Attributes:
        walker: Its modules.
        application: The same, as processes.
        names: The name server.
        setup: Of the robot.
    """

    def __init__(self, walker: WalkerOverPorts, names: NameServerProcess, setup: Setup) -> None:
        """Take an application that is there."""
        self.walker, self.application, self.names, self.setup = walker, walker.application, names, setup
        self._height = float(self.truth()["base_height"])
        self._swing = swing_time(setup)

    @property
    def state(self) -> str:
        """State of the coordinator's state machine."""
        return self.walker.state

    @property
    def reason(self) -> str:
        """Reason of that state, with remarks."""
        return str(self.application.ask(COORDINATOR, "getReason")[0])

    def truth(self) -> dict[str, Any]:
        """Return the status that the simulator reports, by name."""
        return pairs(self.application.ask(SIMULATOR, "getStatus"))

    def is_standing(self) -> bool:
        """Whether the robot is upright, by the simulator's truth."""
        truth = self.truth()
        return not truth["fall"] and truth["base_height"] > _LOWEST * self._height and truth["tilt"] < _STEEPEST

    def get_ready(self) -> None:
        """End the walk if there is one, prepare the robot and start.

        Raises:
            ApplicationFailed: That is refused, or does not succeed.
        """
        self.end_walk()
        if self.state == "paused":
            self.walker.stop()
        self.walker.prepare()
        self.wait_for("prepared")
        self.walker.pass_time(_SETTLED)
        self.walker.start()

    def end_walk(self) -> None:
        """Let a robot that walks close its feet; one that is doing so already is waited for."""
        self.walker.pass_time(_LOOK)  # the effect of the last command is reported after a tick
        if self.state == "walking":
            with suppress(ApplicationFailed):
                self.walker.pause()
            self.wait_for("paused", "stopped", "fault")

    def walk_to_swing(self) -> None:
        """Walk until a foot is in the air."""
        self.walker.walk(COMMAND)
        self.walker.pass_time(self._swing)

    def close_feet(self) -> None:
        """Pause the walk."""
        self.walker.pause()
        self.wait_for("paused")

    def wait_for(self, *states: str) -> None:
        """Let time pass until the coordinator is in one of ``states``.

        Raises:
            ApplicationFailed: It does not get there.
        """
        for _ in range(math.ceil(_LONGEST / _LOOK)):
            self.walker.pass_time(_LOOK)
            if self.state in states:
                return
        raise ApplicationFailed(f"{self.state}, not {' or '.join(states)}, after {_LONGEST:g} s: {self.reason}")

    def send(self, module: str, number: signal.Signals) -> None:
        """Send a signal to a module; one that it kills is started again by the application's runner."""
        os.kill(self.application.process_of(module), number)


def swing_time(setup: Setup) -> float:
    """Return when a foot is in the middle of its swing, [s] after the command."""
    plan = plan_from_start(setup, COMMAND)
    times = np.arange(_EARLIEST, _EARLIEST + 4.0, setup.walking.walking.period)
    swings = np.array([not plan.at(time).is_double_support for time in times])
    begin = int(np.argmax(np.diff(swings.astype(int)) == 1)) + 1
    return float(times[begin + int(np.argmin(swings[begin:])) // 2])


# -- the drills --------------------------------------------------------------------------------------------------------

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
_ANSWER = 5.0  # [s] of the machine for a port that is there to answer
_STREAM_PERIOD = 0.1  # [s] of simulated time
_RESTART = 60.0  # [s] by the wall, until a module that was started again answers
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
        walk.walker.pass_time(_FAULTY + _BLIND if walks_on else _SETTLED)

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
    answered = _answered(walk, "planner")
    walk.send("gradiva-planner", signal.SIGKILL)
    walk.walker.pass_time(_BLIND)
    walk.application.wait_until(
        lambda: all(carrier_between(*ends) for ends in _PLANNER_CONNECTIONS), "the planner is connected again"
    )
    ask()
    _await_answer(walk, "planner", answered)


def _kill_model_control(walk: DrilledWalk) -> None:
    walk.send("gradiva-model-control", signal.SIGKILL)
    walk.walker.pass_time(_BLIND)
    walk.end_walk()
    answered = _answered(walk, "model_control")
    _await_port(walk, "/model-control/rpc")
    _await_answer(walk, "model_control", answered)


def _kill_whole_body(walk: DrilledWalk) -> None:
    walk.send("gradiva-whole-body", signal.SIGKILL)
    walk.walker.pass_time(_BLIND)
    walk.application.wait_until(lambda: walk.state == "configured", "whole_body is there again")


def _kill_logger(walk: DrilledWalk) -> None:
    walk.send("gradiva-logger", signal.SIGKILL)
    walk.walker.pass_time(_BLIND)
    _await_port(walk, LOGGER)
    walk.application.wait_until(walk.walker.is_logged, "the logger listens again")
    walk.walker.pass_time(_STREAM_PERIOD)
    if not pairs(walk.application.ask(LOGGER, "getStatus")[1:])["rows"]:
        raise ApplicationFailed("the logger that was started again records nothing")


def _kill_name_server(walk: DrilledWalk) -> None:
    walk.application.ask(SIMULATOR, "resume")
    walk.names.kill()
    time.sleep(_NAMELESS)
    walk.names.start()
    _await_port(walk, SIMULATOR)
    walk.application.ask(SIMULATOR, "pause")
    _await_port(walk, COORDINATOR)
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
            walk.walker.pass_time(_STREAM_PERIOD)
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


# -- looking ---------------------------------------------------------------------------------------------------


def _answered(walk: DrilledWalk, layer: str) -> int:
    return int(pairs(walk.walker.status()[layer])["answered"])


def _await_answer(walk: DrilledWalk, layer: str, before: int) -> None:
    """Pass time until a layer that was started again has answered more often than before; it starts by the wall."""
    deadline = time.monotonic() + _RESTART
    while _answered(walk, layer) <= before:
        if time.monotonic() > deadline:
            raise ApplicationFailed(f"the {layer} that was started again has not answered within {_RESTART:g} s")
        walk.walker.pass_time(_STREAM_PERIOD)


def _await_port(walk: DrilledWalk, port: str) -> None:
    health = yarp.Bottle("getHealth")
    walk.application.wait_until(lambda: ask(port, health, _ANSWER) is not None, f"{port} answers again")


# -- the experiment ----------------------------------------------------------------------------------------------------

_SHORT_PREPARATION = "gradiva-whole-body=--set walking.prepare_duration=0.5"


def run_fault_drill(run: ExperimentRun) -> None:
    """Drill an application on each plant, in lockstep and, unless quick, free running.

    The value is the tilt at the end, [deg].
    """
    for plant in run.options.plants:
        setup = load_setup(run.options.robot, plant=plant)
        drills = quick_drills(setup) if run.options.quick else lockstep_drills(setup)
        _drill_all(run, setup, drills, is_lockstep=True)
        if not run.options.quick:
            _drill_all(run, setup, [bump_drill()], is_lockstep=True, bumps=(bump_below(setup),))
            _drill_all(run, setup, free_running_drills(), is_lockstep=False)


@contextmanager
def drilled_walk(setup: Setup, is_lockstep: bool, bumps: Sequence[Bump] = ()) -> Iterator[DrilledWalk]:
    """Start simulator, three layers and logger on a network of their own, bumps on the floor; end them all.

    Raises:
        WalkingError: They do not come.
    """
    wanted = (*(LOCKSTEP if is_lockstep else FREE_RUNNING), _SHORT_PREPARATION)
    plant = ("--plant", str(setup.plant))
    floor = (f"gradiva-simulator=--set {_BUMPS}={_as_toml(bumps)}",) if bumps else ()
    additions = [word for addition in (*wanted, *floor) for word in ("--add", addition)]
    name = f"{setup.robot.name}-simulation-three"
    with (
        tempfile.TemporaryDirectory(prefix="gradiva-drill-") as path,
        NameServerProcess(Path(path)) as names,
        joined(names.environment),
        RunningApplication(name, names.environment, Path(path), "--restart", *plant, *additions) as application,
    ):
        yield DrilledWalk(WalkerOverPorts(application, is_lockstep), names, setup)


def drilled(walk: DrilledWalk, drill: Drill, prepares: bool = True) -> Row:
    """Walk, let it go wrong, look at what came of it, and prepare and start the robot anew.

    Args:
        walk: Balances before and afterwards.
        drill: What goes wrong.
        prepares: Whether a robot that paused is stopped, prepared and started anew; else the next drill walks on.
    """
    before = walk.walker.status()["safety_events"]
    complaint = _error_of(lambda: _carry_out(walk, drill))
    complaint = complaint or _error_of(lambda: _await_port(walk, COORDINATOR))  # the fault may have ended it
    status, truth = walk.walker.status(), walk.truth()
    row: Row = {
        "fault": drill.fault,
        "done": drill.done,
        "state": walk.state,
        "event": status["last_event"] if status["safety_events"] > before else "",
        "state_reason": walk.reason,
        "stands": walk.is_standing(),
        "recovered": None,
        "paper": None,
        "value": truth["tilt"],
    }
    if row["stands"]:
        complaint = complaint or drill.complaint(row["state"], row["state_reason"], row["event"])
    else:
        complaint = complaint or "the robot does not stand"
        walk.application.ask(SIMULATOR, "reset")
    if prepares or row["state"] != "paused" or not row["stands"]:
        error = _error_of(walk.get_ready)
        row["recovered"] = not error
        complaint = complaint or (error and f"not recovered: {error}")
    return {**row, "outcome": "failed" if complaint else "met", "reason": complaint}


_BUMPS = "simulation.ground.bumps"


def _as_toml(bumps: Sequence[Bump]) -> str:
    return f"[{','.join(f'{{x={bump.x:.3f},y={bump.y:.3f},height={bump.height:g}}}' for bump in bumps)}]"


def _drill_all(
    run: ExperimentRun, setup: Setup, drills: Sequence[Drill], is_lockstep: bool, bumps: Sequence[Bump] = ()
) -> None:
    time_of = "lockstep" if is_lockstep else "free running"
    common = {"robot": setup.robot.name, "plant": str(setup.plant), "time": time_of}
    with drilled_walk(setup, is_lockstep, bumps) as walk:
        walk.get_ready()
        for drill in drills:
            prepares = not run.options.quick or drill is drills[-1]
            row = {**common, **drilled(walk, drill, prepares)}
            run.add_row(row)
            run.report(len(run.rows), None, f"{setup.plant}, {drill.fault}: {row['state']}, {row['state_reason']}")


def _carry_out(walk: DrilledWalk, drill: Drill) -> None:
    walk.walk_to_swing()
    drill.act(walk)
    if drill.walks_on:
        walk.close_feet()


def _error_of(act: Callable[[], None]) -> str:
    try:
        act()
    except NAMED_ERRORS as error:
        return str(error)
    return ""


EXPERIMENTS = (
    Experiment(
        "fault_drill",
        "Gradiva's own experiment",
        "Modules killed, stalls, failing sensors in the middle of a step: does the robot stand and walk again?",
        run_fault_drill,
        "tilt afterwards [°]",
        plants=(Plant.IDEAL, Plant.ROBOT),
    ),
)
