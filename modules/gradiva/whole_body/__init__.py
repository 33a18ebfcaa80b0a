"""Layer 3: from the references of feet, centre of mass and trunk to joint commands."""

from gradiva.whole_body.blf_control import (
    BlfController,
    BlfKinematics,
    BlfTorqueProblem,
    WholeBodyConfig,
    backed_controller,
    backed_torque_controller,
    check_backed_torque,
    foot_task,
    soft_task,
    whole_body_problem,
)
from gradiva.whole_body.compliant_torque_control import CompliantTorqueControlConfig, CompliantTorqueController
from gradiva.whole_body.composed_problem import ComposedProblem
from gradiva.whole_body.drives import (
    CommandedMotion,
    DrivesConfig,
    FrictionCompensator,
    FrictionFeedforward,
)
from gradiva.whole_body.flexible_torque_control import FlexibleTorqueControlConfig, FlexibleTorqueController
from gradiva.whole_body.inverse_kinematics import (
    ACCELERATION_TIME_CONSTANT,
    PositionController,
    ServoFeedforward,
    ServoFeedforwardConfig,
    ServoInverse,
    WalkingKinematics,
    integrate,
)
from gradiva.whole_body.kinematic_problem import InverseKinematicsConfig
from gradiva.whole_body.qp_composer import Priority, QpComposer
from gradiva.whole_body.qp_solver import QuadraticProgram, SolverName, make_solver
from gradiva.whole_body.rigid_torque_control import RigidTorqueControlConfig, RigidTorqueController
from gradiva.whole_body.start_posture import (
    described_posture,
    forward_base_rotation,
    probed_momentum,
    solve_start_posture,
    standing_reference,
    torso_rotation,
    upright_torso,
)
from gradiva.whole_body.target_tasks import (
    ComTask,
    FrameTask,
    OrientationTask,
    PositionTask,
    PostureTask,
    TargetTask,
    TargetTaskConfig,
)
from gradiva.whole_body.task_space_control import Contact, InverseDynamics, InverseKinematics, soles_of
from gradiva.whole_body.tasks import (
    TASKS,
    Body,
    Task,
    frame_acceleration,
    rotation_error,
    task_list,
)
from gradiva.whole_body.torque_control import TorqueActuation, TorqueController
from gradiva.whole_body.torque_control_config import GroundModel, TorqueControlConfig, TorqueLaw
from gradiva.whole_body.whole_body_controllers import (
    CONTROLLERS,
    ExternalJointsController,
    ExternalKinematics,
    OwnController,
    VelocityController,
    WholeBodyController,
    external_joints,
)
from gradiva.whole_body.whole_body_reference import JOINTS, QUANTITIES, Quantity, WholeBodyReference

__all__ = [
    "ACCELERATION_TIME_CONSTANT",
    "CONTROLLERS",
    "JOINTS",
    "QUANTITIES",
    "TASKS",
    "BlfController",
    "BlfKinematics",
    "BlfTorqueProblem",
    "Body",
    "ComTask",
    "CommandedMotion",
    "CompliantTorqueControlConfig",
    "CompliantTorqueController",
    "ComposedProblem",
    "Contact",
    "DrivesConfig",
    "ExternalJointsController",
    "ExternalKinematics",
    "FlexibleTorqueControlConfig",
    "FlexibleTorqueController",
    "FrameTask",
    "FrictionCompensator",
    "FrictionFeedforward",
    "GroundModel",
    "InverseDynamics",
    "InverseKinematics",
    "InverseKinematicsConfig",
    "OrientationTask",
    "OwnController",
    "PositionController",
    "PositionTask",
    "PostureTask",
    "Priority",
    "QpComposer",
    "QuadraticProgram",
    "Quantity",
    "RigidTorqueControlConfig",
    "RigidTorqueController",
    "ServoFeedforward",
    "ServoFeedforwardConfig",
    "ServoInverse",
    "SolverName",
    "TargetTask",
    "TargetTaskConfig",
    "Task",
    "TorqueActuation",
    "TorqueControlConfig",
    "TorqueController",
    "TorqueLaw",
    "VelocityController",
    "WalkingKinematics",
    "WholeBodyConfig",
    "WholeBodyController",
    "WholeBodyReference",
    "backed_controller",
    "backed_torque_controller",
    "check_backed_torque",
    "described_posture",
    "external_joints",
    "foot_task",
    "forward_base_rotation",
    "frame_acceleration",
    "integrate",
    "make_solver",
    "probed_momentum",
    "rotation_error",
    "soft_task",
    "soles_of",
    "solve_start_posture",
    "standing_reference",
    "task_list",
    "torso_rotation",
    "upright_torso",
    "whole_body_problem",
]
