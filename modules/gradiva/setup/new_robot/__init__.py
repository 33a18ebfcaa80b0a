"""From a URDF to the first description of a robot."""

from gradiva.setup.new_robot.draft import Draft, check_name, draft_robot, robot_text, write_robot
from gradiva.setup.new_robot.limbs import Choices, Limbs, find_limbs, fit_sole

__all__ = [
    "Choices",
    "Draft",
    "Limbs",
    "check_name",
    "draft_robot",
    "find_limbs",
    "fit_sole",
    "robot_text",
    "write_robot",
]
