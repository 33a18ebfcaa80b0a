"""Robots: their descriptions, and their kinematics and dynamics."""

from gradiva.robot_model.collada import read_collada
from gradiva.robot_model.flat_function import Compiler, FlatFunction, built_once, interpreted
from gradiva.robot_model.force_torque_mount import ForceTorqueMount, fixed_rotation, force_torque_mount
from gradiva.robot_model.idyntree_model import (
    IdynTreeModel,
    as_array,
    as_pose,
    balanced,
    check_inertias,
    is_physical,
    unphysical_links,
)
from gradiva.robot_model.robot_description import (
    QUANTITIES,
    AngleUnit,
    Environment,
    ForceTorquePort,
    ForceTorqueSensor,
    ForceTorqueServer,
    InertialPort,
    InertialServer,
    JointGroup,
    MeasuredWrench,
    RobotDescription,
    RobotPorts,
    RotorCoupling,
    ServoLaw,
)
from gradiva.robot_model.symbolic_dynamics import (
    SymbolicDynamics,
    SymbolicFrame,
    links_from_base,
    symbolic_exp,
    symbolic_log,
)

__all__ = [
    "QUANTITIES",
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
    "RotorCoupling",
    "ServoLaw",
    "SymbolicDynamics",
    "SymbolicFrame",
    "as_array",
    "as_pose",
    "balanced",
    "built_once",
    "check_inertias",
    "fixed_rotation",
    "force_torque_mount",
    "interpreted",
    "is_physical",
    "links_from_base",
    "read_collada",
    "symbolic_exp",
    "symbolic_log",
    "unphysical_links",
]
