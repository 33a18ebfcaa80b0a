"""From a URDF to the first description of a robot."""

from gradiva.setup.new_robot.draft import Draft, draft_robot
from gradiva.setup.new_robot.limbs import Choices, Limbs, find_limbs
from gradiva.setup.new_robot.sole_fit import fit_sole
from gradiva.setup.new_robot.write_robot import check_name, robot_text, write_robot

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
