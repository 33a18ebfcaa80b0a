"""Parts of a plan: poses of feet, steps, the state from which they start, the gait schedule; swing and trajectory."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from gradiva.common import (
    DcmReference,
    FootReference,
    NDArray,
    PlanarPose,
    PlanningError,
    Side,
    WalkingReference,
    freeze_arrays,
    so3,
)
from gradiva.contacts import UP, ContactPlane
from gradiva.planner.planner_config import PlannerConfig
from gradiva.planner.unicycle import UnicycleState


@dataclass(frozen=True, slots=True)
class FootPose:
    """Pose of a sole frame on its contact plane (world).

    Attributes:
        x: [m].
        y: [m].
        yaw: Heading; not wrapped: it keeps counting over several turns, [rad].
        z: Height of the contact plane there, [m].
        normal: Of the contact plane, upward, unit length.
    """

    x: float
    y: float
    yaw: float
    z: float = 0.0
    normal: tuple[float, float, float] = UP

    @property
    def plane(self) -> ContactPlane:
        """The contact plane."""
        if self.normal == UP:
            return ContactPlane(self.z)
        return ContactPlane.through(self.x, self.y, self.z, self.normal)

    @property
    def planar(self) -> PlanarPose:
        """Place and heading, seen from above."""
        return PlanarPose(self.x, self.y, self.yaw)

    def on(self, plane: ContactPlane) -> FootPose:
        """Return the pose of the same place and heading on a contact plane."""
        return FootPose(self.x, self.y, self.yaw, plane.height_at(self.x, self.y), plane.normal)

    def placement(self, height: float = 0.0) -> tuple[NDArray, NDArray]:
        """Return position ([m], shape (3,)) and rotation (3, 3) of the sole, ``height`` [m] above the plane."""
        if self.normal == UP:
            return np.array((self.x, self.y, self.z + height)), so3.rotation_z(self.yaw)
        nx, ny, nz = self.normal
        position = np.array((self.x + height * nx, self.y + height * ny, self.z + height * nz))
        return position, self.plane.rotation(self.yaw)

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Return x and y in world of a point of the sole, given in the foot's frame ([m])."""
        if self.normal == UP:
            c, s = math.cos(self.yaw), math.sin(self.yaw)
            return self.x + c * x - s * y, self.y + s * x + c * y
        (xx, xy, _), (yx, yy, _), _ = self.plane.rotation(self.yaw).tolist()
        return self.x + xx * x + xy * y, self.y + yx * x + yy * y

    def beside(self, side: Side, width: float) -> FootPose:
        """Return the pose of the same yaw at ``width`` [m] towards ``side``, on the same plane."""
        x, y = self.point(0.0, side.sign * width)
        return FootPose(x, y, self.yaw, self.plane.height_at(x, y), self.normal)

    def distance(self, other: FootPose) -> float:
        """Return the horizontal distance of the two sole origins, [m]."""
        return math.hypot(other.x - self.x, other.y - self.y)

    def near_yaw(self, yaw: float) -> FootPose:
        """Return the same pose with its yaw counted within half a turn of ``yaw``."""
        turns = round((yaw - self.yaw) / (2.0 * math.pi))
        if turns == 0:
            return self
        return replace(self, yaw=self.yaw + 2.0 * math.pi * turns)

    def zmp_point(self, side: Side, offset: tuple[float, float]) -> NDArray:
        """Return the nominal ZMP under this foot (world, [m], shape (2,)).

        Args:
            side: Which foot this is.
            offset: In the frame of the left foot, [m]; mirrored for the right one.
        """
        return np.array(self.point(offset[0], side.sign * offset[1]))

    def moved(self, dx: float, dy: float) -> FootPose:
        """Return the pose elsewhere on its own contact plane, by ``dx``, ``dy`` [m]."""
        nx, ny, nz = self.normal
        return FootPose(self.x + dx, self.y + dy, self.yaw, self.z - (nx * dx + ny * dy) / nz, self.normal)

    def is_close(self, other: FootPose, tolerance: float = 1e-6) -> bool:
        """Return whether both poses agree in position [m] and yaw [rad]."""
        return self.distance(other) <= tolerance and abs(self.yaw - other.yaw) <= tolerance


def foot_pose(reference: WalkingReference, side: Side) -> FootPose:
    """Return the pose of one foot of a reference."""
    foot = reference.foot(side)
    (x, y, z), (nx, ny, nz) = foot.position.tolist(), foot.rotation[:, 2].tolist()
    return FootPose(x, y, so3.yaw(foot.rotation), z, (nx, ny, nz))


@dataclass(frozen=True, slots=True)
class Footstep:
    """Landing of a foot: place, and time on the clock of the unicycle's path.

    Attributes:
        side: The foot that moves.
        pose: Where it lands.
        duration: Δt since the impact before, [s]; a plan that was changed may step sooner.
        unicycle: Pose and velocity of the unicycle at the impact.
    """

    side: Side
    pose: FootPose
    duration: float
    unicycle: UnicycleState

    def moved(self, motion: Motion, pose: FootPose | None = None) -> Footstep:
        """Return the step elsewhere, its foot at ``pose``, if that is given."""
        dx, dy, old = motion.x, motion.y, self.unicycle
        rest = old.yaw, old.forward, old.lateral, old.angular, old.heading_error
        unicycle = UnicycleState(old.x + dx, old.y + dy, *rest)
        return Footstep(self.side, pose or self.pose.moved(dx, dy), self.duration, unicycle)


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A footstep on the plan's clock.

    Attributes:
        footstep: Which foot, and where it lands.
        lift_off: [s].
        touch_down: [s].
    """

    footstep: Footstep
    lift_off: float
    touch_down: float

    def moved(self, motion: Motion) -> PlannedStep:
        """Return the step elsewhere, later."""
        return PlannedStep(self.footstep.moved(motion), self.lift_off + motion.delay, self.touch_down + motion.delay)


@dataclass(frozen=True, slots=True)
class Motion:
    """Translation and delay of the rest of a plan.

    Attributes:
        x: World, [m].
        y: [m].
        delay: [s].
    """

    x: float = 0.0
    y: float = 0.0
    delay: float = 0.0

    def __add__(self, other: Motion) -> Motion:
        return Motion(self.x + other.x, self.y + other.y, self.delay + other.delay)


class Movable(Protocol):
    """Part of a plan that can be elsewhere, later."""

    def moved(self, motion: Motion) -> Self:
        """Return it elsewhere, later."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class PlanningState:
    """State from which a plan begins, both feet on the ground; world.

    Attributes:
        time: On the plan's clock, [s].
        left_foot: Left sole.
        right_foot: Right sole; its yaw is counted near that of the left one.
        dcm_position: [m], shape (2,); at rest the ground projection of the CoM.
        dcm_velocity: [m/s], shape (2,).
        com_position: [m], shape (3,).
        com_velocity: [m/s], shape (3,).
        plane: Contact plane of the steps to come; None: between both feet, which are on it or near it.
    """

    time: float
    left_foot: FootPose
    right_foot: FootPose
    dcm_position: NDArray
    dcm_velocity: NDArray
    com_position: NDArray
    com_velocity: NDArray
    plane: ContactPlane | None = None

    def __post_init__(self) -> None:
        freeze_arrays(self, dcm_position=(2,), dcm_velocity=(2,), com_position=(3,), com_velocity=(3,))
        object.__setattr__(self, "right_foot", self.right_foot.near_yaw(self.left_foot.yaw))
        numbers = [self.time]
        for foot in (self.left_foot, self.right_foot):
            numbers += [foot.x, foot.y, foot.yaw, foot.z, *foot.normal]
        for vector in (self.dcm_position, self.dcm_velocity, self.com_position, self.com_velocity):
            numbers += list(vector)
        if not np.all(np.isfinite(numbers)):
            raise PlanningError(f"the start of the plan is not finite: {self}")

    @property
    def contact_plane(self) -> ContactPlane:
        """Contact plane of the steps to come."""
        if self.plane is not None:
            return self.plane
        left, right = self.left_foot, self.right_foot
        x, y, z = 0.5 * (left.x + right.x), 0.5 * (left.y + right.y), 0.5 * (left.z + right.z)
        nx, ny, nz = (0.5 * (a + b) for a, b in zip(left.normal, right.normal, strict=True))
        return ContactPlane.through(x, y, z, (nx, ny, nz))

    @classmethod
    def at_rest(cls, time: float, left_foot: FootPose, right_foot: FootPose, com_position: NDArray) -> PlanningState:
        """Return the state of a robot that stands still with its CoM at ``com_position`` ([m], shape (3,))."""
        com = np.asarray(com_position, dtype=float)
        return cls(time, left_foot, right_foot, com[:2], np.zeros(2), com, np.zeros(3))

    def foot(self, side: Side) -> FootPose:
        """Return the pose of one foot."""
        return self.left_foot if side is Side.LEFT else self.right_foot


Point = tuple[float, float]


def zmp_points(
    steps: Sequence[Footstep], feet: Mapping[Side, FootPose], offset: tuple[float, float]
) -> tuple[list[Point], dict[Side, Point]]:
    """Return the ZMP under the foot that supports each step, and under both feet after the last one (world, [m]).

    Args:
        steps: In order.
        feet: Where they stand before the first one.
        offset: Of the ZMP, as of ``FootPose.zmp_point``.
    """
    forward, outward = offset
    points = {side: feet[side].point(forward, side.sign * outward) for side in Side}
    supports = []
    for step in steps:
        supports.append(points[step.side.other])
        points[step.side] = step.pose.point(forward, step.side.sign * outward)
    return supports, points


@dataclass(frozen=True, slots=True, eq=False)
class GaitSchedule:
    r"""Times of N steps, and the ZMP under the foot that supports each of them.

    A step is a double support and the single support that follows it. The DCM recursion has its boundaries in the
    middle of the double supports (of the last one: where its middle would be if one more step followed).

    Attributes:
        steps: In order.
        start_time: Beginning of the first double support, [s].
        lift_offs: Shape (N,), [s].
        touch_downs: Shape (N,), [s].
        boundaries: End of each step for the DCM, shape (N,), [s].
        end_time: End of the last double support, [s].
        supports: ZMP under the supporting foot of each step (world, [m]), shape (N, 2).
        last_landing: ZMP under the foot that lands last (world, [m]), shape (2,).
        middle: Of the ZMP points of both feet when all steps are done (world, [m]), shape (2,).
    """

    steps: Sequence[PlannedStep]
    start_time: float
    lift_offs: NDArray
    touch_downs: NDArray
    boundaries: NDArray
    end_time: float
    supports: NDArray
    last_landing: NDArray
    middle: NDArray

    @classmethod
    def of(
        cls,
        steps: Sequence[PlannedStep],
        feet: Mapping[Side, FootPose],
        zmp_offset: tuple[float, float],
        *,
        start_time: float,
        boundaries: NDArray,
        end_time: float,
    ) -> Self:
        """Return the schedule of steps at their times; ``feet`` stand there before the first one."""
        supports, landed = zmp_points([step.footstep for step in steps], feet, zmp_offset)
        middle = 0.5 * np.add(landed[Side.LEFT], landed[Side.RIGHT])
        return cls(
            steps,
            start_time,
            lift_offs=np.array([step.lift_off for step in steps]),
            touch_downs=np.array([step.touch_down for step in steps]),
            boundaries=boundaries,
            end_time=end_time,
            supports=np.array(supports).reshape(-1, 2),
            last_landing=np.array(landed[steps[-1].footstep.side]) if steps else middle,
            middle=middle,
        )

    @property
    def phase_times(self) -> NDArray:
        """Starts of all supports, double and single in turn, and the end: shape (2 N + 2,), [s]."""
        inner = np.column_stack((self.lift_offs, self.touch_downs)).ravel()
        return np.concatenate(([self.start_time], inner, [self.end_time]))


def schedule_gait(
    steps: Sequence[Footstep], start: PlanningState, first_double_support: float, config: PlannerConfig
) -> GaitSchedule:
    """Put footsteps on the clock.

    Args:
        steps: In order; may be empty.
        start: Where both feet stand, and when.
        first_double_support: How long the first weight shift takes, [s].
        config: Double support ratio, last double support, ZMP offset.
    """
    durations = np.array([step.duration for step in steps])
    single = durations / (1.0 + config.footsteps.double_support_ratio)
    double = durations - single
    waits = double.copy()
    waits[:1] = first_double_support
    touch_downs = start.time + np.cumsum(waits + single)
    following = np.append(double[1:], double[-1:])
    return GaitSchedule.of(
        [*map(PlannedStep, steps, (touch_downs - single).tolist(), touch_downs.tolist())],
        {side: start.foot(side) for side in Side},
        config.zmp_offset,
        start_time=start.time,
        boundaries=touch_downs + 0.5 * following,
        end_time=float(touch_downs[-1]) + config.pendulum.last_double_support
        if steps
        else standing_time(start, config),
    )


def standing_time(start: PlanningState, config: PlannerConfig) -> float:
    r"""Return when a robot that stands has its DCM in the middle of the feet, [s].

    On a cubic over a way d from rest to rest within T, the ZMP first goes the other way, by about

    .. math:: \frac{3 d}{\lambda (\lambda + 2)}, \qquad \lambda = \zeta T

    A third of its tolerance is left to that; friction of ankles and feedback take the rest.
    """
    allowed, duration = config.pendulum.zmp_tolerance / 3.0, config.pendulum.last_double_support
    if allowed > 0.0:
        _, points = zmp_points([], {side: start.foot(side) for side in Side}, config.zmp_offset)
        way = math.dist(start.dcm_position, 0.5 * np.add(points[Side.LEFT], points[Side.RIGHT]))
        duration = max(duration, (math.sqrt(1.0 + 3.0 * way / allowed) - 1.0) / config.natural_frequency)
    return start.time + duration


class Swing(Protocol):
    """Gives the reference of a swinging sole over time."""

    @property
    def start_time(self) -> float:
        """Of the swing or of its rest, [s]."""
        ...

    @property
    def end_time(self) -> float:
        """Touch-down, [s]."""
        ...

    @property
    def pieces(self) -> NDArray:
        """Durations of the k pieces of the height, [s], shape (k,)."""
        ...

    def at(self, time: float) -> FootReference:
        """Return the sole's reference at ``time`` [s]; it rests outside the swing."""
        ...

    def yaw_ahead(self, time: float) -> float:
        """Return the change of heading from ``time`` [s] to touch-down, [rad]."""
        ...

    def accelerations(self) -> NDArray:
        """Return the linear acceleration in the pieces, [m/s²], shape (k, 4, 3).

        Cubics in the time since the beginning of the piece, lowest power first.
        """
        ...


class DcmTrajectory(Protocol):
    """Gives the DCM and the CoM at any time from a start on; after the last step both rest."""

    @property
    def plane(self) -> ContactPlane:
        """Contact plane, above which the CoM has its height."""
        ...

    def at(self, time: float) -> tuple[DcmReference, NDArray, NDArray]:
        """Return the DCM, the CoM position ([m], shape (3,)) and its velocity ([m/s], shape (3,)) at ``time``.

        The arrays are made for the caller.
        """
        ...

    def sampled(self, times: NDArray) -> tuple[NDArray, NDArray]:
        """Return the DCM ([m], shape (n, 2)) and the divergence rate σ ([rad/s], shape (n,)) at ``times`` (n,)."""
        ...

    def spliced(self, since: float, time: float, continuation: Self) -> Self:
        """Return this trajectory between ``since`` and ``time`` [s], and ``continuation``, which starts at ``time``."""
        ...
