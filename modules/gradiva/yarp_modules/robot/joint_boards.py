"""Reads and commands the joints of a robot's control boards; reads back their limits, gains and temperatures."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from gradiva.common import ConfigError, ControlMode, JointCommand, NDArray, RobotInterfaceError
from gradiva.middleware import yarp
from gradiva.robot_model import Environment
from gradiva.session import DRIVE_SIGNALS
from gradiva.yarp_modules.network_clock import control_time
from gradiva.yarp_modules.robot.sensors import SourceClock

T = TypeVar("T")
Limits = dict[str, tuple[float, float]]
_JOIN_TIMEOUT = 1.0  # [s] for a question to end


@dataclass(frozen=True, slots=True, eq=False)
class JointSample:
    """Holds the last measurements of the boards, in the order of the description.

    Attributes:
        time: When the oldest part was measured, [s].
        positions: [rad], shape (n,).
        velocities: [rad/s], shape (n,).
        torques: [N·m], shape (n,); NaN where the boards measure none.
    """

    time: float
    positions: NDArray
    velocities: NDArray
    torques: NDArray


class RemoteJoints:
    """Joins the joints of several boards to one part, and converts degrees to radians.

    Attributes:
        joints: In the order of the description.
        board_names: Full names of the boards, each once.
        driver: The device, for limits, gains and control modes.
    """

    def __init__(self, joints: Sequence[str], boards: Sequence[str], clocks: Sequence[SourceClock]) -> None:
        """Prepare; `open` reaches the boards.

        Args:
            joints: In the order of the description.
            boards: Full name of the board of each joint.
            clocks: One for each board, in the order of ``board_names``.
        """
        self.joints = tuple(joints)
        self.board_names = tuple(dict.fromkeys(boards))
        self.driver = yarp.PolyDriver()
        self._first_joints = [boards.index(name) for name in self.board_names]
        self._clocks = dict(zip(self.board_names, clocks, strict=True))
        count = len(self.joints)
        self._positions, self._stamps = yarp.DVector(count), yarp.DVector(count)
        self._velocities, self._torques = yarp.DVector(count), yarp.DVector(count)

    @property
    def ports(self) -> list[str]:
        """The ports of the boards."""
        return [f"{name}{end}" for name in self.board_names for end in ("/rpc:i", "/command:i", "/stateExt:o")]

    def connections(self, local: str, carrier: str) -> list[tuple[str, str, str]]:
        """Return source, destination and carrier of the connections that the device makes, once, below ``local``."""
        return [
            connection
            for name in self.board_names
            for connection in (
                (f"{name}/stateExt:o", f"{local}{name}/stateExt:i", carrier),
                (f"{local}{name}/command:o", f"{name}/command:i", carrier),
                (f"{local}{name}/rpc:o", f"{name}/rpc:i", "tcp"),
            )
        ]

    def open(self, local: str, carrier: str, is_lockstep: bool = False) -> None:
        """Reach all boards.

        Args:
            local: Prefix of our own ports.
            carrier: Of states and commands.
            is_lockstep: Whether each command is waited for: the real bindings drop one while the last is being sent.

        Raises:
            RobotInterfaceError: A board is not there, or lacks a joint.
        """
        config, strict = yarp.Property(), " (writeStrict on)" * is_lockstep
        config.fromString(
            f"(device remotecontrolboardremapper) (axesNames ({' '.join(self.joints)})) "
            f"(remoteControlBoards ({' '.join(self.board_names)})) (localPortPrefix {local}) "
            f"(REMOTE_CONTROLBOARD_OPTIONS (carrier {carrier}){strict})"
        )
        if not self.driver.open(config):
            raise RobotInterfaceError(f"the boards {', '.join(self.board_names)} were not opened: the log says why")
        self._encoders = required(self.driver.viewIEncodersTimed(), "encoders")
        self._torque_control = required(self.driver.viewITorqueControl(), "torque control")
        self._position_direct = required(self.driver.viewIPositionDirect(), "position direct")
        self._velocity_control = required(self.driver.viewIVelocityControl(), "velocity control")

    def close(self) -> None:
        """Leave the boards."""
        self.driver.close()

    def read(self) -> JointSample | None:
        """Return what was measured last; None where a board has been silent for too long."""
        if not self._encoders.getEncodersTimed(self._positions, self._stamps):
            self._look_at_each_board()
            return None
        now = control_time()
        for name, joint in zip(self.board_names, self._first_joints, strict=True):
            self._clocks[name].update(self._stamps[joint], now)
        if not self._encoders.getEncoderSpeeds(self._velocities):
            return None
        measures_torques = self._torque_control.getTorques(self._torques)
        return JointSample(
            min(clock.time for clock in self._clocks.values()),
            np.deg2rad(list(self._positions)),
            np.deg2rad(list(self._velocities)),
            np.array(list(self._torques)) if measures_torques else np.full(len(self.joints), math.nan),
        )

    def stream(self, command: JointCommand) -> None:
        """Send set-points to all boards.

        Raises:
            RobotInterfaceError: They could not be sent.
        """
        if command.mode is ControlMode.POSITION:
            is_sent = self._position_direct.setPositions(_degrees(command.values))
        elif command.mode is ControlMode.VELOCITY:
            is_sent = self._velocity_control.velocityMove(_degrees(command.values))
        else:
            is_sent = self._torque_control.setRefTorques(yarp.DVector(command.values.tolist()))
        if not is_sent:
            raise RobotInterfaceError(f"the command ({command.mode}) could not be sent to the boards")

    def _look_at_each_board(self) -> None:
        position, stamp = yarp.DVector(1), yarp.DVector(1)
        for name, joint in zip(self.board_names, self._first_joints, strict=True):
            if self._encoders.getEncoderTimed(joint, position, stamp):
                self._clocks[name].update(stamp[0], control_time())


class DriveReadings:
    """Reads what boards send of their motors beside temperatures: positions, currents and duty cycles."""

    def __init__(self, joints: int, environment: Environment) -> None:
        """Prepare for so many joints; boards of simulations send neither currents nor duty cycles."""
        self._names = DRIVE_SIGNALS[: None if environment is Environment.HARDWARE else 1]
        self._values = yarp.DVector(joints)
        self._ways: dict[str, tuple[Callable[[yarp.DVector], bool], float]] = {}
        self._sent: set[str] = set()

    def open(self, driver: yarp.PolyDriver) -> None:
        """Begin to read these boards."""
        ways = (
            ("viewIMotorEncoders", "getMotorEncoders", math.radians(1.0)),
            ("viewICurrentControl", "getCurrents", 1.0),
            ("viewIPWMControl", "getDutyCycles", 1.0),
        )
        for name, (view, method, unit) in zip(self._names, ways, strict=False):
            interface = getattr(driver, view, lambda: None)()  # not all bindings have all interfaces
            if (read := getattr(interface, method, None)) is not None:
                self._ways[name] = (read, unit)

    def read(self) -> dict[str, NDArray]:
        """Return the last ones, by the names of `DRIVE_SIGNALS`; those not sent at first are not read again."""
        found = {}
        for name, (read, unit) in list(self._ways.items()):
            if read(self._values):
                found[name] = unit * np.array(list(self._values))
                self._sent.add(name)
            elif name not in self._sent:
                del self._ways[name]
        return found


def required(view: T | None, what: str) -> T:
    """Return an interface of a device.

    Raises:
        RobotInterfaceError: The device has none.
    """
    if view is None:
        raise RobotInterfaceError(f"the boards offer no {what}")
    return view


def _degrees(radians: NDArray) -> yarp.DVector:
    return yarp.DVector(np.rad2deg(radians).tolist())


def read_limits(driver: yarp.PolyDriver, joints: Sequence[str]) -> Limits:
    """Return lower and upper position of each joint, [rad], as the boards report them.

    Raises:
        RobotInterfaceError: A board does not report them.
    """
    limits = required(driver.viewIControlLimits(), "joint limits")
    reported: Limits = {}
    lower, upper = yarp.DVector(1), yarp.DVector(1)
    for index, joint in enumerate(joints):
        if not limits.getLimits(index, lower, upper):
            raise RobotInterfaceError(f"the board of {joint} does not report its limits")
        if lower[0] < upper[0]:  # equal ones mean that there are none
            reported[joint] = (math.radians(lower[0]), math.radians(upper[0]))
    return reported


def differences(reported: Limits, joints: Sequence[str], lower: NDArray, upper: NDArray, tolerance: float) -> list[str]:
    """Return a line for each joint whose limits on the robot are not those of the model.

    Args:
        reported: By the boards, [rad].
        joints: In the order of the description.
        lower: Of the model, [rad], shape (n,).
        upper: Of the model, [rad], shape (n,).
        tolerance: [rad].
    """
    lines = []
    for index, joint in enumerate(joints):
        ours = (float(lower[index]), float(upper[index]))
        theirs = reported.get(joint, ours)
        if any(abs(mine - other) > tolerance for mine, other in zip(ours, theirs, strict=True)):
            lines.append(f"{joint}: robot {_limits_text(theirs)}, model {_limits_text(ours)}")
    return lines


def check_start_posture(reported: Limits, joints: Sequence[str], positions: NDArray) -> None:
    """Pass when the start posture lies within the limits of the boards.

    Raises:
        ConfigError: It does not; carries each joint.
    """
    outside = [
        f"{joint} at {math.degrees(position):.1f}° is outside {_limits_text(reported[joint])}"
        for joint, position in zip(joints, positions, strict=True)
        if joint in reported and not reported[joint][0] <= position <= reported[joint][1]
    ]
    if outside:
        raise ConfigError(f"the start posture lies outside the robot's limits: {'; '.join(outside)}")


def _limits_text(limits: tuple[float, float]) -> str:
    return f"{math.degrees(limits[0]):.1f}° to {math.degrees(limits[1]):.1f}°"


@dataclass(frozen=True, slots=True)
class PidGains:
    """Holds the gains of one joint's position loop, in the units of its board.

    Attributes:
        kp: Proportional.
        kd: Derivative.
        ki: Integral.
    """

    kp: float
    kd: float
    ki: float = 0.0


def read_pids(driver: yarp.PolyDriver, joints: Sequence[str]) -> dict[str, PidGains]:
    """Return the gains of each joint's position loop.

    Raises:
        RobotInterfaceError: The boards do not report them.
    """
    pids = yarp.PidVector(len(joints))
    view = required(driver.viewIPidControl(), "control loops")
    if not view.getPids(yarp.encode("pos"), pids):  # the bindings have no constant for it
        raise RobotInterfaceError("the boards do not report the gains of their position loops")
    return {joint: PidGains(pid.kp, pid.kd, pid.ki) for joint, pid in zip(joints, list(pids), strict=True)}


def table_lines(pids: Mapping[str, PidGains]) -> list[str]:
    """Return the table in lines of text."""
    return [f"{joint:24s} kp {gains.kp:10g}  kd {gains.kd:10g}  ki {gains.ki:10g}" for joint, gains in pids.items()]


def gain_differences(pids: Mapping[str, PidGains], expected: Mapping[str, PidGains], tolerance: float) -> list[str]:
    """Return a line for each joint whose gains are not those expected, not those of its twin, or zero.

    Args:
        pids: As read back.
        expected: By joint; those left out may be any.
        tolerance: Relative, [-].
    """
    lines = [f"{joint}: kp is 0, the joint will not hold" for joint, gains in pids.items() if gains.kp == 0.0]
    for joint, gains in pids.items():
        if joint in expected and not _are_alike(gains, expected[joint], tolerance):
            lines.append(f"{joint}: {_gains_text(gains)}, expected {_gains_text(expected[joint])}")
        twin = twin_of(joint)
        if twin in pids and not _are_alike(gains, pids[twin], tolerance):
            lines.append(f"{joint}: {_gains_text(gains)}, but {twin}: {_gains_text(pids[twin])}")
    return lines


def twin_of(joint: str) -> str:
    """Return the right joint to a left one; empty for others."""
    if joint.startswith("l_"):
        return "r_" + joint[2:]
    return joint.replace("_left_", "_right_") if "_left_" in joint else ""


def _are_alike(one: PidGains, other: PidGains, tolerance: float) -> bool:
    pairs = ((one.kp, other.kp), (one.kd, other.kd), (one.ki, other.ki))
    return all(abs(abs(a) - abs(b)) <= tolerance * max(abs(a), abs(b)) for a, b in pairs)  # motors may be mirrored


def _gains_text(gains: PidGains) -> str:
    return f"kp {gains.kp:g}, kd {gains.kd:g}, ki {gains.ki:g}"


class MotorTemperatures:
    """Polls the boards' motor temperatures in a thread of its own: a board that hangs does not delay the control.

    Boards that are silent are not asked, and those that have come back are asked again.

    Attributes:
        latest: [°C], shape (n,), NaN for a motor without sensor; None while the boards report none.
    """

    def __init__(self, motors: int, period: float, are_silent: Callable[[], bool]) -> None:
        """Prepare for so many motors, asked every ``period`` [s]; 0 asks for nothing."""
        self.latest: NDArray | None = None
        self._motors = motors
        self._period = period
        self._are_silent = are_silent
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def open(self, driver: yarp.PolyDriver) -> None:
        """Begin to ask these boards, if they have motors."""
        motors = driver.viewIMotor()
        if motors is not None and self._period > 0.0:
            self._stop.clear()
            self._thread = threading.Thread(target=self._run, args=(motors,), name="motor temperatures", daemon=True)
            self._thread.start()

    def close(self) -> bool:
        """Stop asking; False where a board has not answered the last question yet."""
        self._stop.set()
        thread, self._thread = self._thread, None
        if thread is None:
            return True
        thread.join(_JOIN_TIMEOUT)
        return not thread.is_alive()

    def _run(self, motors: yarp.IMotor) -> None:
        reported = yarp.DVector(self._motors)
        is_first = True
        while not self._stop.wait(0.0 if is_first else self._period):
            is_read = not self._are_silent() and motors.getTemperatures(reported)
            if is_first and not is_read:
                return  # these boards have none
            self.latest = plausible(np.array(list(reported))) if is_read else None
            is_first = False


def plausible(temperatures: NDArray) -> NDArray | None:
    """Return temperatures with NaN for motors without sensor, of which boards report zero and below.

    None where no motor has one.
    """
    with_sensor = np.where(temperatures > 0.0, temperatures, np.nan)
    return None if np.isnan(with_sensor).all() else with_sensor
