"""Layer 1, trajectory optimisation: unicycle, footsteps, swing feet, DCM and CoM over time."""

from gradiva.planner.command import Command, GoalCommand, PathCommand, StopCommand, VelocityCommand
from gradiva.planner.footsteps import FootPose, Footstep, PlannedStep, PlanningState, foot_pose, standing_time
from gradiva.planner.moved_steps import RetargetedSwing, quintic
from gradiva.planner.planner_config import SAMPLE_PERIOD, LegMomentumConfig, PlannerConfig, SwingProfile
from gradiva.planner.retarget import CATCHING_STEPS, FROZEN_TIME, CaptureStep, Foothold, Retarget
from gradiva.planner.swing_foot import SwingFoot
from gradiva.planner.unicycle_planner import PathProgress
from gradiva.planner.walking_plan import WalkingPlan, planned_polygon
from gradiva.planner.walking_planner import PLANNERS, WalkingPlanner

__all__ = [
    "CATCHING_STEPS",
    "FROZEN_TIME",
    "PLANNERS",
    "SAMPLE_PERIOD",
    "CaptureStep",
    "Command",
    "FootPose",
    "Foothold",
    "Footstep",
    "GoalCommand",
    "LegMomentumConfig",
    "PathCommand",
    "PathProgress",
    "PlannedStep",
    "PlannerConfig",
    "PlanningState",
    "Retarget",
    "RetargetedSwing",
    "StopCommand",
    "SwingFoot",
    "SwingProfile",
    "VelocityCommand",
    "WalkingPlan",
    "WalkingPlanner",
    "foot_pose",
    "planned_polygon",
    "quintic",
    "standing_time",
]
