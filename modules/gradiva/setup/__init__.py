"""What a run is made of: robot folders, model packages, configuration files, caches."""

from gradiva.setup.compiler import GccCompiler
from gradiva.setup.folders import cache_folder, data_folder
from gradiva.setup.load_setup import Setup, load_setup, robot_of, typed_setup
from gradiva.setup.model_files import find_model_file
from gradiva.setup.robots import load_robot, read_toml, robot_names
from gradiva.setup.shipped_tables import merged_tables

__all__ = [
    "GccCompiler",
    "Setup",
    "cache_folder",
    "data_folder",
    "find_model_file",
    "load_robot",
    "load_setup",
    "merged_tables",
    "read_toml",
    "robot_names",
    "robot_of",
    "typed_setup",
]
