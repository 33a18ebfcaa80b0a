"""Runs the staged checklist of a robot on the network, from its ports to its posture."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from gradiva.common import ModelError, NDArray, RobotInterfaceError
from gradiva.common.errors import FAIL, OK, WARN, Finding
from gradiva.middleware import NAMED_ERRORS, is_there, yarp
from gradiva.robot_model import Environment, IdynTreeModel, RobotPorts
from gradiva.setup import Setup, has_wrench_loop, stability_margins
from gradiva.walking import WalkingLayers
from gradiva.yarp_modules.bring_up.checks import (
    BringUpConfig,
    SensorChecks,
    check_axes,
    check_distance,
    check_freshness,
    check_gains,
    check_limits,
    check_modes,
    sampled,
)
from gradiva.yarp_modules.robot.yarp_robot import CARRIER, RobotIoConfig, YarpRobot

_BOARD_REMEDY = "start the robot's yarprobotinterface, the simulator or Gazebo; is this the right --environment?"
_OTHER_REMEDY = "walking does not need it; other programs may"
LOCAL = "/gradiva-doctor"


class BringUp:
    """Checks a robot from its ports to its posture; reads only, commands nothing.

    A stage that fails ends the checklist where the later ones would only repeat it.
    """

    def __init__(
        self, setup: Setup, environment: Environment, start_posture: NDArray | None = None, local: str = LOCAL
    ) -> None:
        """Prepare.

        Args:
            setup: Of the robot.
            environment: Which of its prefixes.
            start_posture: Joint positions where walking begins, [rad], shape (n,); None to have them computed.
            local: Prefix of our own ports.

        Raises:
            WalkingError: The configuration or the model is wrong.
        """
        self._setup = setup
        self._environment = environment
        self._posture = start_posture
        self._local = local
        self._config = setup.part(BringUpConfig, "bring_up")
        self._robot = YarpRobot(setup.robot, environment, setup.part(RobotIoConfig, "robot_io"), local)

    def findings(self) -> Iterator[Finding]:
        """Yield the findings, stage by stage."""
        assert self._setup.robot.ports is not None, "checked by YarpRobot"
        ports, config = self._setup.robot.ports, self._config
        if has_wrench_loop(self._setup):
            yield self._margins()
        required = self._robot.required_ports()
        found = check_ports(ports, self._environment, required)
        yield from found
        if any(finding.verdict == FAIL for finding in found):
            return
        yield from check_rates(
            [port for port in required if port.endswith(":o") and "rpc" not in port], self._local, config
        )
        yield from check_axes(ports, self._environment, self._setup.robot.joints, config, self._local, CARRIER)
        yield from self._with_robot()

    def _with_robot(self) -> Iterator[Finding]:
        try:
            self._robot.open()
            try:
                yield from self._state()
            finally:
                self._robot.close()
        except RobotInterfaceError as error:
            yield Finding(FAIL, str(error), "see the findings above")

    def _state(self) -> Iterator[Finding]:
        robot, joints, config = self._robot, self._setup.robot.joints, self._config
        samples, late = sampled(robot, config.rate_duration)
        yield from check_freshness(late)
        checks = SensorChecks(IdynTreeModel(self._setup.robot), self._environment, config)
        yield from checks.findings(samples)
        yield from check_modes(joints, robot.reported_modes())
        yield from check_gains(robot, config)
        try:
            posture = self._start_posture()
        except NAMED_ERRORS as error:
            yield Finding(FAIL, f"start posture: {error}", "com_height, step_width and posture in robot.toml")
            return
        yield from check_limits(robot, joints, posture, config)
        speed = self._setup.walking.walking.prepare_speed
        yield from check_distance(joints, samples[-1].joint_positions, posture, speed, config)
        yield Finding(OK, "this was the last check; nothing was commanded")

    def _margins(self) -> Finding:
        try:
            return stability_margins(self._setup).finding()
        except (ModelError, np.linalg.LinAlgError) as error:
            return Finding(WARN, f"stability margins are not known: {error}")

    def _start_posture(self) -> NDArray:
        if self._posture is None:
            layers = WalkingLayers(self._setup.robot, self._setup.walking)
            self._posture = layers.start_posture.joint_positions
        return self._posture


@dataclass(frozen=True, slots=True)
class MessageRate:
    """Holds the rate of messages of one port.

    Attributes:
        port: That sends.
        messages: How many came.
        rate: [Hz]; 0 for fewer than two messages.
        jitter: Standard deviation of the times between two messages, [s].
        longest_gap: Between two messages, or to the end of the count, [s].
    """

    port: str
    messages: int
    rate: float
    jitter: float
    longest_gap: float


class _Arrivals(yarp.PortReader):
    """Records the arrival times of messages."""

    def __init__(self) -> None:
        super().__init__()
        self.times: list[float] = []

    def read(self, reader: yarp.ConnectionReader) -> bool:
        """Note the time of a message and read it."""
        self.times.append(time.monotonic())
        return yarp.Bottle().read(reader)


def measured_rates(ports: Sequence[str], local: str, duration: float) -> list[MessageRate]:
    """Listen to all ports at once for ``duration`` [s]; ports that cannot be connected have no messages.

    Args:
        ports: That send.
        local: Prefix of our own ports.
        duration: [s].
    """
    with ExitStack() as stack:
        listeners = [_listen(stack, port, f"{local}/rate{index}:i") for index, port in enumerate(ports)]
        begins = [len(arrivals.times) for arrivals in listeners]
        time.sleep(duration)
        end = time.monotonic()
        counted = [arrivals.times[begin:] for arrivals, begin in zip(listeners, begins, strict=True)]
    return [_rate(port, times, end, duration) for port, times in zip(ports, counted, strict=True)]


def _listen(stack: ExitStack, remote: str, name: str) -> _Arrivals:
    arrivals, port = _Arrivals(), yarp.Port()
    port.setReader(arrivals)
    if port.open(name):
        stack.callback(port.close)
        stack.callback(port.interrupt)
        yarp.Network.connect(remote, name, "fast_tcp", True)
    return arrivals


def _rate(port: str, times: Sequence[float], end: float, duration: float) -> MessageRate:
    if len(times) < 2:
        return MessageRate(port, len(times), 0.0, 0.0, duration)
    gaps = np.diff(times)
    longest = max(float(gaps.max()), end - times[-1])
    return MessageRate(port, len(times), 1.0 / float(gaps.mean()), float(gaps.std()), longest)


def check_ports(ports: RobotPorts, environment: Environment, required: Sequence[str]) -> list[Finding]:
    """Look for all ports of the robot; those that walking needs are ``required``."""
    boards = [ports.full_name(environment, part) for part in ports.boards]
    of_boards = [f"{board}{end}" for board in boards for end in ("/rpc:i", "/command:i", "/stateExt:o")]
    wanted = list(dict.fromkeys([*required, *of_boards]))
    missing = [port for port in wanted if not is_there(port)]
    findings = [Finding(OK, f"{len(wanted) - len(missing)} of {len(wanted)} ports of the robot are there")]
    for device, ends in _by_device(missing).items():
        is_required = any(f"{device}/{end}" in required for end in ends)
        verdict, remedy = (FAIL, _BOARD_REMEDY) if is_required else (WARN, _OTHER_REMEDY)
        findings.append(Finding(verdict, f"{device} is not there: no port {', '.join(ends)}", remedy))
    return findings


def _by_device(ports: Sequence[str]) -> dict[str, list[str]]:
    devices: dict[str, list[str]] = {}
    for port in ports:
        device, _, end = port.rpartition("/")
        devices.setdefault(device, []).append(end)
    return devices


def check_rates(ports: Sequence[str], local: str, config: BringUpConfig) -> list[Finding]:
    """Listen to the ports of boards and sensors."""
    return [_judged(rate, config) for rate in measured_rates(ports, local, config.rate_duration)]


def _judged(rate: MessageRate, config: BringUpConfig) -> Finding:
    period = 1.0 / config.sensor_rate
    text = (
        f"{rate.port}: {rate.rate:.0f} Hz, jitter {1e3 * rate.jitter:.1f} ms, at most {1e3 * rate.longest_gap:.0f} ms"
    )
    if rate.messages < 2:
        return Finding(FAIL, f"{rate.port}: silent", "its device is open but sends nothing: see the log of its process")
    if rate.rate < config.min_rate * config.sensor_rate:
        remedy = f"expected {config.sensor_rate:g} Hz: a busy computer, or another period in the robot's configuration"
        return Finding(FAIL if rate.rate < 0.5 * config.sensor_rate else WARN, text, remedy)
    if rate.longest_gap > config.max_gap * period:
        return Finding(WARN, text, "the network or a computer stalls: use a cable, stop what else runs")
    return Finding(OK, text)
