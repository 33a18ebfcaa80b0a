"""The first posture of a new robot: half sitting, its arms hanging."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from scipy.optimize import least_squares

from gradiva.common import GRAVITY, ModelError, NDArray, Side, SoleRectangle
from gradiva.robot_model import IdynTreeModel, as_array, as_pose
from gradiva.setup.new_robot.limbs import Limbs
from gradiva.setup.robots import data_folder, read_toml
from gradiva.simulation import RigidTree

_BENDS = (45.0, 40.0, 35.0, 30.0, 25.0, 20.0)  # [deg] of the knees from straight, the first that the joints allow
_MARGIN = 0.05  # [rad] kept from joint limits
_ROLL_MARGIN = 0.0175  # [rad] likewise of joints that roll: twice the offset of an encoder
_FROUDE = 0.12  # [-] of the top speed: that of iCub v2.7 at 0.27 m/s, which all shipped robots walk with a wide margin
_FLAT = 1e-4  # [rad] and [m]
_STRETCHED = 0.85  # [-] of the arm's length from shoulder to hand
_HANGING = (0.3, 0.2, -0.93)  # forward, outward, up: the direction from the shoulder to a hand
_REST = 0.02  # [m] that a radian away from zero is worth: chooses among arms that reach the same place
_PARALLEL = 0.7  # [-] cosine of a pitch joint's axis with the lateral axis
_CANTED = 0.5  # [-] likewise of a hip's where nothing else above the knee pitches: hips are canted by up to 60°
_LEVEL = 0.99  # [-] cosine between axes that are parallel
_TURN = 2.0 * math.pi  # [rad] joints that turn farther have no limits


@dataclass(frozen=True, slots=True)
class FirstPosture:
    """The start posture of a robot.

    Attributes:
        joint_positions: [rad], shape (n,).
        com_height: Of the centre of mass above the sole frames, [m].
        leg_length: From the hip to the sole frame along thigh and shank, [m].
        hip_distance: Of the sole frames when all joints are at zero, [m].
        zmp: Middle of the part of the left sole in which its ankle has the torque to hold the ZMP, sole frame, [m].
        ways: Of the pelvis over a foot, to which hips and ankles roll, while that foot stands and while it swings, [m].
        lift: Of a level foot half a stride behind, to which its ankle bends, [m].
        ankle_reach: Distance beside the joint that rolls the left ankle to which its torque holds the ZMP of the whole
            weight, [m].
    """

    joint_positions: NDArray
    com_height: float
    leg_length: float
    hip_distance: float
    zmp: tuple[float, float] = (0.0, 0.0)
    ways: tuple[float, float] = (math.inf, math.inf)
    lift: float = math.inf
    ankle_reach: float = math.inf

    @property
    def top_speed(self) -> float:
        """Speed that legs of this length walk with a wide margin, [m/s]."""
        return top_speed(self.leg_length)


def top_speed(leg_length: float) -> float:
    """Return the speed of Froude's number `_FROUDE`, [m/s], of legs of that length, [m]."""
    return _FROUDE * math.sqrt(GRAVITY * leg_length)


def first_posture(model: IdynTreeModel, tree: RigidTree, limbs: Limbs, sole: SoleRectangle) -> FirstPosture:
    """Return a posture with level soles below a straight pelvis, the CoM over the middle of the soles.

    Args:
        model: All joints of the walk.
        tree: The same, with the masses of its bodies.
        limbs: Joints of legs and arms.
        sole: Of the left foot.

    Raises:
        ModelError: The legs have no hip, knee and ankle that pitch, or their limits do not let the robot half sit.
    """
    return _Standing(model, tree, limbs, sole).solve()


class _Standing:
    def __init__(self, model: IdynTreeModel, tree: RigidTree, limbs: Limbs, sole: SoleRectangle) -> None:
        self._model, self._limbs, self._sole = model, limbs, sole
        self._bodies = {body.joint.name: body for body in tree.bodies if body.joint is not None}
        self._kinematics = model.kinematics_and_dynamics()
        self._joints = list(model.description.joints)
        self._low, self._high = model.joint_limits()
        self._zero = np.zeros(len(self._joints))
        soles = {side: self._pose(self._zero, limbs.soles[side]) for side in Side}
        self._up = np.array([0.0, 0.0, 1.0])
        left = np.cross(self._up, soles[Side.LEFT][1][:, 0])
        self._left = left / np.linalg.norm(left)
        self._forward = np.cross(self._left, self._up)
        self._hip_distance = float(np.linalg.norm(soles[Side.LEFT][0] - soles[Side.RIGHT][0]))
        self._pitches = {side: self._pitch_joints(limbs.legs[side]) for side in Side}
        self._straight = {side: self._straight_knee(side) for side in Side}
        self._zmp, self._ankle_reach = self._held_zmp()

    def solve(self) -> FirstPosture:
        """Return the posture with the most bent knees from which a first walk stays within the joint limits.

        Where none does, that with the most bent knees that can be reached.
        """
        arms = np.clip(self._zero, self._low, self._high)
        for side in Side:
            self._hang(arms, side)
        leg = self._leg_length()
        for margin, bend in product((_MARGIN + _stride(leg), _MARGIN), _BENDS):
            found = self._half_sit(arms, np.radians(bend), margin)
            if found is not None:
                height = self._com(found) - self._pose(found, self._limbs.soles[Side.LEFT])[0]
                ways, lift = self._ways(found), self._lift(found, leg)
                return FirstPosture(
                    found, float(height[2]), leg, self._hip_distance, self._zmp, ways, lift, self._ankle_reach
                )
        least, _ = self._bent(arms, np.radians(_BENDS[-1]))
        names = ", ".join(self._beyond_limits(index, least) for index in self._outside(least, _MARGIN))
        raise ModelError(
            f"the limits of {names or ', '.join(self._names(Side.LEFT))} do not let the"
            f" robot stand with knees bent by {_BENDS[-1]:g}° or more and the CoM over its feet"
        )

    def _beyond_limits(self, index: int, joints: NDArray) -> str:
        """Return the name of a joint with its limits and where it is in a posture."""
        at, low, high = np.degrees([joints[index], self._low[index], self._high[index]])
        return f"{self._joints[index]} ({low:.0f}° to {high:.0f}°, where it needs {at:.0f}°)"

    def _pitch_joints(self, leg: Sequence[str]) -> list[tuple[int, float]]:
        """Return hip, knee and ankle pitch: index of each joint, and 1 where it turns about the left, else −1."""
        along = {self._joints.index(name): float(self._axis(name) @ self._left) for name in leg}
        pitches = [(index, float(np.sign(cosine))) for index, cosine in along.items() if abs(cosine) > _PARALLEL]
        if len(pitches) == 2:
            above = list(along)[: list(along).index(pitches[0][0])]
            canted = [index for index in above if abs(along[index]) > _CANTED]
            pitches = [*((index, float(np.sign(along[index]))) for index in canted[:1]), *pitches]
        if len(pitches) < 3:
            names = ", ".join(self._joints[index] for index, _ in pitches) or "none"
            raise ModelError(f"a leg needs three joints that pitch; of {', '.join(leg)}: {names}{self._turned(leg)}")
        hip, ankle = pitches[0], pitches[-1]
        low, high = np.clip((self._low, self._high), -_TURN, _TURN)
        knee = max(pitches[1:-1], key=lambda joint: float(high[joint[0]] - low[joint[0]]))
        return [hip, knee, ankle]

    def _straight_knee(self, side: Side) -> float:
        """Return the angle at which a leg is straight whose knee is behind the line from hip to ankle at zero, [rad].

        Where it is ahead of that line, 0: the knee is bent at zero.
        """
        joints = [self._bodies[self._joints[index]].name for index, _ in self._pitches[side]]
        hip, knee, ankle = (self._pose(self._zero, name)[0] for name in joints)
        across = float(self._left @ np.cross(knee - hip, ankle - knee))
        flat = np.eye(3) - np.outer(self._left, self._left)
        return max(-math.atan2(across, float((knee - hip) @ flat @ (ankle - knee))), 0.0)

    def _turned(self, leg: Sequence[str]) -> str:
        """Return advice where three joints of a leg are parallel, about another axis than the lateral one."""
        axes = np.array([self._axis(name) for name in leg])
        along = np.abs(axes @ axes.T) > _LEVEL
        most = int(np.argmax(along.sum(axis=1)))
        if along[most].sum() < 3:
            return ""
        names = ", ".join(np.array(leg)[along[most]])
        axis = "xyz"[int(np.argmax(np.abs(axes[most])))]
        return (
            f"; {names} are parallel, along {axis} of '{self._limbs.base_link}': turn the model so that they are along"
            " y, z is up and x forward"
        )

    def _half_sit(self, arms: NDArray, bend: float, margin: float) -> NDArray | None:
        """Return the posture with the knees bent by so much, None where joint limits less a margin are in the way."""
        found, is_level = self._bent(arms, bend)
        return found if is_level and not self._outside(found, margin) else None

    def _outside(self, joints: NDArray, margin: float) -> list[int]:
        """Return the joints that pitch the legs and are beyond their limits less a margin, [rad]."""
        is_outside = (joints < self._low + margin) | (joints > self._high - margin)
        return [index for side in Side for index, _ in self._pitches[side] if is_outside[index]]

    def _bent(self, arms: NDArray, bend: float) -> tuple[NDArray, bool]:
        """Return the posture with the knees bent by so much, and whether its soles are level below the CoM."""

        def posture(angles: NDArray) -> NDArray:
            """Return all joints, [rad], shape (n,), for the pitch of hips and of ankles, [rad], shape (2,)."""
            joints = arms.copy()
            for side in Side:
                knee = self._straight[side] + bend
                for (index, sign), angle in zip(self._pitches[side], (angles[0], knee, angles[1]), strict=True):
                    joints[index] = sign * angle
            return joints

        def residual(angles: NDArray) -> NDArray:
            """Return the sine of the soles' pitch, and the CoM ahead of the ZMP in the sole, [m]."""
            joints = posture(angles)
            position, rotation = self._pose(joints, self._limbs.soles[Side.LEFT])
            ahead = self._forward @ (self._com(joints) - position) - self._zmp[0]
            return np.array([rotation[:, 0] @ self._up, ahead])

        solution = least_squares(residual, [-0.5 * bend, -0.5 * bend])
        return posture(solution.x), bool(np.all(np.abs(solution.fun) < _FLAT))

    def _held_zmp(self) -> tuple[tuple[float, float], float]:
        r"""Return the middle of the part of the left sole in which its ankle has the torque to hold the ZMP, [m].

        The ZMP of the whole weight is at most :math:`\tau / (m g)` from the axis of the joint; that of the joint that
        rolls is returned as well.
        """
        leg, torques = self._limbs.legs[Side.LEFT], self._model.torque_limits()
        position, rotation = self._pose(self._zero, self._limbs.soles[Side.LEFT])
        middle, ankle_reach = [], math.inf
        for row, (low, high), direction in zip(
            (0, 1), (self._sole.x, self._sole.y), (self._left, self._forward), strict=True
        ):
            ankle = self._parallel(leg, direction)[-1:]
            for name in ankle:
                axis = float((rotation.T @ (self._pose(self._zero, self._bodies[name].name)[0] - position))[row])
                torque = float(torques[self._joints.index(name)])
                reach = torque / (self._model.description.mass * GRAVITY) if torque > 0.0 else math.inf
                if low < axis < high:
                    low, high = max(low, axis - reach), min(high, axis + reach)
                ankle_reach = reach  # that of the joint that rolls comes last
            middle.append(0.5 * (low + high))
        return (middle[0], middle[1]), ankle_reach

    def _ways(self, joints: NDArray) -> tuple[float, float]:
        r"""Return how far the left hip may be beside its foot, outward and inward, with a level pelvis and sole, [m].

        Hip and ankle then roll by the same angle :math:`\varphi`: :math:`h \tan\varphi`, with h between their axes.
        """
        rolls = self._parallel(self._limbs.legs[Side.LEFT], self._forward)
        if len(rolls) < 2:
            return math.inf, math.inf
        hip, ankle = rolls[0], rolls[-1]
        heights = [self._pose(joints, self._bodies[name].name)[0] @ self._up for name in (hip, ankle)]
        (hip_in, hip_out), (ankle_in, ankle_out) = (self._rolls(name, joints) for name in (hip, ankle))
        angles = min(hip_in, ankle_out), min(hip_out, ankle_in)
        height = float(heights[0] - heights[1])
        outward, inward = (height * math.tan(min(max(angle - _ROLL_MARGIN, 0.0), 1.0)) for angle in angles)
        return outward, inward

    def _lift(self, joints: NDArray, leg: float) -> float:
        r"""Return how far an ankle that stays level lets its foot be lifted, [m].

        Thigh and shank of the same length turn by the same angle :math:`\varphi` from the vertical:
        :math:`l (\cos\varphi - \cos\varphi_{max})`, half of the longest stride kept for a foot that is behind.
        """
        lifts = []
        for side in Side:
            index, sign = self._pitches[side][-1]
            limit = self._low[index] if sign > 0.0 else -self._high[index]
            bent = max(-sign * float(joints[index]), 0.0)
            farthest = min(-float(limit) - _MARGIN - 0.5 * _stride(leg), 0.5 * math.pi)
            lifts.append(leg * (math.cos(bent) - math.cos(max(farthest, bent))))
        return min(lifts)

    def _rolls(self, name: str, joints: NDArray) -> tuple[float, float]:
        """Return by how much a joint of the left leg still turns its foot inward and outward, [rad]."""
        index = self._joints.index(name)
        below, above = float(joints[index] - self._low[index]), float(self._high[index] - joints[index])
        return (below, above) if self._axis(name) @ self._forward > 0.0 else (above, below)

    def _parallel(self, leg: Sequence[str], direction: NDArray) -> list[str]:
        """Return the joints of a leg whose axes are along a direction, (3,), from the hip down."""
        return [name for name in leg if abs(float(self._axis(name) @ direction)) > _PARALLEL]

    def _hang(self, joints: NDArray, side: Side) -> None:
        """Write the positions of one arm that hangs, its elbow bent, into ``joints``."""
        names = self._limbs.arms[side]
        if not names:
            return
        indices = [self._joints.index(name) for name in names]
        links = [self._bodies[name].name for name in names]
        hand = self._bodies[names[-1]].inertial.centre
        shoulder = self._pose(self._zero, links[0])[0]
        length = self._length(self._zero, links) + float(np.linalg.norm(hand))
        ahead, outward, up = _HANGING
        target = shoulder + _STRETCHED * length * (
            ahead * self._forward + side.sign * outward * self._left + up * self._up
        )

        def residual(angles: NDArray) -> NDArray:
            """Return the hand off its target, [m], shape (3,), and a weight on angles that reach it in any case."""
            trial = joints.copy()
            trial[indices] = angles
            position, rotation = self._pose(trial, links[-1])
            return np.concatenate((position + rotation @ hand - target, _REST * angles))

        low = np.maximum(self._low[indices], -_TURN) + _MARGIN  # limits of 1e308 overflow
        high = np.minimum(self._high[indices], _TURN) - _MARGIN
        joints[indices] = least_squares(residual, np.clip(0.0, low, high), bounds=(low, high)).x

    def _leg_length(self) -> float:
        links = [self._bodies[name].name for name in self._names(Side.LEFT)]
        return self._length(self._zero, [*links, self._limbs.soles[Side.LEFT]])

    def _length(self, joints: NDArray, frames: Sequence[str]) -> float:
        """Return the length of the way over the origins of frames, [m]."""
        origins = [self._pose(joints, frame)[0] for frame in frames]
        return sum(float(np.linalg.norm(end - begin)) for begin, end in pairwise(origins))

    def _names(self, side: Side) -> list[str]:
        return [self._joints[index] for index, _ in self._pitches[side]]

    def _axis(self, name: str) -> NDArray:
        """Return the axis of a joint when all are at zero, in the base, shape (3,)."""
        body = self._bodies[name]
        assert body.joint is not None
        return np.asarray(self._pose(self._zero, body.name)[1] @ body.joint.axis)

    def _pose(self, joints: NDArray, frame: str) -> tuple[NDArray, NDArray]:
        """Return position and rotation of a frame in the base."""
        self._kinematics.setJointPos(joints)
        return as_pose(self._kinematics.getRelativeTransform(self._limbs.base_link, frame))

    def _com(self, joints: NDArray) -> NDArray:
        """Return the centre of mass in the base, [m], shape (3,)."""
        self._kinematics.setJointPos(joints)
        return as_array(self._kinematics.getCenterOfMassPosition())


def usual_durations() -> tuple[float, float]:
    """Return the shortest and the longest step of ``config/planner.toml``, [s]."""
    planner = read_toml(data_folder("config") / "planner.toml")["planner"]
    return planner["min_step_duration"], planner["max_step_duration"]


def _stride(leg_length: float) -> float:
    r"""Return the angle by which legs turn in the longest step of a first walk, at half of the top speed, [rad].

    :math:`\arcsin(v T / (2 l))`, from below the hip to half a step ahead or behind.
    """
    _, longest = usual_durations()
    return math.asin(min(1.0, 0.5 * (0.5 * top_speed(leg_length)) * longest / leg_length))
