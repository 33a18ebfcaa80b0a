"""Find robots, merge their configuration with options, compile and keep functions."""

from gradiva.setup.compiler import GccCompiler
from gradiva.setup.load_setup import Plant, Setup, default_tables, load_setup, parse_setting, robot_of, typed_setup
from gradiva.setup.robots import (
    ROBOT_FILE,
    SEARCH_PATH,
    cache_folder,
    data_folder,
    find_model_file,
    load_robot,
    package_and_model,
    read_toml,
    robot_argument,
    robot_folder,
    robot_folders,
    robot_names,
    robots_with_ports,
    shipped_robot_names,
)

__all__ = [
    "ROBOT_FILE",
    "SEARCH_PATH",
    "GccCompiler",
    "Plant",
    "Setup",
    "cache_folder",
    "data_folder",
    "default_tables",
    "find_model_file",
    "load_robot",
    "load_setup",
    "package_and_model",
    "parse_setting",
    "read_toml",
    "robot_argument",
    "robot_folder",
    "robot_folders",
    "robot_names",
    "robot_of",
    "robots_with_ports",
    "shipped_robot_names",
    "typed_setup",
]
