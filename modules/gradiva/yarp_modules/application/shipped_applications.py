"""Writes the applications that come with Gradiva: ``python -m gradiva.yarp_modules.application.shipped_applications``.

One for each robot, place and form. What they share is written here, and what differs is taken from the robot's
description: the files cannot disagree with the ports that the modules use.

yarpmanager gives up a module that does not run about ten seconds after *Run all*. So no module depends on a port of
another one of ours: they wait for each other by themselves, and all run at once. What Gazebo or the robot opens, which
runs before, is a dependency. A joypad, which may come at any time, connects itself: as a connection of the application
it would be reported as failed wherever there is none.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from xml.sax.saxutils import escape

from gradiva.common import ConfigError, nearest_name
from gradiva.robot_model import Environment, ForceTorqueServer, RobotDescription
from gradiva.setup import load_robot, robot_argument, robots_with_ports
from gradiva.yarp_modules.module_options import robot_ports
from gradiva.yarp_modules.remote_layers import layer_connections

_TIMEOUT = 60  # [s] for the ports of Gazebo and of the robot, which start slowly
_CONTROLLER, _PLANNER, _MODEL_CONTROL = "/walking-coordinator", "/planner", "/model-control"
_LAYERS = layer_connections(f"{_CONTROLLER}/whole-body", _PLANNER, _MODEL_CONTROL, "fast_tcp")


class Place(StrEnum):
    """Names the plant: our simulator, Gazebo, or the robot."""

    SIMULATION = "simulation"
    GAZEBO = "gazebo"
    HARDWARE = "hardware"


@dataclass(frozen=True, slots=True)
class ShippedApplication:
    """Describes one of the applications.

    Attributes:
        robot: Its description.
        place: Its plant.
        is_split: Whether the three layers are three processes.
        robot_argument: By which the modules find the robot; its name by default.
    """

    robot: RobotDescription
    place: Place
    is_split: bool
    robot_argument: str = ""

    @property
    def name(self) -> str:
        """Name of the application, and of its file without ``.xml``."""
        return f"{self.robot.name}-{self.place}{'-three' if self.is_split else ''}"

    def text(self) -> str:
        """Return the contents of the file.

        Raises:
            ConfigError: The robot has no ports on the YARP network.
        """
        robot_ports(self.robot)
        connections = map(_connection, _LAYERS if self.is_split else [])
        return "\n\n".join([self._head(), *self._modules(), *connections, "</application>\n"])

    def _head(self) -> str:
        where = {Place.SIMULATION: "in simulation", Place.GAZEBO: "in Gazebo", Place.HARDWARE: "on the robot"}
        form = "three processes" if self.is_split else "one process"
        return f"""\
<?xml version="1.0" encoding="UTF-8"?>
<!-- Written by scripts/applications. To change it, copy it under another name. -->
<application>
    <name>{self.name}</name>
    <description>{self.robot.title} walks {where[self.place]}, layers in {form}</description>
    <version>1.0</version>
    <authors>
        <author>The Gradiva developers</author>
    </authors>

    <var name="robot">{escape(self.robot_argument or self.robot.name)}</var>
    <var name="environment">{Environment.HARDWARE if self.place is Place.HARDWARE else Environment.SIMULATION}</var>
    <var name="robot_node">localhost</var>{self._node_note()}"""

    def _node_note(self) -> str:
        if self.place is not Place.HARDWARE:
            return ""
        head = f"{self.robot.name.partition('_')[0]}-head"
        return f" <!-- or the robot's own computer, such as {head}, where yarprun serves /{head} -->"

    def _modules(self) -> Iterator[str]:
        usual = "--robot ${robot} --environment ${environment}"
        pace = {Place.SIMULATION: " --clock /clock --lockstep", Place.GAZEBO: " --clock /clock", Place.HARDWARE: ""}
        if self.place is Place.SIMULATION:
            yield _module("gradiva-simulator", "--robot ${robot} --name /simulator --lockstep", 1)
        if self.is_split:
            yield _module("gradiva-planner", f"{usual} --name {_PLANNER}", 2)
            yield _module("gradiva-model-control", f"{usual} --name {_MODEL_CONTROL}", 2)
        program = "gradiva-whole-body" if self.is_split else "gradiva-walking"
        ports = [] if self.place is Place.SIMULATION else self._robot_ports()
        yield _module(program, f"{usual} --name {_CONTROLLER}{pace[self.place]}", 3, ports, "${robot_node}")
        yield _module("gradiva-logger", f"{usual} --name /logger", 4)

    def _robot_ports(self) -> list[str]:
        ports = robot_ports(self.robot)
        environment = Environment.HARDWARE if self.place is Place.HARDWARE else Environment.SIMULATION
        boards = dict.fromkeys(ports.board_of(joint) for joint in self.robot.joints)
        servers = [*(server.name for server in ports.force_torque_servers if _has_contact(server)), ports.imu()[0].name]
        clock = [] if self.place is Place.HARDWARE else ["/clock"]
        names = [*(f"{board}/stateExt:o" for board in boards), *(f"{server}/measures:o" for server in servers)]
        return [*(ports.full_name(environment, name) for name in names), *clock]


def robot_application(robot: str, form: str) -> ShippedApplication:
    """Return the application of any robot.

    Args:
        robot: Name or folder of the robot.
        form: A place, such as ``simulation``, with ``-three`` behind it for three processes.

    Raises:
        ConfigError: There is no such robot or form.
    """
    forms = {f"{place}{end}": (place, bool(end)) for place in Place for end in ("", "-three")}
    if form not in forms:
        raise ConfigError(f"unknown form of an application '{form}'{nearest_name(form, forms)}")
    return ShippedApplication(load_robot(robot), *forms[form], shlex.quote(robot_argument(robot)))


def shipped_applications() -> dict[str, str]:
    """Return the contents of the files by their names."""
    applications = [
        ShippedApplication(robot, place, is_split)
        for robot in robots_with_ports()
        for place in Place
        for is_split in (False, True)
    ]
    return {f"{application.name}.xml": application.text() for application in applications}


def write_applications(folder: Path) -> None:
    """Write them all into a folder."""
    for name, text in shipped_applications().items():
        (folder / name).write_text(text, encoding="utf-8")


def _has_contact(server: ForceTorqueServer) -> bool:
    return any(sensor.contact for sensor in server.sensors)


def _module(program: str, parameters: str, rank: int, ports: Sequence[str] = (), node: str = "localhost") -> str:
    waits = [f'            <port timeout="{_TIMEOUT}">{port}</port>' for port in ports]
    dependencies = ["        <dependencies>", *waits, "        </dependencies>"] if waits else []
    return "\n".join(
        [
            "    <module>",
            f"        <name>{program}</name>",
            f"        <parameters>{parameters}</parameters>",
            f"        <node>{node}</node>",
            f"        <rank>{rank}</rank>",
            *dependencies,
            "    </module>",
        ]
    )


def _connection(ends: tuple[str, str, str]) -> str:
    source, destination, carrier = ends
    return f"""\
    <connection>
        <from>{source}</from>
        <to>{destination}</to>
        <protocol>{carrier}</protocol>
    </connection>"""


if __name__ == "__main__":
    write_applications(Path(sys.argv[1]))
