"""A simulated walk: plant and controller stepped together, tick by tick."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gradiva.common import GRAVITY, ConfigError, ControlMode, Measurement, NDArray, PlanningError
from gradiva.planner import Command, VelocityCommand
from gradiva.robot_model import Compiler
from gradiva.safety import SafetyCheck
from gradiva.setup import GccCompiler, Setup, cache_folder
from gradiva.simplified_model import BalanceLayer, DcmLaw
from gradiva.simulated_walk.walking_recorder import (
    WalkingRecorder,
    ground_signals,
    push_signals,
    sole_signals,
    solver_signals,
    torque_signals,
)
from gradiva.simulation import GroundKind, MujocoRobot, Push
from gradiva.walking import ChatterRecord, WalkingController, WalkingLayers, WalkingLog, WalkingState
from gradiva.whole_body import Task

if TYPE_CHECKING:
    from gradiva.simulated_walk.walk_result import WalkOutcome

_LATEST, _LATEST_PART = 10.0, 0.5  # [s], [-] of the plan, beyond its end: a caught push takes a few steps, 3 s
# Robots that stand move by 1 cm and turn by 1° at most in that time; one that rocks about an edge by 4 cm and 4°.
_REST, _REST_WAY, _REST_TILT = 0.5, 0.02, 0.035  # [s], [m] of the CoM, [rad] of the base
_CARRIES, _AIR = 0.05, 0.01  # [-] of the weight, on a sole that has come, and on one that has gone
_LOOK = 0.1  # [s] at which a robot that does not rest is looked at
PARTS = ("estimation", "model_control", "whole_body", "total")


class Stopwatch:
    """Collects the laps of the ticks.

    Attributes:
        last: Part to duration of the running tick, [µs]; zero for parts that did not run.
    """

    def __init__(self) -> None:
        self.last = dict.fromkeys(PARTS, 0.0)
        self._start = self._lap = 0.0

    def start(self) -> None:
        """Begin a tick."""
        self.last = dict.fromkeys(PARTS, 0.0)
        self._start = self._lap = time.perf_counter()

    def lap(self, part: str) -> None:
        """End one part of the tick."""
        now = time.perf_counter()
        self.last[part] = 1e6 * (now - self._lap)
        self._lap = now

    def stop(self) -> None:
        """End the tick."""
        self.last["total"] = 1e6 * (time.perf_counter() - self._start)


Observer = Callable[["SimulatedWalk"], None]
"""Called after each tick."""


class SimulatedWalk:
    """Steps the plant and the controller together; one control period a tick.

    Attributes:
        setup: Configuration of robot, controller and plant.
        seed: Of the noise.
        command: That `follow` was asked for last, whatever the controller was commanded since; None before it.
        layers: The layers of the controller.
        model: Name of the law of layer 2.
        robot: The plant.
        controller: The walking controller.
        recorder: Signals of all ticks.
        chatter: True forces and ZMP, and commands, of all ticks, and what oscillates in them.
        measurement: That of the last tick.
        log: Of the last tick.
        freezing: Log of the tick that froze the robot; None where none did.
        fault_reasons: Reason of each fault of the controller.
        held_ticks: Number of ticks in which the last command was held.
        overdue: Reason why `follow` or `come_to_stand` gave up on a robot that does not end its walk; empty: none did.
    """

    def __init__(
        self,
        setup: Setup,
        seed: int = 0,
        compiler: Compiler | None = None,
        observers: tuple[Observer, ...] = (),
        *,
        dcm_law: DcmLaw | BalanceLayer | None = None,
        tasks: Sequence[Task] = (),
        checks: Sequence[SafetyCheck] = (),
    ) -> None:
        """Put the robot on the ground.

        Args:
            setup: Robot, controller, plant.
            seed: Of the noise.
            compiler: By default the machine's C compiler, or CasADi's own machine where there is none.
            observers: Called after each tick: views, progress bars.
            dcm_law: Law that chooses the ZMP, or the whole of layer 2, instead of the one that the configuration names.
            tasks: Of the whole body, beside those of walking and those that the configuration names.
            checks: Of safety, beside the shipped ones and those that the configuration names.

        Raises:
            ConfigError: The period of the controller is no whole number of physics steps, or the seed is negative.
            ModelError: The model does not fit the description, or a push names a link that it lacks.
        """
        if seed < 0:
            raise ConfigError(f"seed={seed}: expected a whole number, 0 or more")
        setup.steps_per_tick()  # refuses a period that the physics cannot keep
        self.setup = setup
        self.seed = seed
        self.command: Command | None = None
        compiler = compiler or GccCompiler(cache_folder())
        layers = WalkingLayers(setup.robot, setup.walking, compiler, tasks, dcm_law)
        self._is_as_configured, self._steps = dcm_law is None and not tasks and not checks, layers.push_recovery.steps
        self.model = str(setup.walking.walking.model) if dcm_law is None else type(dcm_law).__name__
        for check in checks:
            layers.safety.add(check)
        self.stopwatch = Stopwatch()
        self.controller = WalkingController(layers, self.stopwatch.lap)
        self.layers = layers
        self.robot = MujocoRobot(setup.robot, setup.simulation, layers.start_posture, seed, compiler)
        self.recorder = WalkingRecorder(setup.robot, setup.simulated_robot)
        self.chatter = ChatterRecord(setup.robot.mass * GRAVITY, setup.walking.walking.period)
        self.fault_reasons: list[str] = []
        self.held_ticks = 0
        self.overdue = ""
        self._observers = observers
        self.measurement: Measurement = self.robot.read()
        self.log: WalkingLog | None = None
        self.freezing: WalkingLog | None = None

    @property
    def is_as_configured(self) -> bool:
        """Whether no law, task, check or step adaptation was handed over beside the configuration."""
        return self._is_as_configured and self.layers.push_recovery.steps is self._steps

    @property
    def time(self) -> float:
        """Simulated time, [s]."""
        return self.robot.time

    @property
    def is_down(self) -> bool:
        """Whether the robot fell or the controller gave up."""
        return self.robot.fall is not None or self.controller.state is WalkingState.FAULT

    @property
    def acted_pushes(self) -> tuple[Push, ...]:
        """Pushes that have begun, those without force left out."""
        return tuple(push for push in self.robot.pushes if push.start < self.time and push.is_felt)

    def tick(self) -> WalkingLog:
        """Sense, control, and let one period pass."""
        log = self.control()
        self.robot.advance(self.setup.walking.walking.period)
        for observe in self._observers:
            observe(self)
        return log

    def control(self) -> WalkingLog:
        """Sense, control and command the robot, without letting time pass."""
        self.measurement = self.robot.read()
        was_fault, was_balancing = self.controller.state is WalkingState.FAULT, self.controller.is_balancing
        self.stopwatch.start()
        command, log = self.controller.step(self.measurement, self.robot.time)
        self.stopwatch.stop()
        if log.state is WalkingState.FAULT and not was_fault:
            self.fault_reasons.append(log.reason)
            self.freezing = log
        if was_balancing and log.desired is None and self.controller.is_balancing:
            self.held_ticks += 1
        self._record(log)
        self.robot.write(command)
        self.log = log
        return log

    def _record(self, log: WalkingLog) -> None:
        self.chatter.add(log, self.robot.mean_load())
        if self.recorder.wants(log):
            truth, robot = self.robot.truth(), self.setup.robot
            more: dict[str, float | NDArray] = {}
            more |= ground_signals(self.robot.ground, robot) | sole_signals(truth, robot)
            more |= torque_signals(log.command, self.layers.torque_limits, self.layers.whole_body)
            more |= solver_signals(self.layers.model_control.solver_times)
            if self.setup.walking.external_wrench.is_estimated:
                more |= push_signals(self.robot.external_wrench(truth.com_position))
            self.recorder.record(log, self.measurement, truth, more, self.stopwatch.last)
        else:
            self.recorder.record_standing(log, self.measurement)

    def run(self, duration: float) -> bool:
        """Tick for ``duration`` [s]; return whether the robot still stands."""
        end = self.time + duration - 1e-9
        return self.run_until(lambda: self.time >= end, duration + 1.0)

    def run_until(self, condition: Callable[[], bool], at_most: float) -> bool:
        """Tick until ``condition`` holds; False when the robot went down or ``at_most`` [s] passed before."""
        end = self.time + at_most
        collects = gc.isenabled()
        gc.collect(1)
        gc.disable()  # a collection in the middle of a tick costs more than the tick
        try:
            while not condition():
                if self.is_down or self.time >= end:
                    return False
                self.tick()
        finally:
            if collects:
                gc.enable()
        return not self.is_down

    def await_fall(self, at_most: float = 3.0) -> None:
        """Tick until the robot fell, ``at_most`` [s]: frozen in mid-step it may still stand."""
        end = self.time + at_most
        while self.robot.fall is None and self.time < end:
            self.tick()

    def get_ready(self, settle: float = 1.0) -> bool:
        """Prepare the robot, let it settle for ``settle`` [s] and start; return whether it stands.

        On soft ground servos of position topple it: torque control takes it over as it stands.
        """
        self.controller.prepare(self.measurement.joint_positions if self._is_held_by_torques_alone else None)
        if not self.run_until(lambda: self.controller.state is WalkingState.PREPARED, 60.0):
            return False
        if not self.run(settle) or self.controller.state is not WalkingState.PREPARED:
            return False
        self.controller.start()
        return True

    @property
    def _is_held_by_torques_alone(self) -> bool:
        is_soft = self.setup.simulation.ground.kind == GroundKind.VISCOELASTIC
        return is_soft and self.setup.walking.walking.control is ControlMode.TORQUE

    def execute(self, command: Command) -> WalkOutcome:
        """Prepare and start, unless it is ready, walk until the command is done and stand; return the outcome.

        That is result, figures and log.
        A robot that falls and a controller that gives up are outcomes, too.

        Raises:
            PlanningError: The command never ends, or cannot be planned.
        """
        refuse_endless(command)
        from gradiva.simulated_walk.walk_result import WalkRequest, finish_walk  # which build on this class

        return finish_walk(WalkRequest(self.setup, command, self.seed), self)

    def follow(self, command: Command, settle: float = 2.0) -> bool:
        """Walk until the command is done and stand for ``settle`` [s]; return whether the robot stands.

        Steps that catch a robot, again and again where it slides, come on top of the plan; there is a limit to them.

        Raises:
            PlanningError: The command never ends, or cannot be planned.
        """
        refuse_endless(command)
        self.command, self.overdue, done, reason = command, "", False, ""
        self.controller.walk(command)
        while not done and not self.is_down and self.controller.reason != reason:  # else an observer commands on
            reason, plan = self.controller.reason, self.controller.plan
            planned = 0.0 if plan is None else plan.end_time - self.time
            late = max(_LATEST, _LATEST_PART * planned)
            done = self.run_until(lambda: self.controller.state is not WalkingState.WALKING, planned + late)
        if not done and not self.is_down:
            when = f"{late:.0f} s after the planned end of the walk, at {self.time:.2f} s"
            self.overdue = f"still steps {when}: it does not come to a stand"
        return done and self.run(settle)

    def come_to_stand(self, at_most: float = _LATEST) -> bool:
        """Tick until a robot whose walk is over rests, ``at_most`` [s]; return whether it does.

        One that was pushed in its last steps may step on, rock, or fall after the time in which others stand.
        """
        end = self.time + at_most
        while not self.rests:
            if self.time >= end:
                when = f"{at_most:.0f} s after others stand, at {self.time:.2f} s"
                self.overdue = f"still moves {when}: it does not come to a stand"
                return False
            if not self.run(_LOOK):
                return False
        return True

    @property
    def rests(self) -> bool:
        """Whether no step is planned, no sole has come or gone lately, and CoM and base have hardly moved."""
        plan, log, since = self.controller.plan, self.recorder.log, self.time - _REST
        if self.is_down or not len(log) or log.times[-1] <= since or (plan is not None and plan.end_time > self.time):
            return False
        rows, (times, _, loads) = log.times > since, self.chatter.loads()
        loads = loads[times > since]
        stays = (loads.min(axis=0) > _AIR) | (loads.max(axis=0) < _CARRIES)
        way = np.ptp(log["simulation::com::position"][rows, :2], axis=0)
        tilts = np.ptp(log["simulation::root_link::orientation"][rows, :2], axis=0)
        return bool(np.hypot(*way) < _REST_WAY and np.hypot(*tilts) < _REST_TILT and stays.all())


def refuse_endless(command: Command) -> None:
    """Pass when a command ends.

    Raises:
        PlanningError: It never does.
    """
    if isinstance(command, VelocityCommand) and command.duration is None:
        raise PlanningError(
            f"{command!r} has no duration and is never done: add duration=…, or call controller.walk(…) and run(…)"
        )
