"""References: the two feet, and what a walking plan asks of them, of the DCM and of the CoM."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from gradiva.common.arrays import NDArray, altered, freeze_arrays
from gradiva.common.errors import ConfigError


class Side(StrEnum):
    """One of the two feet.

    Attributes:
        other: The opposite side.
        sign: Of y: +1 on the left, −1 on the right.
    """

    LEFT = "left"
    RIGHT = "right"

    other: Side
    sign: float


Side.LEFT.other, Side.LEFT.sign = Side.RIGHT, 1.0
Side.RIGHT.other, Side.RIGHT.sign = Side.LEFT, -1.0


@dataclass(frozen=True, slots=True)
class SoleRectangle:
    """The sole of the left foot in its sole frame; the right one is its mirror image.

    Attributes:
        x: Heel and toe, [m].
        y: Right and left edge of the left sole, [m].
        z: Height of the touching surface in the sole frame (the sole bottom), [m].
    """

    x: tuple[float, float]
    y: tuple[float, float]
    z: float

    def __post_init__(self) -> None:
        if self.x[0] >= self.x[1] or self.y[0] >= self.y[1]:
            raise ConfigError(f"sole x={self.x}, y={self.y}: the lower bound must come first")

    @property
    def length(self) -> float:
        """From heel to toe, [m]."""
        return self.x[1] - self.x[0]

    @property
    def width(self) -> float:
        """From edge to edge, [m]."""
        return self.y[1] - self.y[0]

    def middle(self, side: Side) -> NDArray:
        """Return the middle of the touching surface in the sole frame, [m], shape (3,)."""
        return np.array([sum(self.x) / 2.0, side.sign * sum(self.y) / 2.0, self.z])

    def corners(self, side: Side, margin: float = 0.0) -> NDArray:
        """Return the corners in the sole frame, counter-clockwise from above, [m], shape (4, 2).

        Args:
            side: Which foot.
            margin: By how much each edge is moved inwards, [m].
        """
        x0, x1 = self.x[0] + margin, self.x[1] - margin
        y0, y1 = self.y if side is Side.LEFT else (-self.y[1], -self.y[0])
        y0, y1 = y0 + margin, y1 - margin
        return np.array([[x1, y0], [x1, y1], [x0, y1], [x0, y0]])


class TwoFeet:
    """For states with ``left_foot_…`` and ``right_foot_…`` position, rotation and wrench."""

    __slots__ = ()

    left_foot_position: NDArray
    left_foot_rotation: NDArray
    left_foot_wrench: NDArray
    right_foot_position: NDArray
    right_foot_rotation: NDArray
    right_foot_wrench: NDArray

    def foot_position(self, side: Side) -> NDArray:
        """Position of one sole (world, [m], shape (3,))."""
        return self.left_foot_position if side is Side.LEFT else self.right_foot_position

    def part_of_load(self, side: Side) -> float:
        """Return the part of the load that one foot carries, [-]; half, where neither carries any."""
        left, right = max(0.0, float(self.left_foot_wrench[2])), max(0.0, float(self.right_foot_wrench[2]))
        return (left if side is Side.LEFT else right) / (left + right) if left + right > 0.0 else 0.5

    def foot_rotation(self, side: Side) -> NDArray:
        """Rotation of one sole (world, shape (3, 3))."""
        return self.left_foot_rotation if side is Side.LEFT else self.right_foot_rotation

    def foot_wrench(self, side: Side) -> NDArray:
        """Wrench of the ground on one sole (world axes, about the sole origin, shape (6,))."""
        return self.left_foot_wrench if side is Side.LEFT else self.right_foot_wrench


@dataclass(frozen=True, slots=True, eq=False)
class FootContact:
    """One sole and the ground below it; world.

    The ground is a continuum of springs and dampers: each point of the sole feels k times its distance from where it
    is at rest, less b times its velocity, per square metre.

    Attributes:
        is_active: The foot carries load: the plan lets it, and the measured force says so.
        rest_position: Origin of the sole frame in the pose in which the ground exerts no force, [m], shape (3,).
        rest_rotation: Of the sole frame in that pose, x forward and z up, shape (3, 3).
        stiffness: k of the ground per area of the sole, [N/m³].
        damping: b of the ground per area of the sole, [N·s/m³].
    """

    is_active: bool
    rest_position: NDArray
    rest_rotation: NDArray
    stiffness: float
    damping: float

    def __post_init__(self) -> None:
        freeze_arrays(self, rest_position=(3,), rest_rotation=(3, 3))

    def with_ground(self, stiffness: float, damping: float) -> FootContact:
        """Return the same contact on other ground; its arrays are read-only and therefore shared."""
        return altered(self, stiffness=stiffness, damping=damping)


@dataclass(frozen=True, slots=True, eq=False)
class DcmReference:
    r"""The divergent component of motion :math:`\xi = x + \eta \dot x` at one instant, on the ground plane.

    .. math:: \dot\xi = \sigma (\xi - z), \qquad \sigma = (\dot\eta + 1) / \eta

    With a constant CoM height :math:`1/\eta = \sigma = \zeta = \sqrt{g/h}`.

    Attributes:
        position: World, [m], shape (2,).
        velocity: World, [m/s], shape (2,).
        natural_frequency: 1/η, divides the CoM velocity in the DCM, [rad/s].
        divergence_rate: σ, links the DCM to the ZMP, [rad/s].
        acceleration: World, [m/s²], shape (2,).
    """

    position: NDArray
    velocity: NDArray
    natural_frequency: float
    divergence_rate: float
    acceleration: NDArray

    def __post_init__(self) -> None:
        freeze_arrays(self, position=(2,), velocity=(2,), acceleration=(2,))

    @property
    def zmp_position(self) -> NDArray:
        """The zero moment point that goes with it (world, [m], shape (2,))."""
        return self.position - self.velocity / self.divergence_rate

    @property
    def zmp_velocity(self) -> NDArray:
        """Its velocity while σ stays as it is (world, [m/s], shape (2,))."""
        return self.velocity - self.acceleration / self.divergence_rate


@dataclass(frozen=True, slots=True, eq=False)
class FootReference:
    """Pose, twist and acceleration of a sole frame (mixed representation, world).

    Attributes:
        position: Origin of the sole frame, [m], shape (3,).
        rotation: Of the sole frame, x forward and z up whatever the robot's own convention, shape (3, 3).
        twist: Linear then angular velocity, [m/s, rad/s], shape (6,).
        acceleration: Linear then angular acceleration, [m/s², rad/s²], shape (6,).
        in_contact: Whether the foot is meant to carry load.
    """

    position: NDArray
    rotation: NDArray
    twist: NDArray
    acceleration: NDArray
    in_contact: bool

    def __post_init__(self) -> None:
        freeze_arrays(self, position=(3,), rotation=(3, 3), twist=(6,), acceleration=(6,))


@dataclass(frozen=True, slots=True, eq=False)
class WalkingReference:
    """One sample of a walking plan; everything in world.

    Attributes:
        time: Of the sample, on the plan's clock, [s].
        dcm: Divergent component of motion.
        com_position: Centre of mass, [m], shape (3,); its height is above the ground of the sole frames.
        com_velocity: [m/s], shape (3,).
        left_foot: Left sole.
        right_foot: Right sole.
        stance_foot: The foot that carries the base estimate: the one that stands longest.
        heading: Mean direction of the feet, the torso follows it, [rad].
        is_walking: False while the plan only stands (before the first weight shift and after the last).
    """

    time: float
    dcm: DcmReference
    com_position: NDArray
    com_velocity: NDArray
    left_foot: FootReference
    right_foot: FootReference
    stance_foot: Side
    heading: float
    is_walking: bool

    def __post_init__(self) -> None:
        freeze_arrays(self, com_position=(3,), com_velocity=(3,))

    def foot(self, side: Side) -> FootReference:
        """The reference of one foot."""
        return self.left_foot if side is Side.LEFT else self.right_foot

    @property
    def is_double_support(self) -> bool:
        """Whether both feet carry load."""
        return self.left_foot.in_contact and self.right_foot.in_contact

    @property
    def right_load_fraction(self) -> float:
        """Part of the load that the planned ZMP gives the right foot, by the line between the soles, [-]."""
        left = self.left_foot.position[:2]
        way = self.right_foot.position[:2] - left
        along = float((self.dcm.zmp_position - left).dot(way)) / float(way.dot(way))
        return min(1.0, max(0.0, along))


@dataclass(frozen=True, slots=True, eq=False)
class PlannedContact:
    """Time for which a plan has one sole on the ground, and where; world.

    Attributes:
        side: The foot.
        begin: Touch-down, [s].
        end: Lift-off, [s]; None where the foot stays for as long as was asked.
        position: Of the sole frame, [m], shape (3,).
        rotation: Of the sole frame, z is the normal of the contact plane, shape (3, 3).
    """

    side: Side
    begin: float
    end: float | None
    position: NDArray
    rotation: NDArray

    def __post_init__(self) -> None:
        freeze_arrays(self, position=(3,), rotation=(3, 3))


@dataclass(frozen=True, slots=True, eq=False)
class DcmPreview:
    """A walking plan sampled over n intervals of equal length; world.

    Attributes:
        period: Length of an interval, [s].
        dcm_positions: At the ends of the intervals, [m], shape (n + 1, 2).
        divergence_rates: σ in the middle of the intervals, [rad/s], shape (n,).
        left_in_contact: Whether the left foot carries load in the middle of the interval, shape (n,).
        right_in_contact: The same of the right foot, shape (n,).
        left_foot_poses: x, y, yaw of the left sole and, optionally, the slopes of its contact plane,
            [m, m, rad, -, -], shape (n, 3) or (n, 5); of a foot that swings, its landing.
        right_foot_poses: The same of the right sole.
    """

    period: float
    dcm_positions: NDArray
    divergence_rates: NDArray
    left_in_contact: npt.NDArray[np.bool_]
    right_in_contact: npt.NDArray[np.bool_]
    left_foot_poses: NDArray
    right_foot_poses: NDArray

    def __post_init__(self) -> None:
        count = len(self.divergence_rates)
        freeze_arrays(
            self,
            dcm_positions=(count + 1, 2),
            divergence_rates=(count,),
            left_foot_poses=(count, None),
            right_foot_poses=(count, None),
        )
        for name in ("left_in_contact", "right_in_contact"):
            flags = np.array(getattr(self, name), dtype=np.bool_)
            if flags.shape != (count,):
                raise ValueError(f"DcmPreview.{name}: expected {count} flags, got shape {flags.shape}")
            flags.flags.writeable = False
            object.__setattr__(self, name, flags)

    @property
    def growth(self) -> NDArray:
        r"""Factor by which the DCM leaves a constant ZMP in each interval, :math:`e^{\sigma T}`, [-], shape (n,)."""
        growth: NDArray = np.exp(self.period * self.divergence_rates)
        return growth

    @property
    def zmp_positions(self) -> NDArray:
        r"""Constant ZMP of each interval that carries the DCM from its beginning to its end, [m], shape (n, 2).

        The preview so obeys :math:`\xi_{k+1} = e^{\sigma T} \xi_k + (1 - e^{\sigma T}) z_k` exactly.
        """
        growth = self.growth[:, None]
        positions: NDArray = (self.dcm_positions[1:] - growth * self.dcm_positions[:-1]) / (1.0 - growth)
        return positions
