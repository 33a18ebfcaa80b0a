"""A robot behind its YARP ports: the real one, Gazebo's, or our simulator's."""

from __future__ import annotations

import logging
import math
import time as machine_time
from collections.abc import Sequence

import numpy as np

from gradiva.common import (
    ControlMode,
    JointCommand,
    LateSource,
    Measurement,
    NDArray,
    RobotInterfaceError,
    configuration,
    setting,
)
from gradiva.middleware import PersistentConnections, RateLimitedLog, is_there, yarp
from gradiva.robot_model import Environment, IdynTreeModel, RobotDescription, RobotPorts
from gradiva.yarp_modules.module_options import robot_ports
from gradiva.yarp_modules.network_clock import control_time
from gradiva.yarp_modules.robot.contact_wrenches import WrenchSource, contact_wrenches
from gradiva.yarp_modules.robot.joint_boards import (
    DriveReadings,
    JointSample,
    Limits,
    MotorTemperatures,
    PidGains,
    RemoteJoints,
    differences,
    gain_differences,
    read_limits,
    read_pids,
    table_lines,
)
from gradiva.yarp_modules.robot.joint_modes import BoardOrders, JointModes, hold_in_position_mode
from gradiva.yarp_modules.robot.sensors import (
    NO_ATTITUDE,
    FlexibleJointsPort,
    FloatingBase,
    FloatingBasePort,
    RemoteImu,
    SourceClock,
    TrueDeflections,
)

_LOGGER = logging.getLogger("gradiva.robot")
_GAIN_TOLERANCE = 0.01  # [-] of a left joint's gains from the right one's
_POLL = 0.005  # [s] between two looks for the first samples
_SILENCE = 1.0  # [s] of the machine without a new sample of a source, then its connections are looked at
_DRIVES_PERIOD = 0.01  # [s] between two looks at currents and duty cycles: boards send no more of them
_STAMP_ROUNDING = 1e-6  # [s] boards send a stamp as text, sensor servers as a number: its last digits differ


CARRIER = "fast_tcp"  # of all connections: nothing is lost on a cable, and no acknowledgement is waited for
_VELOCITY_ACCELERATION = 1000.0  # [deg/s²] of the boards' velocity ramps: fast enough not to be seen by the loop
_RELEASE_SPEED = 10.0  # [deg/s] largest speed of joints in position mode after the release
_LIMIT_TOLERANCE = 0.5  # [deg] by which limits of robot and model may differ without a warning


@configuration
class RobotIoConfig:
    """Configures connections, ages and time limits: table ``[robot_io]``.

    Attributes:
        wrenches: By the sensors themselves, or by the ports of ``wholeBodyDynamics``.
        floating_base: Whether the true motion of the base is read, where a simulator publishes it.
        max_age: A source whose last sample is older is late, [s].
        first_sample_timeout: In which every source has to send once, [s].
        mode_timeout: In which all joints have to report a control mode, [s].
        temperature_period: Between two questions for the motors' temperatures; 0 for none, [s].
    """

    wrenches: WrenchSource
    floating_base: bool
    max_age: float = setting("s", above=0.0)
    first_sample_timeout: float = setting("s", above=0.0)
    mode_timeout: float = setting("s", above=0.0)
    temperature_period: float = setting("s", least=0.0)


class YarpRobot:
    """Reads and commands a robot over its ports, as a ``RobotInterface``; the controller does not know which one.

    A source that is late or not finite is named in ``late`` and in the log. A wrench or an inertial unit then reads
    NaN (a stale wrench is refused here); encoders keep their last sample, whose time shows its age: the safety
    supervisor decides about either. An error is raised only where there is nothing to read at all. Boards and servers
    that restart are reached again, with the real bindings by our own connections, which theirs do not make twice; their
    joints have then left their mode, which `write` reports until `rearm`.

    All conversions (degrees, frames, signs, clocks) happen here and in the parts.
    """

    def __init__(
        self,
        description: RobotDescription,
        environment: Environment,
        config: RobotIoConfig,
        local: str,
        lockstep: bool = False,
    ) -> None:
        """Prepare; `open` reaches the robot.

        Args:
            description: Which robot.
            environment: Which of its prefixes.
            config: Connections, ages and time limits.
            local: Prefix of our own ports, such as ``/walking``.
            lockstep: Whether the robot's simulator waits for us, so that we may wait for it.

        Raises:
            ConfigError: The robot has no ports.
            ModelError: Its sensors do not sit where the description has them.
        """
        ports = robot_ports(description)
        model = IdynTreeModel(description)
        self._config = config
        self._local, self._is_lockstep = local, lockstep
        self._model_limits = model.joint_limits()
        self._wrenches = contact_wrenches(model, environment, config.wrenches)
        self._is_sensed = np.array([sensor.is_real for sensor in description.force_torque_sensors])
        self._imu = RemoteImu(model, environment)
        self._temperatures = MotorTemperatures(
            len(description.joints), config.temperature_period, are_silent=lambda: bool(self._late)
        )
        self._drives, self._drives_due = DriveReadings(len(description.joints), environment), -math.inf
        self._drive_signals: dict[str, NDArray] = {}
        base = FloatingBasePort(ports.full_name(environment, ports.floating_base))
        self._base = base if config.floating_base else None
        flexible = FlexibleJointsPort(ports.full_name(environment, ports.flexible_joints))
        self._flexible = flexible if environment is Environment.SIMULATION else None
        self._make_joints(description.joints, ports, environment, lockstep)
        sources = self._joints, self._wrenches, self._imu
        self._connections = PersistentConnections(
            [connection for source in sources for connection in source.connections(local, CARRIER)],
            healthy_period=_SILENCE,
            is_needed=lambda: bool(self.silent_sources()),
            are_made=True,
        )
        self._given_up = [math.nan] * len(self._clocks)  # times of sources that lockstep does not wait for
        self._apart_since = math.inf  # [s] of the machine: the sources have not sent the same sample
        self._last: JointSample | None = None
        self._last_command: JointCommand | None = None
        self._lateness = RateLimitedLog(_LOGGER)
        self._late: tuple[LateSource, ...] = ()

    def _make_joints(self, joints: Sequence[str], ports: RobotPorts, environment: Environment, lockstep: bool) -> None:
        boards = [ports.full_name(environment, ports.board_of(joint)) for joint in joints]
        names = tuple(dict.fromkeys(boards))
        self._sources = [*(f"encoders of {name}" for name in names), *self._wrenches.names, self._imu.name]
        self._clocks = [SourceClock(self._config.max_age, yarp.isNetworkClock()) for _ in self._sources]
        self._boards = len(names)
        self._joints = RemoteJoints(joints, boards, self._clocks[: self._boards])
        indices = {name: [joint for joint, board in enumerate(boards) if board == name] for name in names}
        self._orders = BoardOrders(indices)
        config = self._config
        self._modes = JointModes(joints, self._orders, config.mode_timeout, _VELOCITY_ACCELERATION, waits=lockstep)

    # -- beginning and end -------------------------------------------------------------------------------------

    def required_ports(self) -> list[str]:
        """Return the ports of the robot that have to be there before `open`."""
        return list(dict.fromkeys([*self._joints.ports, *self._wrenches.ports, *self._imu.ports]))

    def missing_ports(self) -> list[str]:
        """Return those of `required_ports` that are not there; a question to each of them."""
        return [port for port in self.required_ports() if not is_there(port)]

    def open(self) -> None:
        """Reach the robot and wait until every sensor has sent a sample.

        Raises:
            RobotInterfaceError: A port or a sensor is not there; nothing stays open.
        """
        if missing := self.missing_ports():
            raise RobotInterfaceError(f"the robot is not there: no port {', '.join(missing)}")
        try:
            self._open_parts()
            self._await_first_samples()
        except Exception:  # of any kind: what stays open would keep its names from the next attempt
            self._close_parts()
            raise
        _LOGGER.info("reached %s", ", ".join(self._joints.board_names))
        self._log_gains()

    def close(self) -> None:
        """Let the boards hold the joints in position mode, if they were commanded; then leave the robot."""
        last, self._last_command = self._last_command, None
        try:
            if last is not None:
                self._release(last)
        finally:
            self._close_parts()

    # -- RobotInterface ----------------------------------------------------------------------------------------

    def read(self) -> Measurement:
        """Return the newest sample of all sensors.

        Raises:
            RobotInterfaceError: Not every source has sent a sample yet.
        """
        now = control_time()
        sample = self._joints.read() or self._last
        sensed, taken = self._contact_wrenches(now)
        imu = self._imu.read(self._clocks[-1])
        self._note_late(now)
        silent = self._silent()
        if sample is None or silent:
            raise RobotInterfaceError(f"no sample yet of {', '.join(silent or self._sources[: self._boards])}")
        self._last = sample
        if self._clocks[-1].is_late(now):
            imu = NO_ATTITUDE
        return Measurement(
            time=min(sample.time, now),  # of what came while this was held up, too
            joint_positions=sample.positions,
            joint_velocities=sample.velocities,
            joint_torques=sample.torques,
            contact_wrenches=sensed,
            imu=imu,
            motor_temperatures=self._temperatures.latest,
            contact_wrenches_time=taken,
            late=self._late,
        )

    def _contact_wrenches(self, now: float) -> tuple[NDArray, float | None]:
        """Return the wrenches, NaN of places without sensor and of late ones, and their time, [s]; None without any."""
        clocks = self._clocks[self._boards : -1]
        read = self._wrenches.read(clocks)
        read[[clock.is_late(now) for clock in clocks]] = np.nan
        wrenches = np.full((len(self._is_sensed), 6), np.nan)
        wrenches[self._is_sensed] = read
        return wrenches, min((min(clock.time, now) for clock in clocks), default=None)

    def write(self, command: JointCommand) -> None:
        """Send a command; the first one of a mode switches all joints, and until they are there they are held.

        Raises:
            RobotInterfaceError: The command has the wrong size or is not finite, or could not be sent.
            ControlModeLost: Joints have left the mode or did not get there; the others are commanded all the same.
        """
        if command.values.shape != (len(self._joints.joints),) or not np.isfinite(command.values).all():
            raise RobotInterfaceError(f"a command must be {len(self._joints.joints)} finite numbers: {command.values}")
        now = control_time()
        self._modes.engage(command.mode, now)
        self._last_command = command
        self._joints.stream(self._modes.admitted(command))
        self._modes.check(now)

    # -- beyond it ---------------------------------------------------------------------------------------------

    @property
    def late(self) -> tuple[str, ...]:
        """Sources that were late in the last `read`."""
        return tuple(source.name for source in self._late)

    @property
    def is_engaged(self) -> bool:
        """Return whether all joints have reported the mode of the commands."""
        return self._modes.is_engaged

    def rearm(self) -> None:
        """Switch all joints to position direct anew, in which they hold; to be called when the robot is prepared.

        That is ordered before the first set-point, so that in lockstep the simulator waits for it; otherwise the boards
        carry it out beside the tick.
        """
        self._modes.rearm()
        self._modes.engage(ControlMode.POSITION, control_time())

    def sample_time(self) -> float:
        """Return the time of the newest sample of all sources, [s]; −∞ before the first. Cheap, for lockstep.

        A source that does not send what others have sent is not waited for any more until it sends again: the simulator
        goes on without our commands, and the safety supervisor has to see that the source is late.
        """
        self._last = self._joints.read() or self._last
        self._wrenches.read(self._clocks[self._boards : -1])
        self._imu.read(self._clocks[-1])
        times = [clock.time for clock in self._clocks]
        awaited = [time for time, given_up in zip(times, self._given_up, strict=True) if time != given_up]
        if not awaited or max(awaited) - min(awaited) < _STAMP_ROUNDING:
            self._apart_since = math.inf
            return min(awaited or times)
        self._apart_since = min(self._apart_since, machine_time.monotonic())
        if machine_time.monotonic() - self._apart_since > _SILENCE:
            newest = max(awaited) - _STAMP_ROUNDING
            self._given_up = [time if time < newest else math.nan for time in times]
        return min(awaited)

    def silent_sources(self) -> list[str]:
        """Return the sources that have sent nothing new for a second of the machine, also where time stands still."""
        limit = machine_time.monotonic() - _SILENCE
        return [name for name, clock in zip(self._sources, self._clocks, strict=True) if clock.arrival < limit]

    def lost_connections(self) -> list[str]:
        """Return the ports that a silent source should send from or listen at, and is not connected by."""
        if not self.silent_sources():
            return []
        lost = [each for each in self._connections.status() if not each.is_connected]
        return [each.destination if each.source.startswith(self._local) else each.source for each in lost]

    def drive_signals(self) -> dict[str, NDArray]:
        """Return what the boards send of their motors, at most 10 ms old, by `DRIVE_SIGNALS`; for the black box."""
        if (now := control_time()) >= self._drives_due or now < self._drives_due - 2.0 * _DRIVES_PERIOD:
            self._drives_due = now + _DRIVES_PERIOD
            self._drive_signals = self._drives.read()
        return self._drive_signals

    def floating_base(self) -> FloatingBase | None:
        """Return the true motion of the base; None where it is not published or not read."""
        return None if self._base is None else self._base.read()

    def true_deflections(self) -> TrueDeflections | None:
        """Return the deflections of a simulated robot's links, none of a rigid one; None where nothing publishes it."""
        return None if self._flexible is None else self._flexible.read()

    def limits(self) -> Limits:
        """Return the position limits of the boards, [rad], and log where they are not the model's.

        Raises:
            RobotInterfaceError: A board does not report them.
        """
        limits = read_limits(self._joints.driver, self._joints.joints)
        tolerance = float(np.deg2rad(_LIMIT_TOLERANCE))
        for line in differences(limits, self._joints.joints, *self._model_limits, tolerance):
            _LOGGER.warning("limits differ, the narrower hold: %s", line)
        return limits

    def pids(self) -> dict[str, PidGains]:
        """Return the gains of the boards' position loops.

        Raises:
            RobotInterfaceError: The boards do not report them.
        """
        return read_pids(self._joints.driver, self._joints.joints)

    def reported_modes(self) -> list[int] | None:
        """Return the control mode of each joint as a vocab; None where a board is silent."""
        return self._modes.reported()

    @property
    def model_limits(self) -> tuple[NDArray, NDArray]:
        """Lower and upper joint positions of the model, [rad], shape (n,) each."""
        return self._model_limits

    # ----------------------------------------------------------------------------------------------------------

    def _release(self, last: JointCommand) -> None:
        answering_first = sorted(self._joints.board_names, key=lambda name: f"encoders of {name}" in self.late)
        if not any(is_there(f"{name}/rpc:i") for name in answering_first):  # one that hangs costs a timeout
            _LOGGER.warning("the robot is gone: it cannot be commanded to hold its position")
            return
        positions = None if self._last is None else self._last.positions
        hold_in_position_mode(self._joints.driver, self._orders, last, positions, _RELEASE_SPEED)

    def _open_parts(self) -> None:
        config, local = self._config, self._local
        timeout = 2.0 * config.max_age  # of the clients, whose error has no names: ours ends first
        self._joints.open(local, CARRIER, self._is_lockstep)
        self._modes.open(self._joints.driver)
        self._orders.open()
        self._wrenches.open(local, CARRIER, timeout)
        self._imu.open(local, CARRIER, timeout)
        for port in self._truths():
            port.open(local, CARRIER)
        self._temperatures.open(self._joints.driver)
        self._drives.open(self._joints.driver)
        self._connections.start()

    def _truths(self) -> list[FloatingBasePort | FlexibleJointsPort]:
        return [port for port in (self._base, self._flexible) if port is not None]

    def _close_parts(self) -> None:
        self._connections.stop()
        is_asking = not self._temperatures.close()
        for port in self._truths():
            port.close()
        self._imu.close()
        self._wrenches.close()
        if self._orders.close() and not is_asking:
            self._joints.close()
        else:  # a device must not be closed while one of its calls is under way
            hanging = ", ".join(self._orders.pending()) or "boards"
            _LOGGER.warning("%s hang: their connections stay open", hanging)

    def _await_first_samples(self) -> None:
        published = self._flexible is not None and is_there(self._flexible.remote)
        deadline = machine_time.monotonic() + self._config.first_sample_timeout
        self.sample_time()
        while silent := [*self._silent(), *self._silent_truth(published)]:
            if machine_time.monotonic() > deadline:
                raise RobotInterfaceError(f"no sample of {', '.join(silent)}")
            machine_time.sleep(_POLL)
            self.sample_time()

    def _silent_truth(self, is_published: bool) -> list[str]:
        """Return the port of the true deflections, if it is published and has sent nothing yet."""
        if self._flexible is None or not is_published or self._flexible.read() is not None:
            return []
        return [self._flexible.remote]

    def _log_gains(self) -> None:
        try:
            pids = self.pids()
        except RobotInterfaceError as error:
            _LOGGER.warning("%s", error)
            return
        _LOGGER.debug("gains of the position loops:\n%s", "\n".join(table_lines(pids)))
        for line in gain_differences(pids, {}, _GAIN_TOLERANCE):
            _LOGGER.warning("gains of the position loops: %s", line)

    def _silent(self) -> list[str]:
        return [source for source, clock in zip(self._sources, self._clocks, strict=True) if not clock.has_spoken]

    def _note_late(self, now: float) -> None:
        clocks = zip(self._sources, self._clocks, strict=True)
        late = tuple(LateSource(name, now - clock.time) for name, clock in clocks if clock.is_late(now))
        if late:
            names = ", ".join(map(str, late))
            self._lateness.warning("the newest sample is older than %g s: %s", self._config.max_age, names)
        elif self._late:
            _LOGGER.info("all sources send again: %s were late", ", ".join(self.late))
        self._late = late
