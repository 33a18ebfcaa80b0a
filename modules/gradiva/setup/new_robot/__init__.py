"""From a URDF to the first description of a robot."""

from gradiva.setup.new_robot.draft import Draft, check_name, draft_robot, robot_text, write_robot
from gradiva.setup.new_robot.limbs import Choices, Limbs, find_limbs
from gradiva.setup.new_robot.model_file import ModelFile, model_file_of
from gradiva.setup.new_robot.soles import fit_sole

__all__ = [
    "Choices",
    "Draft",
    "Limbs",
    "ModelFile",
    "check_name",
    "draft_robot",
    "find_limbs",
    "fit_sole",
    "model_file_of",
    "robot_text",
    "write_robot",
]
