"""The simulator module: a simulated robot behind YARP ports."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import ClassVar

import numpy as np

from gradiva.common import ConfigError, RobotPosture, so3
from gradiva.middleware import Element, RateLimitedLog
from gradiva.setup import GccCompiler, Setup, cache_folder
from gradiva.simulation import Push
from gradiva.walking import WalkingLayers
from gradiva.yarp_modules.gradiva_module import GradivaModule
from gradiva.yarp_modules.module_options import ModuleOption, ModuleOptions, setup_of
from gradiva.yarp_modules.rpc_commands import fail, is_called, ok
from gradiva.yarp_modules.simulator.simulated_time import LockstepGate, Pace, Pause, RealTimeFactor
from gradiva.yarp_modules.simulator.simulated_world import SimulatedWorld, WorldSample
from gradiva.yarp_modules.simulator.simulator_ports import (
    FAULT_HELP,
    PUSH_FORMAT,
    SimulatorPorts,
    answer_fault,
    answer_push,
)

_SLICE = (
    0.001  # [s] of simulated time between two looks at the set-points, in real time; and between times of the clock
)
_TIMEOUT = 1.0  # [s] of real time for a controller that has stopped commanding in lockstep
_WARNING_PERIOD = 5.0  # [s] between two lines about a machine that is too slow
_LOGGER = logging.getLogger("gradiva.simulator")


class Simulator(GradivaModule):
    """Runs a simulated robot behind the ports that Gazebo's YARP plug-ins open.

    Samples go out once a control period. In real time, and in multiples of it, physics goes on in slices between them,
    so that set-points act as soon as they arrive; in lockstep a whole period passes once the controller has answered.
    """

    TITLE: ClassVar[str] = "simulator"
    SUMMARY: ClassVar[str] = "A simulated robot behind the ports of Gazebo's YARP plug-ins."
    NAME: ClassVar[str] = "/simulator"
    IS_CLOCK: ClassVar[bool] = True
    OPTIONS: ClassVar[tuple[ModuleOption, ...]] = (
        ModuleOption("speed", "simulated seconds a real one, 1 by default; 0: as fast as possible", "FACTOR"),
        ModuleOption("paused", "begin with time standing still, until resume or advance"),
        ModuleOption("pose", "where the robot stands, 'x y yaw' in m, m, degrees", "POSE"),
        ModuleOption("plant", "ideal (default), noisy or robot: how much of a real robot is simulated", "PLANT"),
        ModuleOption("seed", "of the sensors' noise, 0 by default", "NUMBER"),
        ModuleOption("timeout", "for a silent controller in lockstep, 1 s by default", "SECONDS"),
    )
    COMMANDS: ClassVar[tuple[str, ...]] = (
        "getStatus   time, speed, whether the robot fell, whose commands are waited for",
        "pause   let time stand still; sensors repeat their readings",
        "resume   let time pass",
        "advance SECONDS   let so much time pass, then pause; answered when it has passed",
        "reset   put the robot back to its start posture; time goes on",
        f"push {PUSH_FORMAT}   in N, N·m, s, world, at the link's centre of mass",
        FAULT_HELP,
    )

    def __init__(self, options: ModuleOptions) -> None:
        """Put the robot on the ground.

        Raises:
            WalkingError: The options or the configuration are wrong.
        """
        setup = setup_of(options)
        super().__init__(options, setup.walking.walking.period)
        self._period, self._plant = setup.walking.walking.period, setup.plant
        speed = options.number("speed", 1.0)
        if not (math.isfinite(speed) and speed >= 0.0):
            raise ConfigError(f"--speed {speed}: expected a factor, or 0 for as fast as possible")
        posture = _placed(_start_posture(setup), options.extras.get("pose", "0 0 0"))
        self._world = SimulatedWorld(setup.robot, setup.simulation, posture, int(options.number("seed", 0.0)))
        self._lock = threading.RLock()  # of the world: ticks and answers
        timeout = options.number("timeout", _TIMEOUT)
        self._ports = SimulatorPorts(self._world, self._push, lockstep_timeout=timeout if options.lockstep else None)
        self._gate = LockstepGate(self._world.parts.values(), timeout)
        self._pace = Pace(speed)
        self._pause = Pause("paused" in options.extras)
        self._real_time_factor = RealTimeFactor()
        self._sample: WorldSample | None = None
        self._has_logged_fall = False
        self._too_slow = RateLimitedLog(_LOGGER, _WARNING_PERIOD)

    def open_ports(self) -> None:
        """Open the ports of the robot."""
        self._ports.open()

    def close_ports(self) -> None:
        """Close the ports of the robot."""
        self._ports.close()

    def unblock(self) -> None:
        """End every wait for an `advance`."""
        self._pause.release()

    def wait_for_tick(self) -> int | None:
        """Let a control period pass, unless time stands still; return how many periods the machine was too late."""
        if self._sample is None:
            return 0
        if self._pause.holds(self._world.time):
            self._pace.begin_anew()
            time.sleep(self._period)
            return 0
        missed = self._lockstep_period() if self.options.lockstep else self._real_time_period()
        if missed:
            lost, text = 1e3 * self._pace.lost, self._real_time_factor.text
            self._too_slow.warning("too slow for --speed %g, %.0f ms behind so far: %s", self._pace.speed, lost, text)
        return missed

    def time_left(self) -> float:
        """Return the time for garbage collection, [s]: a part of the idle time."""
        return 0.5 * self._period * (1.0 - self._real_time_factor.load) / max(self._pace.speed, 1.0)

    def tick(self) -> bool:
        """Read the sensors and publish; while time stands still, publish the last readings."""
        with self._real_time_factor.busy(), self._lock:
            if self._sample is None or self._sample.time != self._world.time:
                self._sample = self._world.sample(None if self._pause.is_on else self._ports.wanted)
                self._gate.note_sample(self._sample.is_new)
            if self._sample.is_new:
                self._ports.publish(self._sample)
            self._ports.publish_time(self._world.time)
        self._real_time_factor.note(self._world.time)
        self._tell_fall()
        self.health.state = "paused" if self._pause.holds(self._world.time) else "running"
        return True

    def answer(self, command: Sequence[Element]) -> list[Element] | None:
        """Answer a command."""
        answers: dict[str, Callable[[Sequence[Element]], list[Element]]] = {
            "getStatus": lambda _: self._status(),
            "pause": lambda _: self._done(self._pause.begin),
            "resume": lambda _: self._done(self._pause.end),
            "advance": self._advance,
            "reset": lambda _: self._done(self._reset),
            "push": lambda rest: answer_push(rest, self._push),
            "fault": self._fault,
        }
        for name, answer in answers.items():
            if is_called(command[0], name):
                return answer(command[1:])
        return None

    # ----------------------------------------------------------------------------------------------------------

    def _lockstep_period(self) -> int:
        silent = self._gate.wait(self.isStopping)
        if silent:
            names, timeout = ", ".join(silent), self.options.number("timeout", _TIMEOUT)
            _LOGGER.warning("lockstep: no command for %s within %g s; it is not waited for any more", names, timeout)
        is_late = False
        if self._gate.expected:
            self._pace.begin_anew()
        else:  # no controller decides how fast time passes
            is_late = self._pace.wait_for(self._world.time + self._period, self.isStopping)
        with self._real_time_factor.busy(), self._lock:
            self._world.advance(self._period)
        return int(is_late)

    def _real_time_period(self) -> int:
        late = 0
        slices = max(1, round(self._period / max(_SLICE, self._world.timestep)))
        steps = round(self._period / self._world.timestep)
        for first, last in pairwise(steps * place // slices for place in range(slices + 1)):
            step = (last - first) * self._world.timestep
            late += self._pace.wait_for(self._world.time + step, self.isStopping)
            with self._real_time_factor.busy(), self._lock:
                self._world.advance(step)
                if last < steps:  # a period's end is published after its sensors
                    self._ports.publish_time(self._world.time)
        return late

    def _tell_fall(self) -> None:
        fall = self._world.fall
        if fall is not None and not self._has_logged_fall:
            _LOGGER.warning("the robot fell after %.2f s: %s; reset puts it back", fall.time, fall.reason)
        self._has_logged_fall = fall is not None

    def _status(self) -> list[Element]:
        fall = self._world.fall
        state = "fallen" if fall else "paused" if self._pause.holds(self._world.time) else "running"
        return ok(
            ["state", state],
            ["time", self._world.time],
            ["mode", "lockstep" if self.options.lockstep else "real time"],
            ["speed", self._pace.speed],
            ["plant", str(self._plant)],
            ["real_time_factor", round(self._real_time_factor.factor, 3)],
            ["load", round(self._real_time_factor.load, 3)],
            ["cost", round(self._real_time_factor.cost, 3)],
            ["late", self._pace.slips],
            ["streaming", [part.name for part in self._world.parts.values() if part.is_streamed_to]],
            ["fall", fall.reason if fall else ""],
            ["base_height", round(self._world.base_height, 4)],
            ["tilt", round(math.degrees(self._world.tilt), 2)],
            ["deflections", [[name, stiffness, round(bent, 5)] for name, stiffness, bent, *_ in self._bent()]],
        )

    def _bent(self) -> list[tuple[str, float, float, float, float]]:
        with self._lock:
            return self._world.flexible_joints()

    def _advance(self, rest: Sequence[Element]) -> list[Element]:
        if len(rest) != 1 or not isinstance(rest[0], int | float) or not 0.0 <= rest[0] < math.inf:
            return fail("expected: advance SECONDS")
        if not self._pause.is_on:
            return fail("time passes; pause comes first")
        if self._pause.is_awaited:
            return fail("an earlier advance has not ended yet; pause or resume ends it")
        self._pause.run_until(self._world.time + float(rest[0]), self.isStopping)
        return ok(["time", self._world.time])

    def _push(self, link: str, force: tuple[float, ...], torque: tuple[float, ...], duration: float) -> Push:
        with self._lock:
            push = self._world.push(link, force, torque, duration)
        _LOGGER.info("%s", push)
        return push

    def _fault(self, rest: Sequence[Element]) -> list[Element]:
        with self._lock:
            reply = answer_fault(rest, self._world.robot_time, self._world.inject)
        _LOGGER.info("fault %s: %s", rest, reply)
        return reply

    def _reset(self) -> None:
        with self._lock:
            self._world.reset()
            self._sample = None

    def _done(self, action: Callable[[], None]) -> list[Element]:
        action()
        return ok()


def _start_posture(setup: Setup) -> RobotPosture:
    return WalkingLayers(setup.robot, setup.walking, GccCompiler(cache_folder())).start_posture


def _placed(posture: RobotPosture, pose: str) -> RobotPosture:
    """Return the posture at ``x y yaw`` [m, m, deg]."""
    try:
        x, y, yaw = (float(word) for word in pose.split())
    except ValueError:
        raise ConfigError(f"--pose '{pose}': expected 'x y yaw'") from None
    turn = so3.rotation_z(math.radians(yaw))
    position = turn @ posture.base_position + np.array([x, y, 0.0])
    return RobotPosture(position, turn @ posture.base_rotation, posture.joint_positions)
