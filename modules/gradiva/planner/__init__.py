"""Layer 1, trajectory optimisation: unicycle, footsteps, swing feet, DCM and CoM over time."""

from gradiva.planner.command import Command, GoalCommand, PathCommand, StopCommand, VelocityCommand
from gradiva.planner.foot_pose import FootPose
from gradiva.planner.footstep import Footstep
from gradiva.planner.leg_momentum import LegMomentumConfig
from gradiva.planner.planned_step import PlannedStep
from gradiva.planner.planner_config import PlannerConfig
from gradiva.planner.planning_state import PlanningState
from gradiva.planner.polyline import Polyline
from gradiva.planner.swing_foot import SwingFoot, SwingProfile
from gradiva.planner.unicycle_planner import end_heading
from gradiva.planner.walking_plan import WalkingPlan
from gradiva.planner.walking_planner import WalkingPlanner

__all__ = [
    "Command",
    "FootPose",
    "Footstep",
    "GoalCommand",
    "LegMomentumConfig",
    "PathCommand",
    "PlannedStep",
    "PlannerConfig",
    "PlanningState",
    "Polyline",
    "StopCommand",
    "SwingFoot",
    "SwingProfile",
    "VelocityCommand",
    "WalkingPlan",
    "WalkingPlanner",
    "end_heading",
]
