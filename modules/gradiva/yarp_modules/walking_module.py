"""The walking module: three layers in one process, state machine, safety, and the robot."""

from __future__ import annotations

import logging
import math
import os
import sys
import threading
import time as machine_time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Protocol

from gradiva.common import GRAVITY, ConfigError, ControlMode, Measurement, RobotInterface, RobotInterfaceError
from gradiva.middleware import NAMED_ERRORS, Element, RateLimitedLog
from gradiva.robot_model import FlexibleJoint, RobotDescription
from gradiva.session import (
    ARGUMENTS,
    HELP,
    PLANNING_LEAD,
    PLANNING_TIMEOUT,
    BlackBox,
    Coordinator,
    CoordinatorCommand,
    CoordinatorConfig,
    FreeSpace,
    HealthRecord,
    LapTimer,
    PlanningWorker,
    RecordedRun,
    WalkingSession,
    Word,
    parse_command,
)
from gradiva.session.tick_timing import give_way_to_ticks
from gradiva.setup import GccCompiler, Setup, cache_folder, check_margins
from gradiva.simplified_model import BalanceLayer
from gradiva.walking import (
    Chatter,
    ChatterMonitor,
    PlanningService,
    SynchronousPlanning,
    WalkingController,
    WalkingLayers,
    WalkingLog,
    WalkingState,
)
from gradiva.yarp_modules.bring_up.checks import BringUpConfig
from gradiva.yarp_modules.gradiva_module import GradivaModule
from gradiva.yarp_modules.module_options import ModuleOption, ModuleOptions, robot_ports, setup_of
from gradiva.yarp_modules.network_clock import control_time
from gradiva.yarp_modules.robot import DryRunRobot, RobotIoConfig, YarpRobot
from gradiva.yarp_modules.robot.joint_boards import Limits, check_start_posture
from gradiva.yarp_modules.robot.sensors import TrueDeflections
from gradiva.yarp_modules.rpc_commands import fail, ok, pairs, replied, spelled_out
from gradiva.yarp_modules.walking_ports import WalkingPorts, tick_signals

_STAMP_ROUNDING = 1e-6  # [s] boards send a stamp as text, sensor servers as a number: its last digits differ
_ANEW = 1.0  # [s] a sample that lies so far back is of a simulation that began anew
_RATE_ROUNDING = 1e-6  # [-]
_LOGGER = logging.getLogger("gradiva.module")
_RETRY = 1.0  # [s] between two attempts
_LOG_ATTEMPTS = 5  # attempts between two lines in the log
_ATTEMPT_TIMEOUT = 5.0  # [s] for an attempt to end: one at a robot that hangs may ask a dozen ports in vain
_POLL = 0.0005  # [s] between two looks for a new sample, in lockstep
_POLL_FRACTION = 0.02  # [-] of the time for which it is awaited, where that is more: time may stand still
_SAMPLE_TIMEOUT = 0.5  # [s] of the machine without a new sample: commands are answered, the last steps not walked
_SAME_LIMIT = 1e-3  # [rad] rounding of limits that boards send in degrees
_MOST_NAMES = 3  # in a reason
_LAST_STEPS = 10.0  # [s] to close the feet when the module ends during a walk
_WARNING_PERIOD = 2.0  # [s] between two warnings of failing ticks
WORDS = (*Word, *ARGUMENTS)  # that vocabs abbreviate
DUMPS, NO_DUMPS = "GRADIVA_DUMPS", "none"
"""Environment variable with the folder of dumps, where the option does not name it; and its value for none."""
_TO_THE_END = (Word.STATUS, Word.REASON, Word.EMERGENCY_STOP)  # commands that are carried out meanwhile


class WalkingModule(GradivaModule):
    """Owns the motors, and with them the state machine, the safety supervision and the coordinator's RPC.

    ``whole_body`` is the same module with layers 1 and 2 in other processes: it overrides `make_planning`,
    `open_layers`, `close_layers`.
    """

    TITLE: ClassVar[str] = "walking"
    SUMMARY: ClassVar[str] = "All three layers in one process: walks a robot."
    NAME: ClassVar[str] = "/walking-coordinator"
    COMMANDS: ClassVar[tuple[str, ...]] = HELP
    OPTIONS: ClassVar[tuple[ModuleOption, ...]] = (
        ModuleOption("dumps", f"folder of the black box's dumps (default runs), {NO_DUMPS} for no black box", "DIR"),
    )

    def __init__(self, options: ModuleOptions) -> None:
        """Read the configuration; the layers are built, and the robot is reached, when the ports are open.

        Raises:
            WalkingError: The options or the configuration are wrong.
        """
        self.setup = setup_of(options)
        robot_ports(self.setup.robot)  # a robot without ports is refused before a port of this module opens
        if not options.lockstep:  # a simulator in lockstep sends one sample a period
            check_sensor_rate(self.setup)
        with self.setup.naming_places():
            little_margin = check_margins(self.setup)
        if little_margin:
            _LOGGER.warning("%s", little_margin)
        super().__init__(options, self.setup.walking.walking.period)
        self.config = self.setup.part(CoordinatorConfig, "coordinator")
        self._robot_io = self.setup.part(RobotIoConfig, "robot_io")
        self._layers: WalkingLayers | None = None
        self._timer = LapTimer()
        robot = self.setup.robot
        flexible = [joint.name for joint in robot.flexible_joints]
        bending = [joint.name for joint in self.setup.simulated_robot.flexible_joints]
        self._ports = WalkingPorts(self.port_name(""), robot.joints, flexible, bending)
        self._session: WalkingSession | None = None
        self._planning: PlanningService | None = None
        self._robot: YarpRobot | None = None
        self._connector: RobotConnector | None = None
        self._dry_run: DryRunRobot | None = None
        self._black_box: BlackBox | None = None
        self._why_no_box = "the robot has not been reached yet"
        self._samples = NewSampleCheck()
        self._chatter = ChatterMonitor(robot.mass * GRAVITY, self.setup.walking.walking.period)

    # -- overridden by whole_body --------------------------------------------------------------------------------

    def make_layers(self, robot: RobotDescription) -> WalkingLayers:
        """Return the layers for a robot; called again when its boards have narrower limits than its model."""
        layers = WalkingLayers(robot, self.setup.walking, GccCompiler(cache_folder()))
        if not self.options.lockstep:
            layers.answer_in_time()
            layers.model_control.thread_begins = give_way_to_ticks
        return layers

    def make_planning(self, layers: WalkingLayers) -> PlanningService:
        """Return the planning service: a thread; in lockstep the tick itself, so that runs are alike."""
        if self.options.lockstep:
            return SynchronousPlanning(layers.planner)
        return PlanningWorker(layers.planner, PLANNING_LEAD, PLANNING_TIMEOUT)

    def open_layers(self) -> None:
        """Open the ports to layers in other processes."""

    def close_layers(self) -> None:
        """Close what `open_layers` opened, and end what `make_planning` began."""
        if isinstance(self._planning, PlanningWorker):
            self._planning.close()

    def layer_status(self) -> list[Element]:
        """Return the part of getStatus about the layers, as pairs (name value)."""
        return [] if self._layers is None else solver_status(self._layers.model_control)

    # -- GradivaModule -----------------------------------------------------------------------------------------

    def open_ports(self) -> None:
        """Open the ports, begin to build the layers and then to look for the robot."""
        self._ports.open()
        self.open_layers()
        options = self.options
        self._robot = YarpRobot(
            self.setup.robot, options.environment, self._robot_io, self.port_name(""), options.lockstep
        )
        self._connector = RobotConnector(self._robot, self._build_layers, self._take_robot)
        self._connector.start()

    def close_ports(self) -> None:
        """Close the feet if the robot walks, let its boards hold it, close the ports."""
        try:
            self._finish_walk()
        finally:
            if self._connector is not None:
                self._connector.close()
            self.close_layers()
            self._ports.close()
            if self._black_box is not None:
                is_terminated = self.signals is not None and self.signals.first == "SIGTERM"  # Ctrl-C is an operator's
                self._black_box.close("SIGTERM" if is_terminated else "")
            for line in self._dry_run.report.lines() if self._dry_run is not None else ():
                _LOGGER.warning("%s", line)

    def wait_for_tick(self) -> int | None:
        """Wait for the clock, or in lockstep for the next sample of the robot."""
        if not self.options.lockstep or self._session is None:
            return super().wait_for_tick()
        self.lateness = 0.0
        is_new = False
        try:
            is_new = self._has_new_sample()
        finally:  # even if the robot raises, commands are carried out
            if not is_new and not (self._robot is not None and self._robot.lost_connections()):
                self._session.serve()  # time may stand still; where the robot is lost nothing can be carried out
        return 0 if is_new else None

    def time_left(self) -> float:
        """Return the time until the next tick, [s]; in lockstep the simulator waits."""
        return self.health.period if self.options.lockstep else super().time_left()

    def tick(self) -> bool:
        """Do one tick of the session, then publish it for loggers."""
        session, time = self._session, self._tick_time()
        if self._connector is not None and self._connector.failure is not None:
            self.failure = self._connector.failure
            return False
        if session is None or not math.isfinite(time):  # or it has just been reached: its first sample is awaited
            self.health.state = "compiling" if self._is_compiling else "waiting for the robot"
            return True
        self._ports.read(
            lambda values: session.coordinator.take_goal(values, session.time),
            lambda values: setattr(session.coordinator, "free_space", FreeSpace.from_numbers(values)),
        )
        self._timer.start()
        log = session.tick(time)
        self._timer.stop()
        self.health.state = session.status.state
        session.refused_messages = self._ports.refused
        if log is not None and session.measurement is not None:
            self._chatter.update(log)
            self._record(log, session.measurement)
        return True

    def _record(self, log: WalkingLog, measurement: Measurement) -> None:
        """Publish a tick for loggers and keep it in the black box."""
        assert self._robot is not None, "it has been ticked"
        signals = tick_signals(log, measurement, self._timer.laps, self._robot.true_deflections())
        self._ports.logger.send(log.time, signals)
        if self._black_box is not None and self._session is not None:
            events, drives = self._session.controller.safety_events, self._robot.drive_signals()
            self._black_box.record(log, measurement, events, signals, drives, {"tick::lateness": self.lateness})

    def answer(self, command: Sequence[Element]) -> list[Element] | None:
        """Answer a command of the coordinator; while the module ends, those alone that do not move the robot."""
        asked = parse_command(spelled_out(command, WORDS))
        if asked is None:
            return None
        if self.isStopping() and asked.word not in _TO_THE_END:
            return fail(f"cannot carry out {asked.word}: this module is ending")
        if self._session is None:
            return self._without_robot(asked.word)
        status = self._session.status
        if asked.word is Word.STATUS:
            return ok(status.state, *pairs(status.as_table()), *self._more_status())
        if asked.word is Word.DUMP:
            return self._dump()
        if refusal := self._health_refusal(asked):
            return fail(refusal)
        return ok(status.full_reason) if asked.word is Word.REASON else replied(self._session.answer(asked))

    # ----------------------------------------------------------------------------------------------------------

    def _without_robot(self, asked: Word) -> list[Element]:
        missing = self._connector.reason if self._connector else "it is not looked for"
        reason = missing if self._is_compiling else f"waiting for the robot: {missing}"
        if asked is Word.STATUS:
            return ok("compiling" if self._is_compiling else "waiting", ["reason", reason])
        return ok(reason) if asked is Word.REASON else fail(reason)

    @property
    def _is_compiling(self) -> bool:
        return self._connector is not None and self._connector.is_preparing

    def _build_layers(self) -> None:
        """Build the layers, which compiles them the first time; called in the thread that then reaches the robot."""
        self._layers = self.make_layers(self.setup.robot)

    def _take_robot(self) -> None:
        """Build the session of a robot that has been reached; called in the thread that reached it."""
        assert self._robot is not None, "it has just been reached"
        assert self._layers is not None, "they were built before"
        check_flexible_joints(self.setup.simulated_robot.flexible_joints, self._robot.true_deflections())
        limits, layers = self._robot.limits(), self._layers
        check_start_posture(limits, self.setup.robot.joints, layers.start_posture.joint_positions)
        if narrowed := _narrowed(self.setup.robot, layers, limits):
            layers = self.make_layers(narrowed)
        self._planning = self.make_planning(layers)
        controller = WalkingController(layers, self._timer.lap, self._planning)
        coordinator = Coordinator(controller, self.config, self.setup.walking.planner)
        robot: RobotInterface = self._robot
        if self.options.dry_run:
            robot = self._dry_run = DryRunRobot(self._robot, self.setup.robot.joints)
        warn = RateLimitedLog(_LOGGER, _WARNING_PERIOD).warning
        session = WalkingSession(robot, controller, coordinator, self.config, warn, self._why_stalled)
        self.keep_from_collector()
        self._open_black_box(layers)
        self._session = session

    def _has_new_sample(self) -> bool:
        assert self._robot is not None, "there is a session"
        begin = machine_time.monotonic()
        while not self.isStopping() and (waited := machine_time.monotonic() - begin) < _SAMPLE_TIMEOUT:
            if self._samples.is_new(self._robot.sample_time()):
                return True
            machine_time.sleep(min(max(_POLL, _POLL_FRACTION * waited), _SAMPLE_TIMEOUT - waited))
        return not self.isStopping() and self._samples.is_new(self._robot.sample_time())

    def _why_stalled(self) -> str:
        """Return which sources of the robot are silent, and which of its ports are not connected."""
        assert self._robot is not None, "there is a session"
        silent, lost = self._robot.silent_sources(), self._robot.lost_connections()
        text = f"nothing new from {_listed(silent)}" if silent else "the clock stands still"
        return f"{text}; not connected: {_listed(lost)}" if lost else text

    def _tick_time(self) -> float:
        return self._samples.time if self.options.lockstep and self._session is not None else control_time()

    def _more_status(self) -> list[Element]:
        truth = None if self._robot is None else self._robot.true_deflections()
        bent = [] if truth is None else [round(angle, 5) for angle in truth.motion[0].tolist()]
        seen = pairs({"robot_base": self._ports.robot_base, "true_deflections": bent})
        return [*seen, *self._chatter_status(), *self.layer_status()]

    def _chatter_status(self) -> list[Element]:
        """Return what oscillates above 25 Hz, of the last second; nothing while the loop does not run."""
        chatter = self._chatter.chatter
        return [] if chatter is None else [chatter_status(chatter, self.setup.robot.joints)]

    def _health_refusal(self, asked: CoordinatorCommand) -> str:
        """Return why a robot should not be prepared: the last ``gradiva doctor --exercise`` found something wrong."""
        assert self._session is not None, "it is asked"
        prepares = asked.word is Word.PREPARE or (
            asked.word is Word.GO_HOME
            and self._session.controller.state not in (WalkingState.WALKING, WalkingState.PAUSED)
        )
        if not prepares or asked.anyway:
            return ""
        refusal = HealthRecord(self.setup.robot.name, str(self.options.environment)).refusal()
        return refusal and f"cannot prepare: {refusal}; mend it and exercise again, or {Word.PREPARE} anyway"

    def _dump(self) -> list[Element]:
        if self._black_box is None:
            return fail(f"there is no black box: {self._why_no_box}")
        return ok(self._black_box.dump())

    def _open_black_box(self, layers: WalkingLayers) -> None:
        """Begin to record, unless it is not wanted; a machine that cannot is no reason not to walk."""
        folder = self.options.extras.get("dumps", os.environ.get(DUMPS, "runs"))
        if folder == NO_DUMPS:
            self._why_no_box = f"--dumps, or {DUMPS}, is {NO_DUMPS}"
            return
        run = recorded_run(self.setup, layers, Path(folder), self.port_name(""), self._robot)
        try:
            self._black_box = BlackBox(self.health.period, len(self.setup.robot.joints), run)
        except OSError as error:
            self._why_no_box = str(error)
            _LOGGER.warning("no black box: %s", error)

    def _finish_walk(self) -> None:
        """Close the feet before the boards are left: a robot that is left in the middle of a step falls."""
        session = self._session
        if session is None or self._robot is None or session.controller.state is not WalkingState.WALKING:
            return
        _LOGGER.info("%s: closing the feet before the end", self.TITLE)
        session.controller.stop()
        answered = begin = machine_time.monotonic()
        while session.controller.state is WalkingState.WALKING and machine_time.monotonic() < begin + _LAST_STEPS:
            machine_time.sleep(_POLL if self.options.lockstep else self.health.period)
            is_new = self._samples.is_new(self._robot.sample_time())
            if not is_new and machine_time.monotonic() > answered + _SAMPLE_TIMEOUT:
                _LOGGER.warning("%s: the robot is silent, so its feet stay as they are", self.TITLE)
                return
            if is_new or not self.options.lockstep:
                session.tick(self._tick_time())
            answered = machine_time.monotonic() if is_new else answered


def recorded_run(
    setup: Setup, layers: WalkingLayers, parent: Path, prefix: str, robot: YarpRobot | None
) -> RecordedRun:
    """Return what a dump of the black box says of the run of a module whose ports begin with ``prefix``."""
    ports = [] if robot is None else robot.required_ports()
    module = {"command": sys.argv, "ports": prefix, "robot_ports": ports, "process": os.getpid()}
    bounds = layers.joint_bounds
    return RecordedRun(setup, parent.absolute(), layers.joint_limits, bounds.velocities, layers.torque_limits, module)


def chatter_status(chatter: Chatter, joints: Sequence[str]) -> list[Element]:
    """Return rms above 25 Hz as the pair (chatter pairs): [-] of the weight, [m], and a joint command's unit."""
    rms = {name: float(f"{getattr(chatter, name):.3g}") for name in ("foot_force", "zmp", "command")}
    return ["chatter", pairs(rms | {"joint": joints[chatter.joint]})]


def solver_status(layer: BalanceLayer) -> list[Element]:
    """Return counts and times of the decisions of layer 2 as the pair (mpc pairs); nothing where it counts none."""
    times = layer.solver_times
    table = {} if times is None else times.as_table()
    return [["mpc", pairs(table)]] if table else []


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMES]) + (f" and {len(names) - _MOST_NAMES} more" * (len(names) > _MOST_NAMES))


class RobotConnector:
    """Prepares the controller of a robot, then tries once a second to reach the robot.

    Both may take a minute (the first compilation of a controller does), in a thread of its own: the module answers
    meanwhile, so that no supervisor takes it for dead.

    Attributes:
        reason: Why there is no robot yet; empty once it is there.
        is_preparing: Whether the controller is not ready yet.
        failure: Why the controller cannot be prepared; None while it can.
    """

    def __init__(self, robot: ReachableRobot, prepare: Callable[[], None], on_reached: Callable[[], None]) -> None:
        """Take a robot that is not reached yet.

        Args:
            robot: To be reached.
            prepare: Called once, before; an error there is the end (`failure`).
            on_reached: Called in the thread that reached it; after an error there the robot is left and tried again.
        """
        self._robot = robot
        self._prepare = prepare
        self.is_preparing = True
        self.failure: Exception | None = None
        self._on_reached = on_reached
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="robot connector", daemon=True)
        self.reason = "the controller is being prepared; compiling it takes up to a minute the first time"

    def start(self) -> None:
        """Begin to prepare, then to look for the robot."""
        self._thread.start()

    def close(self) -> None:
        """Stop looking; leave the robot if it was reached. An attempt that takes long leaves it when it ends."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(_ATTEMPT_TIMEOUT)
        if not self.reason:
            self.reason = "the robot has been left"
            self._robot.close()

    def _run(self) -> None:
        try:
            self._prepare()
        except Exception as error:
            self.reason = f"the controller cannot be prepared: {error}"
            self.failure = error
            return
        self.is_preparing, self.reason = False, "the robot has not been looked for yet"
        attempt = 0
        while not self._stop.is_set():
            try:
                self._reach()
                _LOGGER.info("the robot is there")
                return
            except NAMED_ERRORS as error:
                self.reason = str(error)
            except Exception as error:  # the module goes on, and logs it
                _LOGGER.exception("the robot cannot be reached")
                self.reason = f"{type(error).__name__}: {error}"
            if attempt % _LOG_ATTEMPTS == 0:
                _LOGGER.warning("waiting for the robot: %s", self.reason)
            attempt += 1
            self._stop.wait(_RETRY)

    def _reach(self) -> None:
        self._robot.open()
        try:
            if self._stop.is_set():
                raise RobotInterfaceError("it was reached too late")
            self.reason = "the robot is there; narrower limits of its boards are compiled into the controller"
            self._on_reached()
        except Exception:
            self._robot.close()
            raise
        self.reason = ""


class ReachableRobot(Protocol):
    """Is a robot that has to be reached before it can be read."""

    def open(self) -> None:
        """Reach it.

        Raises:
            RobotInterfaceError: It is not there.
        """
        ...

    def close(self) -> None:
        """Let its boards hold the joints, and leave it."""
        ...


class NewSampleCheck:
    """Finds out whether a sample is newer than that of the last tick.

    Attributes:
        time: When it was taken, [s]; −∞ before the first.
    """

    def __init__(self) -> None:
        self.time = -math.inf

    def is_new(self, time: float) -> bool:
        """Return whether a sample of ``time`` [s] has had no tick yet; it is the last one then."""
        if self.time - _ANEW <= time <= self.time + _STAMP_ROUNDING:
            return False
        self.time = time
        return time > -math.inf


def check_sensor_rate(setup: Setup) -> None:
    """Pass when boards and sensors send a new reading at each tick of torque control; other modes tolerate old ones.

    Raises:
        ConfigError: They do not: torques would answer to a state of several ticks ago.
    """
    tick = setup.walking.walking
    rate = setup.part(BringUpConfig, "bring_up").sensor_rate
    if tick.control is ControlMode.TORQUE and rate * tick.period < 1.0 - _RATE_ROUNDING:
        needed, published = 1e3 * tick.period, 1e3 / rate
        raise ConfigError(
            f"walking.control=torque needs readings every {needed:g} ms, the boards of the robot publish them every"
            f" {published:g} ms: walk by position or velocity, or set their rate in bring_up.sensor_rate"
        )


def check_flexible_joints(configured: Sequence[FlexibleJoint], simulated: TrueDeflections | None) -> None:
    """Pass when the simulator's links bend as this module's configuration says that they do; None: nothing says so.

    Raises:
        ConfigError: They do not: one of both was started with other settings.
    """
    expected = {joint.name: joint.stiffness for joint in configured}
    if simulated is None or dict(simulated.stiffness) == expected:
        return
    raise ConfigError(
        f"the simulator's flexible joints are {_flexible_text(simulated.stiffness)}, those of this module's"
        f" configuration {_flexible_text(expected)}: start both with the same flexibility.stiffness and"
        " simulation.flexibility.stiffness, as gradiva app run --set does"
    )


def _flexible_text(stiffness: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:g} N·m/rad" for name, value in stiffness.items()) or "none"


def _narrowed(robot: RobotDescription, layers: WalkingLayers, limits: Limits) -> RobotDescription | None:
    """Return the description with the narrower of its limits and the boards'; None where its own are the narrower."""
    ours = {joint: (low, high) for joint, low, high in zip(robot.joints, *layers.joint_limits, strict=True)}
    both = {joint: (max(ours[joint][0], low), min(ours[joint][1], high)) for joint, (low, high) in limits.items()}
    changes = [abs(mine - new) for joint in both for mine, new in zip(ours[joint], both[joint], strict=True)]
    return replace(robot, position_limits=both) if max(changes, default=0.0) > _SAME_LIMIT else None
