"""What a run is made of: robot folders, model packages, configuration files, caches."""

from gradiva.setup.folders import cache_folder, data_folder
from gradiva.setup.model_files import find_model_file
from gradiva.setup.robots import load_robot, read_toml, robot_names

__all__ = ["cache_folder", "data_folder", "find_model_file", "load_robot", "read_toml", "robot_names"]
