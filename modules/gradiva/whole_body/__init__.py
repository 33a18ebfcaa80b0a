"""Layer 3: from what feet, centre of mass and torso should do to joint commands."""

from gradiva.whole_body.compliant_config import CompliantTorqueControlConfig
from gradiva.whole_body.inverse_kinematics import InverseKinematics, integrate
from gradiva.whole_body.kinematic_controllers import (
    PositionController,
    VelocityController,
    WholeBodyController,
)
from gradiva.whole_body.kinematics_config import InverseKinematicsConfig
from gradiva.whole_body.qp_solver import QuadraticProgram, SolverName, make_solver
from gradiva.whole_body.rigid_problem import RigidTorqueControlConfig
from gradiva.whole_body.servo_feedforward import ServoFeedforward, ServoFeedforwardConfig
from gradiva.whole_body.start_posture import (
    forward_base_rotation,
    solve_start_posture,
    standing_reference,
    torso_rotation,
    upright_torso,
)
from gradiva.whole_body.swing_momentum import SwingMomentum, SwingMomentumConfig
from gradiva.whole_body.torque_controllers import CompliantTorqueController, RigidTorqueController, TorqueController
from gradiva.whole_body.whole_body_reference import WholeBodyReference

__all__ = [
    "CompliantTorqueControlConfig",
    "CompliantTorqueController",
    "InverseKinematics",
    "InverseKinematicsConfig",
    "PositionController",
    "QuadraticProgram",
    "RigidTorqueControlConfig",
    "RigidTorqueController",
    "ServoFeedforward",
    "ServoFeedforwardConfig",
    "SolverName",
    "SwingMomentum",
    "SwingMomentumConfig",
    "TorqueController",
    "VelocityController",
    "WholeBodyController",
    "WholeBodyReference",
    "forward_base_rotation",
    "integrate",
    "make_solver",
    "solve_start_posture",
    "standing_reference",
    "torso_rotation",
    "upright_torso",
]
