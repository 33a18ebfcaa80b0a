"""What a run is made of: robot folders, model packages, configuration files, caches."""

from gradiva.setup.compiler import GccCompiler
from gradiva.setup.folders import cache_folder, data_folder
from gradiva.setup.load_setup import Setup, load_setup, robot_of, typed_setup
from gradiva.setup.model_files import find_model_file, package_and_model
from gradiva.setup.robots import (
    load_robot,
    read_toml,
    robot_folder,
    robot_folders,
    robot_names,
    robots_with_ports,
    shipped_robot_names,
)
from gradiva.setup.shipped_tables import default_tables

__all__ = [
    "GccCompiler",
    "Setup",
    "cache_folder",
    "data_folder",
    "default_tables",
    "find_model_file",
    "load_robot",
    "load_setup",
    "package_and_model",
    "read_toml",
    "robot_folder",
    "robot_folders",
    "robot_names",
    "robot_of",
    "robots_with_ports",
    "shipped_robot_names",
    "typed_setup",
]
