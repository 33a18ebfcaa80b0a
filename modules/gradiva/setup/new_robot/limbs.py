"""Find the limbs of a robot in a URDF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gradiva.common import ModelError, NDArray, Side, nearest_name
from gradiva.setup.new_robot.skeleton import LATERAL, Skeleton
from gradiva.setup.new_robot.soles import forward_of, heading, is_sole, standing_plane
from gradiva.simulation import Urdf

LEG_JOINTS = 6  # degrees of freedom of a sole's pose
_LEVEL = 0.99  # [-] cosine between axes that are taken to be parallel
_UP = np.array([0.0, 0.0, 1.0])
_OF_ARMS = ("shoulder", "elbow", "wrist")  # in names of joints
_IMU_NAMES = ("imu", "inertial", "gyro", "accelerometer")  # the surest first


@dataclass(frozen=True, slots=True)
class Choices:
    """Names that the user gives; those that are None are searched for.

    Attributes:
        left_foot: Link or frame of the left foot.
        right_foot: Likewise.
        left_sole: Frame of the left sole, x forward, z up.
        right_sole: Likewise.
        imu: Frame of the inertial unit.
        arm_joints: Joints that an arm has in the walk, from the shoulder on; the rest is locked.
    """

    left_foot: str | None = None
    right_foot: str | None = None
    left_sole: str | None = None
    right_sole: str | None = None
    imu: str | None = None
    arm_joints: int = 4


@dataclass(frozen=True, slots=True)
class Limbs:
    """Names of the links, frames and joints that walking uses.

    Attributes:
        base_link: Root of the URDF.
        torso_frame: Link that carries the arms.
        soles: Sole frame of each foot.
        imu_frame: The inertial unit.
        torso: Joints between base and torso.
        arms: Joints of each arm; none for a robot without arms.
        legs: Joints of each leg.
        is_forward_guessed: Whether nothing says where the robot looks, or the evidence contradicts itself.
    """

    base_link: str
    torso_frame: str
    soles: dict[Side, str]
    imu_frame: str
    torso: tuple[str, ...]
    arms: dict[Side, tuple[str, ...]]
    legs: dict[Side, tuple[str, ...]]
    is_forward_guessed: bool = False

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """Joint groups by the names that config/whole_body.toml has weights for."""
        arms = {f"{side}_arm": self.arms[side] for side in Side}
        return {"torso": self.torso, **arms, **{f"{side}_leg": self.legs[side] for side in Side}}

    @property
    def joints(self) -> tuple[str, ...]:
        """All joints, in the order of the groups."""
        return tuple(joint for joints in self.groups.values() for joint in joints)


def find_limbs(urdf: Urdf, choices: Choices) -> Limbs:
    """Return the limbs of a biped that stands with straight legs when all joints are at zero.

    Feet are the lowest bodies that are mirror images of each other with six joints above them; arms the heaviest such
    pair of chains that are no legs; the torso is the body that carries the arms.

    Raises:
        ModelError: The model has no root or several, or no two feet are found; the message says what to name.
    """
    skeleton = Skeleton(urdf)
    feet = _feet(skeleton, choices)
    if shared := skeleton.shared(*feet.values()):
        raise ModelError(f"the root of the URDF has to be '{skeleton.link(shared[-1])}', where both legs begin")
    soles, forward = _soles(skeleton, feet, choices)
    if skeleton.position(feet[Side.LEFT])[1] * forward < skeleton.position(feet[Side.RIGHT])[1] * forward:
        raise ModelError(
            f"'{soles[Side.LEFT]}' is right of '{soles[Side.RIGHT]}' when x of the soles is forward: exchange"
            " --left-foot and --right-foot, or name frames with --left-sole and --right-sole"
        )
    torso, shoulders = _shoulders(skeleton, feet)
    arms = {
        side: _arm(skeleton, shoulders, 1.0 if side is Side.LEFT else -1.0, forward, choices.arm_joints)
        for side in Side
    }
    return Limbs(
        base_link=urdf.roots[0],
        torso_frame=skeleton.link(torso),
        soles=soles,
        imu_frame=_imu(skeleton, torso, choices),
        torso=skeleton.joints_to(torso),
        arms=arms,
        legs={side: skeleton.joints_to(foot) for side, foot in feet.items()},
        is_forward_guessed=_forward(skeleton, feet, choices)[1],
    )


def walking_base(urdf: Urdf, choices: Choices) -> tuple[str, NDArray]:
    """Return the link at which both legs begin, and its rotation in the root, shape (3, 3).

    It is the root, or what is below a waist where the root is the trunk.

    Raises:
        ModelError: As of `find_limbs`.
    """
    skeleton = Skeleton(urdf)
    shared = skeleton.shared(*_feet(skeleton, choices).values())
    if not shared:
        return urdf.roots[0], np.eye(3)
    link = skeleton.link(shared[-1])
    return link, (skeleton.poses[shared[-1]] @ skeleton.bodies[shared[-1]].frames[link])[:3, :3]


def standing_turn(urdf: Urdf, choices: Choices) -> NDArray | None:
    """Return the rotation from the axes of the root to some with z up and a leg on each side of y = 0, shape (3, 3).

    None where they hang so already, or the user names the feet, or no turn by right angles lets them hang so.
    """
    straight = Skeleton(urdf)
    if choices.left_foot or choices.left_sole or _leg_pairs(straight) or _short_legs(straight):
        return None
    hanging, turn = max(((_hanging(Skeleton(urdf, turn)), turn) for turn in _right_angles()), key=lambda each: each[0])
    return turn if hanging > 0.0 and not np.array_equal(turn, np.eye(3)) else None


def _hanging(skeleton: Skeleton) -> float:
    """Return how far the ends of two limbs, of legs where there are any, hang below where they begin, [m]."""
    feet = [pair[0] for pair in _leg_pairs(skeleton)] or _ends(skeleton)
    below = [skeleton.position(skeleton.chain(foot)[0])[2] - skeleton.position(foot)[2] for foot in feet]
    return max(map(float, below), default=0.0)


def _right_angles() -> list[NDArray]:
    """Return the rotations that put an axis, or its opposite, up and another one to the left: rows ahead, left, up."""
    axes = np.eye(3)
    pairs = [(sign * up, left) for up in axes[::-1] for sign in (1.0, -1.0) for left in axes[::-1] if not up @ left]
    return [np.array([np.cross(left, up), left, up]) for up, left in pairs]


def missing_soles(urdf: Urdf, choices: Choices, model_file: Path) -> dict[Side, tuple[str, NDArray]]:
    """Return the link and the pose in it, homogeneous, (4, 4), of a sole frame for each foot that has none.

    Such a frame has x forward and z up when all joints are at zero, and the origin of the foot. Where the legs are bent
    then, so that a foot touches level ground in no more than a line, z is normal to the plane on which it can stand.

    Args:
        urdf: Of the robot.
        choices: Names that the user gives.
        model_file: The URDF, from which meshes are found.

    Raises:
        ModelError: As of `find_limbs`.
    """
    skeleton = Skeleton(urdf)
    feet = _feet(skeleton, choices)
    (forward, _), missing = _forward(skeleton, feet, choices), {}
    wanted = {Side.LEFT: choices.left_sole, Side.RIGHT: choices.right_sole}
    for side, foot in feet.items():
        if wanted[side] is None and (up := _missing_up(skeleton, foot, forward, model_file)) is not None:
            pose = np.eye(4)
            pose[:3, :3] = skeleton.poses[foot][:3, :3].T @ _axes(np.array([forward, 0.0, 0.0]), up)
            missing[side] = skeleton.bodies[foot].name, pose
    return missing


def _missing_up(skeleton: Skeleton, foot: int, forward: float, model_file: Path) -> NDArray | None:
    """Return z, in the base, of the sole frame that a foot lacks, shape (3,); None where it has one."""
    body, rotation = skeleton.bodies[foot], skeleton.poses[foot][:3, :3]
    default = None if _level_frames(skeleton, foot, forward) else _UP
    try:
        up = None if is_sole(body, rotation, model_file) else standing_plane(body, rotation, model_file)
    except ModelError:  # a mesh cannot be read, which matters where no sole is given
        return default
    return default if up is None else up


def _axes(forward: NDArray, up: NDArray) -> NDArray:
    """Return the rotation of a frame with z up and x forward as far as z lets it, shape (3, 3)."""
    left = np.cross(up, forward)
    left /= np.linalg.norm(left)
    return np.column_stack((np.cross(left, up), left, up))


def _feet(skeleton: Skeleton, choices: Choices) -> dict[Side, int]:
    """Return the bodies of the feet; sides by the y axis of the base where they are not named."""
    named = choices.left_foot or choices.left_sole, choices.right_foot or choices.right_sole
    if named[0] and named[1]:
        feet = dict(zip((Side.LEFT, Side.RIGHT), (skeleton.index_of(name) for name in named if name), strict=True))
    else:
        feet = _lowest_pair(skeleton)
    _refuse_coupled_leg(skeleton, feet[Side.LEFT])
    shared = skeleton.shared(*feet.values())
    if shared and not skeleton.is_waist(shared, feet[Side.LEFT]):
        common = ", ".join(skeleton.joints_to(shared[-1]))
        raise ModelError(f"both legs have {common}: name feet whose joints are their own")
    for side, foot in feet.items():
        joints = skeleton.joints_to(foot)[len(shared) :]
        if len(joints) < LEG_JOINTS:
            raise ModelError(
                f"the {side} leg down to '{skeleton.bodies[foot].name}' has {_count(joints)} of its own"
                f" ({', '.join(joints)}), walking needs {LEG_JOINTS}: name another link with --{side}-foot"
            )
    return feet


def _leg_pairs(skeleton: Skeleton) -> list[tuple[int, int]]:
    """Return the pairs of bodies that end legs, the one with positive y first."""
    bodies = [index for index in range(len(skeleton.bodies)) if len(skeleton.chain(index)) >= LEG_JOINTS]
    return [pair for pair in skeleton.mirror_images(bodies) if _are_legs(skeleton, *pair)]


def _lowest_pair(skeleton: Skeleton) -> dict[Side, int]:
    pairs = _leg_pairs(skeleton)
    if not pairs:
        raise ModelError(
            _short_legs(skeleton)
            or (
                f"no two bodies with {LEG_JOINTS} joints of their own above them mirror each other about y = 0 of '"
                f"{skeleton.bodies[0].name}'; {_lowest_limbs(skeleton)}"
            )
        )
    first, second = min(pairs, key=lambda pair: float(skeleton.position(pair[0])[2]))
    _refuse_arms(skeleton, first)
    _refuse_long_leg(skeleton, first)
    if forward_of(skeleton, (first, second))[0] > 0.0:
        return {Side.LEFT: first, Side.RIGHT: second}
    return {Side.LEFT: second, Side.RIGHT: first}


def _refuse_coupled_leg(skeleton: Skeleton, foot: int) -> None:
    """Refuse a leg in which joints follow others, as those of parallel links.

    Raises:
        ModelError: It has such joints.
    """
    joints = [joint for index in skeleton.chain(foot) if (joint := skeleton.bodies[index].joint) is not None]
    coupled = [f"{joint.name} follows {joint.mimic}" for joint in joints if joint.mimic]
    if coupled:
        raise ModelError(
            f"in a leg {', '.join(coupled)}, and walking knows no coupled joints: {LEG_JOINTS} of their own"
        )


def _refuse_arms(skeleton: Skeleton, tip: int) -> None:
    """Refuse limbs that are arms by the names of their joints, where no lower ones are long enough.

    Raises:
        ModelError: They are.
    """
    arms = [name for name in skeleton.joints_to(tip) if any(word in name.lower() for word in _OF_ARMS)]
    if arms:
        raise ModelError(
            _short_legs(skeleton)
            or f"it has no legs: the lowest limbs of {LEG_JOINTS} joints and more are arms, by names as {arms[0]}"
        )


def _refuse_long_leg(skeleton: Skeleton, foot: int) -> None:
    """Refuse a leg that goes on below its sixth joint with an ankle: a joint that pitches is of toes, and is locked.

    Raises:
        ModelError: It does.
    """
    for child in skeleton.children(foot):
        joint = skeleton.bodies[child].joint
        assert joint is not None, "only the base has no joint"
        is_toe = abs(skeleton.lateral(child)) > LATERAL
        if not is_toe and joint.limits[0] < joint.limits[1]:  # sensors too are drawn as joints without a range
            raise ModelError(
                f"a leg has {_limb(skeleton, child)}, and"
                f" walking knows legs of {LEG_JOINTS}: fix one of them, as of two that are a single knee"
            )


def _short_legs(skeleton: Skeleton) -> str:
    """Return what is wrong where the lowest two bodies end legs of too few joints; nothing where they end none."""
    first = min(_ends(skeleton), key=lambda body: float(skeleton.position(body)[2]), default=0)
    joints = skeleton.joints_to(first)
    if not 0 < len(joints) < LEG_JOINTS or skeleton.position(first)[2] > 0.0:
        return ""
    return (
        f"a leg has {_limb(skeleton, first)}, walking needs {LEG_JOINTS}, to lay a flat sole anywhere in any direction"
    )


def _lowest_limbs(skeleton: Skeleton) -> str:
    """Return the number and names of the joints of the two limbs that end lowest, and of joints that a leg needs."""
    tips = [body for body in range(1, len(skeleton.bodies)) if not skeleton.children(body)]
    if not tips:
        return f"none of its joints turns, a leg needs {LEG_JOINTS}"
    long = [tip for tip in tips if len(skeleton.chain(tip)) == LEG_JOINTS]
    if len(long) == 2 and not skeleton.shared(*long) and not _hang_astride(skeleton, long):
        places = " and ".join(f"'{skeleton.bodies[tip].name}' at {_place(skeleton, tip)}" for tip in long)
        return (
            f"the only limbs of {LEG_JOINTS} joints end in {places} when all joints are at zero: the model is turned or"
            " beside its root; put its root between the hips, z up, x forward"
        )
    lowest = sorted(tips, key=lambda body: float(skeleton.position(body)[2]))[:2]
    limbs = [_limb(skeleton, tip) for tip in lowest]
    return (
        f"the lowest limb{' has' if len(limbs) == 1 else 's have'} {' and '.join(limbs)}, a leg needs {LEG_JOINTS}:"
        " name the feet with --left-foot and --right-foot if these are no legs"
    )


def _limb(skeleton: Skeleton, tip: int) -> str:
    """Return the number and names of the joints down to a body."""
    joints = skeleton.joints_to(tip)
    return f"{_count(joints)}, down to '{skeleton.bodies[tip].name}' ({', '.join(joints)})"


def _hang_astride(skeleton: Skeleton, limbs: Sequence[int]) -> bool:
    """Return whether two limbs end on both sides of y = 0, each below where it begins."""
    left, right = (skeleton.position(limb)[1] for limb in limbs)
    below = [skeleton.position(limb)[2] < skeleton.position(skeleton.chain(limb)[0])[2] for limb in limbs]
    return bool(left * right < 0.0 and all(below))


def _place(skeleton: Skeleton, body: int) -> str:
    """Return where a body is in the base."""
    return f"({', '.join(f'{place + 0.0:.2f}' for place in skeleton.position(body))}) m"


def _count(joints: Sequence[str]) -> str:
    return f"{len(joints)} joint{'s' * (len(joints) != 1)}"


def _ends(skeleton: Skeleton) -> list[int]:
    """Return bodies with positive y that have a mirror image, and no joint in common with it."""
    bodies = list(range(1, len(skeleton.bodies)))
    return [left for left, right in skeleton.mirror_images(bodies) if not skeleton.shared(left, right)]


def _are_legs(skeleton: Skeleton, left: int, right: int) -> bool:
    """Return whether two bodies have as many joints of their own above them as legs, below a waist or from the root."""
    shared = skeleton.shared(left, right)
    are_long = all(len(skeleton.chain(body)) == len(shared) + LEG_JOINTS for body in (left, right))
    return are_long and (not shared or skeleton.is_waist(shared, left))


def _forward(skeleton: Skeleton, feet: dict[Side, int], choices: Choices) -> tuple[float, bool]:
    """Return as `forward_of`; x of a sole frame that the user names is forward."""
    for side, sole in ((Side.LEFT, choices.left_sole), (Side.RIGHT, choices.right_sole)):
        if sole in skeleton.bodies[feet[side]].frames and (forward := heading(skeleton, feet[side], sole)):
            return forward, False
    return forward_of(skeleton, (feet[Side.LEFT], feet[Side.RIGHT]))


def _soles(skeleton: Skeleton, feet: dict[Side, int], choices: Choices) -> tuple[dict[Side, str], float]:
    """Return the sole frames, and whether they look along x of the base (1) or against it (−1)."""
    wanted = {Side.LEFT: choices.left_sole, Side.RIGHT: choices.right_sole}
    forward, _ = _forward(skeleton, feet, choices)
    return {side: _sole(skeleton, foot, side, forward, wanted[side]) for side, foot in feet.items()}, forward


def _sole(skeleton: Skeleton, foot: int, side: Side, forward: float, wanted: str | None) -> str:
    body = skeleton.bodies[foot]
    if wanted is not None:
        if wanted not in body.frames:
            raise ModelError(f"--{side}-sole {wanted}: not a frame of the foot{nearest_name(wanted, body.frames)}")
        if heading(skeleton, foot, wanted) != forward:
            raise ModelError(f"--{side}-sole {wanted}: its x axis is not forward when all joints are at zero")
        return wanted
    level = _level_frames(skeleton, foot, forward)
    if not level:
        raise ModelError(
            f"no frame of the foot '{body.name}' has x forward and z up when all joints are at zero (it has"
            f" {', '.join(body.frames)}): add one to the URDF, or name one with --{side}-sole"
        )
    return next((frame for frame in level if "sole" in frame.lower()), level[0])


def _level_frames(skeleton: Skeleton, foot: int, forward: float) -> list[str]:
    """Return the frames of a foot with x forward and z up."""
    poses = {frame: skeleton.poses[foot] @ in_body for frame, in_body in skeleton.bodies[foot].frames.items()}
    return [frame for frame, pose in poses.items() if pose[2, 2] > _LEVEL and forward * pose[0, 0] > _LEVEL]


def _shoulders(skeleton: Skeleton, feet: dict[Side, int]) -> tuple[int, tuple[int, int] | None]:
    """Return the body that carries the arms, and the first bodies of the arms (positive y first) if it has any."""
    of_legs = {index for foot in feet.values() for index in skeleton.chain(foot)}
    bodies = [index for index in range(len(skeleton.bodies)) if not of_legs & {index, *skeleton.chain(index)}]
    pairs = [
        pair
        for pair in skeleton.mirror_images(bodies)
        if skeleton.bodies[pair[0]].parent == skeleton.bodies[pair[1]].parent
    ]
    if not pairs:
        return 0, None
    heaviest = max(pairs, key=lambda pair: skeleton.mass(pair[0]))
    return skeleton.bodies[heaviest[0]].parent, heaviest


def _arm(
    skeleton: Skeleton, shoulders: tuple[int, int] | None, left: float, forward: float, joints: int
) -> tuple[str, ...]:
    """Return the joints of one arm from the shoulder on: the heavier way where it branches."""
    if shoulders is None:
        return ()
    body = shoulders[0] if left * forward > 0.0 else shoulders[1]
    names: list[str] = []
    while len(names) < joints:
        joint = skeleton.bodies[body].joint
        assert joint is not None, "only the base has no joint"
        names.append(joint.name)
        below = skeleton.children(body)
        if not below:
            break
        body = max(below, key=skeleton.mass)
    return tuple(names)


def _imu(skeleton: Skeleton, torso: int, choices: Choices) -> str:
    """Return a frame named as inertial units are, on the base or else on the torso; the base itself without one."""
    if choices.imu is not None:
        skeleton.index_of(choices.imu)
        return choices.imu
    for body in (0, torso):
        for name in _IMU_NAMES:
            for frame in skeleton.bodies[body].frames:
                if name in frame.lower():
                    return frame
    return skeleton.bodies[0].name
