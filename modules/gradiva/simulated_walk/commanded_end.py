"""Judges the end of a walk by its command: place, heading, slip and posture, by the simulator's truth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradiva.common import GRAVITY, ControlMode, NDArray, Side, so3
from gradiva.planner import (
    Command,
    GoalCommand,
    PathCommand,
    PlannerConfig,
    VelocityCommand,
    WalkingPlan,
)
from gradiva.setup import Setup
from gradiva.simulated_walk.simulated_walk import SimulatedWalk
from gradiva.simulated_walk.walk_score import (
    LastingTilt,
    lasting_sole_tilt,
    middles_of_feet,
    steps_of,
    steps_on_the_spot,
)
from gradiva.simulation import GroundKind, SimulatedState
from gradiva.telemetry import SignalLog
from gradiva.walking import WalkingState

# Healthy walks of the shipped robots (plants ideal, noisy and robot; position, velocity and torque; ahead at 0.19 and
# 0.3 m/s, back, aside, in turns, to goals) end within 20 cm and 7° after 2.7 m, and 8° after 200° on the spot; no sole
# slides more than 5 mm, no base is left tilted by more than 1.4°. Feet that land a little askew turn the way as it goes
# on, so that tolerances grow with it: half as much again or more. Robots whose soles yaw-slip are beyond: 15° and more.
_PLACE, _PLACE_PER_WAY = 0.05, 0.1  # [m], [-]
_HEADING, _HEADING_PER_WAY = math.radians(5.0), math.radians(3.0)  # [rad], [rad/m]
SLIP_TOLERANCE = 0.015  # [m] of a sole in one stance
_LEANING = math.radians(5.0)  # [rad]
# A sole that should lie flat leans by what the plant `robot` draws for it: encoders 0.5° in each of three joints about
# an axis, inertial unit and floor 0.9°, play of gears 1°, 3.4° together; and as much again where it lands on an edge.
# Landings on an edge are over within a tenth of a second; a sole that stands askew for longer does not lie down.
_SOLE_TILT = math.radians(7.0)  # [rad] of a sole that carries a tenth of the weight, from the floor
_LASTING = 0.1  # [s]
_AT_LAST = 0.5  # [s] of the final stand, in which soles of a robot that was pushed are looked at
_NEAR = 0.9  # [-] of a tolerance: worth a word
_DRIFTS = "feet that turn or slide a little with each step: see foot slip and odometry drift"
_SLIDES = "a slippery floor, or one so soft that feet roll: see simulation.ground"
_TIPS = "a soft or uneven floor, or feet that land on an edge: see simulation.ground and the plot of the feet"
_LEANS = "a posture that leans, or a tilted IMU"
AS_HEALTHY = 2.0 / 3.0  # [-] of a tolerance, which is half as much again as healthy walks need

Pose = tuple[float, float, float]
"""x, y [m] and yaw [rad] in world."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One figure of a walk beside its tolerance.

    Attributes:
        excess: Figure over tolerance, [-]; beyond 1 it is a complaint.
        text: The complaint, in words that follow the name of the robot.
        tolerance: Tolerance in words.
        hint: Usual reason of a figure near its tolerance.
    """

    excess: float
    text: str
    tolerance: str = ""
    hint: str = ""


def complaints_of(judged: Sequence[Judged]) -> list[str]:
    """Return the texts of the figures that are beyond their tolerances."""
    return [each.text for each in judged if each.excess > 1.0]


def near_bounds(judged: Sequence[Judged]) -> str:
    """Return the figures of a good walk within a tenth of their tolerances, with what they hint at; else empty."""
    near: dict[str, list[str]] = {}
    for each in judged:
        if _NEAR < each.excess <= 1.0:
            near.setdefault(each.hint, []).append(
                f"{each.text}, {100 * each.excess:.0f} % of the {each.tolerance} allowed"
            )
    return "; ".join(f"{', '.join(texts)} (often {hint})" for hint, texts in near.items())


def plan_from_start(setup: Setup, command: Command) -> WalkingPlan:
    """Return what the robot is going to do, on a clock that starts with the walk.

    Raises:
        PlanningError: The command exceeds a limit, or no footsteps fulfil it.
    """
    planner = setup.walking.make_planner()
    return planner.plan(command, planner.at_origin(0.0))


def final_pose(plan: WalkingPlan) -> Pose:
    """Return where the middle of the feet stands at the end of a plan, and its heading."""
    end = plan.at(plan.end_time)
    left, right = end.foot(Side.LEFT), end.foot(Side.RIGHT)
    return middle_pose(left.position, left.rotation, right.position, right.rotation)


def middle_pose(
    left_position: NDArray, left_rotation: NDArray, right_position: NDArray, right_rotation: NDArray
) -> Pose:
    """Return the pose in the middle of two feet (world; positions of shape (3,), rotations (3, 3))."""
    x, y = 0.5 * (left_position + right_position)[:2]
    left, right = so3.yaw(left_rotation), so3.yaw(right_rotation)
    return float(x), float(y), float(left + 0.5 * so3.wrap_angle(right - left))


def true_pose(truth: SimulatedState) -> Pose:
    """Return the pose in the middle of the simulated feet."""
    return middle_pose(
        truth.left_foot_position, truth.left_foot_rotation, truth.right_foot_position, truth.right_foot_rotation
    )


def commanded_speed(command: Command, config: PlannerConfig) -> float:
    """Return the speed along the ground that a command asks for, [m/s]; zero where it only turns or stops."""
    if isinstance(command, VelocityCommand):
        return math.hypot(command.forward, command.lateral)
    if isinstance(command, GoalCommand | PathCommand):
        return config.commands.cruise_speed if command.speed is None else command.speed
    return 0.0


def goal_error(command: Command, pose: Pose) -> float | None:
    """Return the distance from the goal, or from the end of the path, [m]; None where there is neither."""
    place = _place(command)
    return None if place is None else math.dist(pose[:2], place)


def _place(command: Command) -> tuple[float, float] | None:
    """Return the goal, or the end of the path, [m]; None where there is neither."""
    if isinstance(command, GoalCommand):
        return command.x, command.y
    return (command.points[-1][0], command.points[-1][1]) if isinstance(command, PathCommand) else None


@dataclass(frozen=True, slots=True)
class EndError:
    """Distance between a robot that stands and the end of its command.

    Attributes:
        distance: Of the middle of the feet, [m].
        heading: Of the feet, [rad], not negative; None where the command leaves it open.
        off_path: Farthest distance of the middle of the feet from a commanded path, as it was planned, [m]; else 0.
        way: Planned way of the middle of the feet, that of its turns included, [m].
        end: Where the command ends, [m].
    """

    distance: float
    heading: float | None
    off_path: float
    way: float
    end: tuple[float, float]

    def judged(self) -> list[Judged]:
        """Return place and heading, and the distance from the path, beside tolerances that grow with the way."""
        place, heading = _PLACE + _PLACE_PER_WAY * self.way, _HEADING + _HEADING_PER_WAY * self.way
        turn, far = self.heading or 0.0, f"{place:.2f} m"
        askew = f"ended {math.degrees(turn):.0f}° off its commanded heading"
        return [
            Judged(self.distance / place, f"ended {self.distance:.2f} m from where it was commanded", far, _DRIFTS),
            Judged(turn / heading, askew, f"{math.degrees(heading):.2g}°", _DRIFTS),
            Judged(self.off_path / place, f"left its path by {self.off_path:.2f} m", far, _DRIFTS),
        ]


def end_of(walk: SimulatedWalk, command: Command) -> EndError:
    """Return how far a robot is from the end of its command, see ``end_error``."""
    plan, lever = plan_from_start(walk.setup, command), walk.setup.walking.planner.footsteps.turning_lever
    pose = true_pose(walk.robot.truth())
    return end_error(command, plan, walk.controller.displacement, pose, walk.recorder.log, lever)


def end_error(
    command: Command, plan: WalkingPlan, displacement: NDArray, pose: Pose, log: SignalLog, lever: float
) -> EndError:
    """Return how far from the end of its command a robot stands.

    A goal and the end of a path are places. A velocity leads where its plan ends; steps that step adaptation moved,
    to catch a push, move that place with them, but not the heading.

    Args:
        command: What was commanded.
        plan: Its plan from the start, whose axes are those of the simulator's world.
        displacement: Of the end of a velocity by moved steps, [m], shape (2,).
        pose: Of the middle of the feet, by the simulator's truth.
        log: Of the walk.
        lever: By which a turn counts as a way, [m].
    """
    x, y, heading = final_pose(plan)
    moved = x + displacement[0], y + displacement[1]
    place = _place(command)
    end = moved if place is None else place
    is_open = isinstance(command, GoalCommand) and command.yaw is None
    middles = planned_middles(plan)
    return EndError(
        math.dist(pose[:2], end),
        None if is_open else abs(so3.wrap_angle(pose[2] - heading)),
        _farthest(middles[:, :2], log) if isinstance(command, PathCommand) else 0.0,
        _way(middles, lever),
        end,
    )


def planned_middles(plan: WalkingPlan) -> NDArray:
    """Return x, y [m] and yaw [rad] of the middle of the feet at the start of a plan and after each step, (n, 3)."""
    return planned_feet(plan).mean(axis=0)


def planned_feet(plan: WalkingPlan) -> NDArray:
    """Return x, y [m] and yaw [rad] of the left and the right foot at the start and after each step, (2, n, 3)."""
    begin = plan.at(plan.start_time)
    feet = {side: np.append(begin.foot(side).position[:2], so3.yaw(begin.foot(side).rotation)) for side in Side}
    after = [[feet[side] for side in Side]]
    for footstep in plan.footsteps:
        feet[footstep.side] = np.array([footstep.pose.x, footstep.pose.y, footstep.pose.yaw])
        after.append([feet[side] for side in Side])
    return np.array(after).swapaxes(0, 1)


def count_steps(walk: SimulatedWalk, plan: WalkingPlan) -> dict[str, int]:
    """Return the steps that were taken, by the plan that was followed, beside those of the ``plan`` from the start."""
    feet = planned_feet(plan)
    taken, on_the_spot = steps_of(walk.recorder.log)
    more = max(0, on_the_spot - steps_on_the_spot(feet[:, :, :2], feet[:, :, 2]))
    return {"steps": taken, "planned_steps": len(plan.footsteps), "further_steps_on_the_spot": more}


def _way(middles: NDArray, lever: float) -> float:
    """Return the way along middles of feet, that of turns by a lever [m] included, [m]."""
    steps = np.diff(middles, axis=0)
    return float(np.linalg.norm(steps[:, :2], axis=1).sum() + lever * np.abs(steps[:, 2]).sum())


def _farthest(middles: NDArray, log: SignalLog) -> float:
    """Return how far at most the feet's middle was from the straight lines between planned ones, [m]."""
    walked = middles_of_feet(log) if len(log) else middles
    lines = np.diff(middles, axis=0, append=middles[-1:])  # the last has no length, and is all of a plan without steps
    away = walked[:, None] - middles
    squares = np.maximum(np.sum(lines**2, axis=1), 1e-12)
    fractions = np.clip(np.sum(away * lines, axis=2) / squares, 0.0, 1.0)
    return float(np.linalg.norm(away - fractions[:, :, None] * lines, axis=2).min(axis=1).max(initial=0.0))


def judged_posture(
    truth: SimulatedState, tilt: float, least_load: float, sole_tilt: LastingTilt | None = None
) -> list[Judged]:
    """Return figures of how a robot went and stands beside their tolerances.

    Args:
        truth: Of the simulator, at the end.
        tilt: Of the base from its start, [rad].
        least_load: Of a foot that stands, [N].
        sole_tilt: Largest lasting tilt of a loaded sole from the floor, [rad]; None where soles need not be flat.
    """
    slid, allowed = f"slid {1e3 * truth.foot_slip_m:.0f} mm", f"{1e3 * SLIP_TOLERANCE:.0f} mm"
    flat, upright = (f"{math.degrees(angle):.0f}°" for angle in (_SOLE_TILT, _LEANING))
    return [
        *([] if sole_tilt is None else [Judged(sole_tilt.angle / _SOLE_TILT, f"had its {sole_tilt}", flat, _TIPS)]),
        Judged(truth.foot_slip_m / SLIP_TOLERANCE, slid, allowed, _SLIDES),
        Judged(tilt / _LEANING, f"stands with its base tilted by {math.degrees(tilt):.0f}°", upright, _LEANS),
        *(
            Judged(0.0 if truth.foot_wrench(side)[2] > least_load else math.inf, f"has its {side} foot in the air")
            for side in Side
        ),
    ]


def final_tilt(walk: SimulatedWalk) -> float:
    """Return how far the base is tilted from its start, heading aside, [rad].

    On a slope position and velocity control hold it perpendicular to the ground, torque control upright.
    """
    turn = walk.robot.truth().base_rotation @ walk.layers.start_posture.base_rotation.T
    if walk.setup.walking.walking.control is ControlMode.TORQUE:
        turn = walk.setup.simulation.ground.world_rotation @ turn
    return so3.tilt(turn)


def judged_walk(walk: SimulatedWalk, error: EndError) -> list[Judged]:
    """Return the figures by which a walk is judged that the controller takes for done."""
    least_load = walk.setup.simulation.slip.least_load(walk.setup.robot.mass * GRAVITY)
    ground = walk.setup.simulation.ground
    is_flat = ground.kind == GroundKind.RIGID and not ground.bumps
    since = walk.time - _AT_LAST if walk.acted_pushes else -math.inf  # soles tip, and lie flat in the end
    sole_tilt = lasting_sole_tilt(walk.recorder.log, _LASTING, _SOLE_TILT, since) if is_flat else None
    return [*error.judged(), *judged_posture(walk.robot.truth(), final_tilt(walk), least_load, sole_tilt)]


def excess_of(walk: SimulatedWalk, command: Command) -> float:
    """Return the largest figure over its tolerance of a robot that stands, [-]; infinite where it stopped by itself."""
    if walk.controller.state is WalkingState.STOPPED:
        return math.inf
    return max(each.excess for each in judged_walk(walk, end_of(walk, command)))


def walking_time(planner: PlannerConfig, speed: float, distance: float) -> float:
    """Return how long a command of ``speed`` [m/s] must last to cover ``distance`` [m], its two ramps included, [s]."""
    ramp = planner.footsteps.ramp_steps * planner.preferred_duration(speed)
    return distance / speed + ramp
