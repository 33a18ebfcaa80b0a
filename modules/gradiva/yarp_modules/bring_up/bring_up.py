"""The staged checklist of a robot on the network."""

from __future__ import annotations

from collections.abc import Iterator

from gradiva.common import NDArray, RobotInterfaceError
from gradiva.common.finding import FAIL, OK, Finding
from gradiva.middleware import NAMED_ERRORS
from gradiva.robot_model import Environment, IdynTreeModel
from gradiva.setup import Setup
from gradiva.walking import WalkingLayers
from gradiva.yarp_modules.bring_up.board_checks import (
    check_axes,
    check_distance,
    check_gains,
    check_limits,
    check_modes,
)
from gradiva.yarp_modules.bring_up.bring_up_config import BringUpConfig
from gradiva.yarp_modules.bring_up.port_checks import check_ports, check_rates
from gradiva.yarp_modules.bring_up.sensor_checks import SensorChecks, check_freshness, sampled
from gradiva.yarp_modules.robot.robot_io_config import RobotIoConfig
from gradiva.yarp_modules.robot.yarp_robot import YarpRobot

LOCAL = "/gradiva-doctor"


class BringUp:
    """Looks at a robot from its ports to its posture; reads alone, commands nothing.

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
            local: Beginning of the names of our own ports.

        Raises:
            WalkingError: The configuration or the model is wrong.
        """
        self._setup = setup
        self._environment = environment
        self._posture = start_posture
        self._local = local
        self._config = setup.part(BringUpConfig, "bring_up")
        self._io = setup.part(RobotIoConfig, "robot_io")
        self._robot = YarpRobot(setup.robot, environment, self._io, local)

    def findings(self) -> Iterator[Finding]:
        """Yield what is found, stage by stage."""
        assert self._setup.robot.ports is not None, "YarpRobot has looked"
        ports, config = self._setup.robot.ports, self._config
        required = self._robot.required_ports()
        found = check_ports(ports, self._environment, required)
        yield from found
        if any(finding.verdict == FAIL for finding in found):
            return
        yield from check_rates(
            [port for port in required if port.endswith(":o") and "rpc" not in port], self._local, config
        )
        yield from check_axes(ports, self._environment, self._setup.robot.joints, config, self._local, self._io.carrier)
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

    def _start_posture(self) -> NDArray:
        if self._posture is None:
            layers = WalkingLayers(self._setup.robot, self._setup.walking)
            self._posture = layers.start_posture.joint_positions
        return self._posture
