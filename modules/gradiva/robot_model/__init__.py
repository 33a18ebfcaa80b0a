"""Robots: their descriptions, and their kinematics and dynamics."""

from gradiva.robot_model.collada import read_collada
from gradiva.robot_model.flat_function import Compiler, FlatFunction, interpreted
from gradiva.robot_model.force_torque_mount import ForceTorqueMount, fixed_rotation, force_torque_mount
from gradiva.robot_model.idyntree_model import IdynTreeModel, as_array, as_pose
from gradiva.robot_model.inertia import balanced, check_inertias, is_physical, unphysical_links
from gradiva.robot_model.robot_description import ForceTorqueSensor, JointGroup, RobotDescription
from gradiva.robot_model.robot_ports import (
    AngleUnit,
    Environment,
    ForceTorquePort,
    ForceTorqueServer,
    InertialPort,
    InertialServer,
    MeasuredWrench,
    RobotPorts,
)
from gradiva.robot_model.symbolic_dynamics import SymbolicDynamics, SymbolicFrame

__all__ = [
    "AngleUnit",
    "Compiler",
    "Environment",
    "FlatFunction",
    "ForceTorqueMount",
    "ForceTorquePort",
    "ForceTorqueSensor",
    "ForceTorqueServer",
    "IdynTreeModel",
    "InertialPort",
    "InertialServer",
    "JointGroup",
    "MeasuredWrench",
    "RobotDescription",
    "RobotPorts",
    "SymbolicDynamics",
    "SymbolicFrame",
    "as_array",
    "as_pose",
    "balanced",
    "check_inertias",
    "fixed_rotation",
    "force_torque_mount",
    "interpreted",
    "is_physical",
    "read_collada",
    "unphysical_links",
]
