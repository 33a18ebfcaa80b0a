"""Are the ports there, and do they speak often enough?"""

from __future__ import annotations

from collections.abc import Sequence

from gradiva.common.finding import FAIL, OK, WARN, Finding
from gradiva.middleware import yarp
from gradiva.robot_model import Environment, RobotPorts
from gradiva.yarp_modules.bring_up.bring_up_config import BringUpConfig
from gradiva.yarp_modules.bring_up.message_rates import MessageRate, measured_rates

_BOARD_REMEDY = "start the robot's yarprobotinterface, the simulator or Gazebo; is this the right --environment?"
_OTHER_REMEDY = "walking does not need it; what does will not find it"


def check_ports(ports: RobotPorts, environment: Environment, required: Sequence[str]) -> list[Finding]:
    """Look for all ports of the robot; those that walking needs are ``required``."""
    boards = [ports.full_name(environment, part) for part in ports.boards]
    others = [f"{board}{end}" for board in boards for end in ("/rpc:i", "/command:i", "/stateExt:o")]
    findings = [
        Finding(FAIL, f"port {port} is not there", _BOARD_REMEDY) for port in required if not yarp.Network.exists(port)
    ]
    findings += [
        Finding(WARN, f"port {port} is not there", _OTHER_REMEDY)
        for port in others
        if port not in required and not yarp.Network.exists(port)
    ]
    found = len(set(required) | set(others)) - len(findings)
    return [Finding(OK, f"{found} ports of the robot are there"), *findings]


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
