"""Layer 3: from the references of feet, centre of mass and trunk to joint commands."""

from gradiva.whole_body.compliant_torque_control import CompliantTorqueControlConfig, CompliantTorqueController
from gradiva.whole_body.composed_problem import Priority
from gradiva.whole_body.drives import CommandedMotion, DrivesConfig, FrictionCompensator, FrictionFeedforward
from gradiva.whole_body.flexible_torque_control import FlexibleTorqueControlConfig, FlexibleTorqueController
from gradiva.whole_body.inverse_kinematics import (
    InverseKinematics,
    InverseKinematicsConfig,
    PositionController,
    ServoFeedforward,
    ServoFeedforwardConfig,
    ServoInverse,
    VelocityController,
    WholeBodyController,
    integrate,
)
from gradiva.whole_body.qp_solver import QuadraticProgram, SolverName, make_solver
from gradiva.whole_body.rigid_torque_control import RigidTorqueControlConfig, RigidTorqueController
from gradiva.whole_body.start_posture import (
    forward_base_rotation,
    probed_momentum,
    solve_start_posture,
    standing_reference,
    torso_rotation,
    upright_torso,
)
from gradiva.whole_body.tasks import (
    Body,
    Task,
    own_tasks,
)
from gradiva.whole_body.torque_control import TorqueActuation, TorqueController
from gradiva.whole_body.walking_tasks import (
    frame_acceleration,
    rotation_error,
)
from gradiva.whole_body.whole_body_reference import JOINTS, QUANTITIES, Quantity, WholeBodyReference

__all__ = [
    "JOINTS",
    "QUANTITIES",
    "Body",
    "CommandedMotion",
    "CompliantTorqueControlConfig",
    "CompliantTorqueController",
    "DrivesConfig",
    "FlexibleTorqueControlConfig",
    "FlexibleTorqueController",
    "FrictionCompensator",
    "FrictionFeedforward",
    "InverseKinematics",
    "InverseKinematicsConfig",
    "PositionController",
    "Priority",
    "QuadraticProgram",
    "Quantity",
    "RigidTorqueControlConfig",
    "RigidTorqueController",
    "ServoFeedforward",
    "ServoFeedforwardConfig",
    "ServoInverse",
    "SolverName",
    "Task",
    "TorqueActuation",
    "TorqueController",
    "VelocityController",
    "WholeBodyController",
    "WholeBodyReference",
    "forward_base_rotation",
    "frame_acceleration",
    "integrate",
    "make_solver",
    "own_tasks",
    "probed_momentum",
    "rotation_error",
    "solve_start_posture",
    "standing_reference",
    "torso_rotation",
    "upright_torso",
]
