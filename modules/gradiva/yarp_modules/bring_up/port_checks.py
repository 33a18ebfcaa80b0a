"""Are the ports there, and do they speak often enough?"""

from __future__ import annotations

from collections.abc import Sequence

from gradiva.common.errors import FAIL, OK, WARN, Finding
from gradiva.middleware.asking import is_there
from gradiva.robot_model import Environment, RobotPorts
from gradiva.yarp_modules.bring_up.bring_up_config import BringUpConfig
from gradiva.yarp_modules.bring_up.message_rates import MessageRate, measured_rates

_BOARD_REMEDY = "start the robot's yarprobotinterface, the simulator or Gazebo; is this the right --environment?"
_OTHER_REMEDY = "walking does not need it; what does will not find it"


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
