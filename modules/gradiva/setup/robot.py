"""A robot by its name: its model and its configuration together, for work in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from gradiva.common import RobotPosture
from gradiva.robot_model import IdynTreeModel
from gradiva.setup.layers import Plant
from gradiva.setup.load_setup import Setup, load_setup
from gradiva.whole_body import described_posture

T = TypeVar("T")


class Robot(IdynTreeModel):
    """A robot's model with its configuration: what planner, laws, estimator and tasks are made from.

    Frames, centre of mass and their Jacobians are read from a posture: ``robot.frame_pose(posture, "l_hand")``.

    Attributes:
        setup: Configuration of the robot, its controller and its plant.
    """

    def __init__(self, setup: Setup) -> None:
        """Load the model.

        Raises:
            ModelError: The URDF cannot be read, or lacks what the description names.
        """
        super().__init__(setup.robot, setup.walking.drives.rotor_inertia)
        self.setup = setup

    def __repr__(self) -> str:
        """Return the name of the robot and its size."""
        return f"<Robot {self.description.name}: {len(self.description.joints)} joints, {self.mass:.1f} kg>"

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints, in the order of all arrays."""
        return self.description.joints

    @property
    def posture(self) -> RobotPosture:
        """Posture of the description, its soles about the origin, x ahead."""
        return described_posture(self)

    def part(self, kind: type[T], table: str) -> T:
        """Return a table of the configuration; see ``Setup.part``."""
        return self.setup.part(kind, table)


def load_robot(robot: str, settings: Mapping[str, Any] | Iterable[str] = (), plant: Plant | str | None = None) -> Robot:
    """Return a robot with its configuration.

    Args:
        robot: Name of a robot, of Gradiva, of an installed package or on ``$GRADIVA_ROBOTS``; or path of its folder.
        settings: ``{"table.key": value}``, or strings ``table.key=value``, laid over the configuration.
        plant: How much of a real robot is simulated: ``ideal``, ``noisy`` or ``robot``.

    Raises:
        ConfigError: An unknown robot, table or key, or a value that is refused.
        ModelError: The robot's model is not installed, or lacks what its description names.
    """
    return Robot(load_setup(robot, settings, plant=plant))
