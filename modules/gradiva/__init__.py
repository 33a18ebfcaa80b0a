"""Gradiva, "she who walks": footsteps, divergent component of motion and whole-body control for humanoids.

The nouns below are imported when they are first used; each works alone::

    robot = gradiva.load_robot("icub_v3")
    ik = gradiva.InverseKinematics(robot, [gradiva.FrameTask("l_hand"), gradiva.ComTask(), gradiva.PostureTask()])
    plan = gradiva.WalkingPlanner(robot).plan(gradiva.VelocityCommand(0.2, duration=5.0))
    outcome = gradiva.simulate(robot, gradiva.GoalCommand(2.0, 1.0))
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "gradiva.common": "ConfigError ControlMode JointCommand Measurement ModelError NoSolutionFound PlanningError"
    " RobotPosture RobotState Side WalkingError altered so3",
    "gradiva.setup.robot": "Robot load_robot",
    "gradiva.setup": "GccCompiler cache_folder load_setup robot_names",
    "gradiva.whole_body": "Body ComTask ComposedProblem Contact FrameTask InverseDynamics InverseKinematics"
    " OrientationTask PositionTask PostureTask Priority QpComposer QuadraticProgram Quantity TargetTask Task integrate"
    " soles_of",
    "gradiva.planner": "FootPose GoalCommand PathCommand PlannerConfig StopCommand VelocityCommand WalkingPlan"
    " WalkingPlanner",
    "gradiva.simplified_model": "BalanceLayer BalancePlan DcmController DcmLaw DcmMpc LinearInvertedPendulum"
    " PendulumState",
    "gradiva.estimation": "Estimator StateEstimator",
    "gradiva.walking": "balance_plan",
    "gradiva.simulation": "Fault MujocoRobot Push",
    "gradiva.telemetry": "RobotView SignalLog read_mat",
    "gradiva.simulated_walk": "SimulatedWalk WalkOutcome simulate",
}
_PLACES = {name: room for room, names in _HOMES.items() for name in names.split()}

__all__ = ["__version__", *sorted(_PLACES)]

if TYPE_CHECKING:
    from gradiva.common import (
        ConfigError,
        ControlMode,
        JointCommand,
        Measurement,
        ModelError,
        NoSolutionFound,
        PlanningError,
        RobotPosture,
        RobotState,
        Side,
        WalkingError,
        altered,
        so3,
    )
    from gradiva.estimation import Estimator, StateEstimator
    from gradiva.simulated_walk import SimulatedWalk, WalkOutcome, simulate
    from gradiva.planner import (
        FootPose,
        GoalCommand,
        PathCommand,
        PlannerConfig,
        StopCommand,
        VelocityCommand,
        WalkingPlan,
        WalkingPlanner,
    )
    from gradiva.setup import GccCompiler, cache_folder, load_setup, robot_names
    from gradiva.setup.robot import Robot, load_robot
    from gradiva.simplified_model import (
        BalanceLayer,
        BalancePlan,
        DcmController,
        DcmLaw,
        DcmMpc,
        LinearInvertedPendulum,
        PendulumState,
    )
    from gradiva.simulation import Fault, MujocoRobot, Push
    from gradiva.telemetry import RobotView, SignalLog, read_mat
    from gradiva.walking import balance_plan
    from gradiva.whole_body import (
        Body,
        ComposedProblem,
        ComTask,
        Contact,
        FrameTask,
        InverseDynamics,
        InverseKinematics,
        OrientationTask,
        PositionTask,
        PostureTask,
        Priority,
        QpComposer,
        QuadraticProgram,
        Quantity,
        TargetTask,
        Task,
        integrate,
        soles_of,
    )


def __getattr__(name: str) -> Any:
    """Import a public noun from its room.

    Raises:
        AttributeError: There is none of that name; the message names the nearest.
    """
    if name not in _PLACES:
        from gradiva.common.errors import nearest_name

        raise AttributeError(f"module 'gradiva' has no attribute '{name}'{nearest_name(name, _PLACES)}")
    found = getattr(import_module(_PLACES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
