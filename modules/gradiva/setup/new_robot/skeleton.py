"""The bodies of a URDF as a tree in which every hinge moves: positions, chains, mirror images, and where it looks."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np

from gradiva.common import ModelError, NDArray
from gradiva.setup.new_robot.soles import covers_sole, lowest, points_of
from gradiva.simulation import RigidBody, RigidTree, Urdf, weld

LATERAL = 0.7  # [-] cosine of a pitch joint's axis with the lateral axis
_MIRROR_TOLERANCE = 0.02  # [m]


class Skeleton:
    """All bodies of a URDF, every revolute joint moving, with their poses in the base when all joints are at zero.

    Args:
        urdf: Of the robot.
        turn: From the axes of its root to those of the base, rotation, shape (3, 3); none where they are the same.
    """

    def __init__(self, urdf: Urdf, turn: NDArray | None = None) -> None:
        if len(urdf.roots) != 1:
            found = f"{len(urdf.roots)} roots ({', '.join(urdf.roots)})" if urdf.roots else "no links"
            raise ModelError(f"the URDF has {found}: a robot has one root")
        moving = [joint.name for joint in urdf.joints.values() if joint.kind in ("revolute", "continuous")]
        self.tree: RigidTree = weld(urdf, urdf.roots[0], moving)
        self.bodies: tuple[RigidBody, ...] = self.tree.bodies
        self.poses: list[NDArray] = []
        root = np.eye(4)
        if turn is not None:
            root[:3, :3] = turn
        for body in self.bodies:
            self.poses.append((root if body.parent < 0 else self.poses[body.parent]) @ body.pose)

    def link(self, body: int) -> str:
        """Return the first link of a body, or its heaviest where the first is nothing but an axis."""
        links = self.bodies[body].inertials
        is_solid = self.bodies[body].name in links or not links
        return self.bodies[body].name if is_solid else max(links, key=lambda link: links[link].mass)

    def names(self, body: int) -> str:
        """Return the names of a body and of the joint that moves it."""
        joint = self.bodies[body].joint
        return self.bodies[body].name if joint is None else f"{joint.name} {self.bodies[body].name}"

    def lateral(self, body: int) -> float:
        """Return the cosine of the axis of a body's joint with y of the base; 0 of the base itself."""
        joint = self.bodies[body].joint
        return 0.0 if joint is None else float((self.poses[body][:3, :3] @ joint.axis)[1])

    def position(self, body: int) -> NDArray:
        """Return the origin of a body in the base, [m], shape (3,)."""
        return np.asarray(self.poses[body][:3, 3])

    def chain(self, body: int) -> list[int]:
        """Return the bodies from below the base to ``body``."""
        chain: list[int] = []
        while body > 0:
            chain.insert(0, body)
            body = self.bodies[body].parent
        return chain

    def joints_to(self, body: int) -> tuple[str, ...]:
        """Return the joints between the base and a body, from the base on."""
        return tuple(joint.name for index in self.chain(body) if (joint := self.bodies[index].joint) is not None)

    def shared(self, left: int, right: int) -> list[int]:
        """Return the bodies that the chains to two others have in common, from below the base on."""
        return [body for body in self.chain(left) if body in self.chain(right)]

    def is_waist(self, shared: list[int], limb: int) -> bool:
        """Return whether limbs that share bodies begin below the base, as legs below a waist do, and no arms."""
        return bool(self.position(self.chain(limb)[len(shared)])[2] < 0.0)

    def children(self, body: int) -> list[int]:
        """Return the bodies that hang on one."""
        return [index for index, other in enumerate(self.bodies) if other.parent == body]

    def mass(self, body: int) -> float:
        """Return the mass of a body and of all that hangs on it, [kg]."""
        own = sum(part.mass for part in self.bodies[body].inertials.values())
        return own + sum(self.mass(child) for child in self.children(body))

    def index_of(self, frame: str) -> int:
        """Return the body that carries a link or frame.

        Raises:
            ModelError: There is none.
        """
        return self.bodies.index(self.tree.body_of(frame))

    def mirror_images(self, bodies: list[int]) -> Iterator[tuple[int, int]]:
        """Yield pairs of bodies on both sides of the plane y = 0 of the base, the one with positive y first."""
        for first in bodies:
            for second in bodies:
                mirrored = self.position(second) * [1.0, -1.0, 1.0]
                is_near = np.linalg.norm(self.position(first) - mirrored) < _MIRROR_TOLERANCE
                if is_near and self.position(first)[1] > _MIRROR_TOLERANCE:
                    yield first, second


# -- forward -----------------------------------------------------------------------------------------------------------

_HEEL_TOLERANCE = 0.005  # [m] of the middle of a foot from its ankle: below it neither end is the heel
_HEEL_FRACTION = 0.1  # [-] of the length of what touches: as above, of long feet
_LEVEL = 0.3  # [-] of the x axis of a frame along that of the base: one with less looks up, down or aside
_TURN = 2.0 * np.pi  # [rad] joints that turn farther have no limits
_ONE_SIDED = 0.5  # [-] of half its range: a knee whose middle is farther from the straight leg bends to one side


def forward_of(skeleton: Skeleton, feet: tuple[int, int]) -> tuple[float, bool]:
    """Return whether a biped looks along x of the base (1) or against it (−1), and whether that is a guess.

    Names say it first: which leg is called the left one, else x of frames called sole. Then shapes do: the heel is the
    shorter part of what touches, a knee bends backwards, the mass of a foot is ahead of its ankle. It is a guess where
    names contradict each other, the knee, or heel and mass together, where shapes contradict each other and no name
    says it, or nothing does.

    Args:
        skeleton: Of the robot.
        feet: Bodies of the feet, in any order.
    """
    foot = feet[0]
    names = [sign for sign in (_of_legs(skeleton, feet), _of_soles(skeleton, foot)) if sign]
    touching, knee, mass = (shape(skeleton, foot) for shape in (_touching, _bending, _mass))
    shapes = [sign for sign in (touching, knee, mass) if sign]
    beside_names = [sign for sign in (knee, touching if touching == mass else 0.0) if sign]
    deciding = [*names, *beside_names] if names else shapes
    return (names + shapes + [1.0])[0], len(set(deciding)) != 1


def _of_soles(skeleton: Skeleton, foot: int) -> float:
    """Return where x of a frame called sole looks along x of the base: 1, −1, or 0 across it or without one."""
    soles = [frame for frame in skeleton.bodies[foot].frames if "sole" in frame.lower()]
    return next((sign for sole in soles if (sign := heading(skeleton, foot, sole))), 0.0)


def heading(skeleton: Skeleton, foot: int, frame: str) -> float:
    """Return where x of a frame of a foot looks, seen from above, along x of the base: 1, −1, or 0 across it."""
    along, aside = (skeleton.poses[foot] @ skeleton.bodies[foot].frames[frame])[:2, 0]
    return float(np.sign(along)) if abs(along) > max(abs(aside), _LEVEL) else 0.0


def _of_legs(skeleton: Skeleton, feet: tuple[int, int]) -> float:
    """Return 1 where the leg with positive y has the names of a left one, −1 where of a right one, 0 of neither."""
    left, right = sorted(feet, key=lambda foot: float(skeleton.position(foot)[1]), reverse=True)
    chains = zip(skeleton.chain(left), skeleton.chain(right), strict=False)
    votes = [_side_in(*(skeleton.names(body) for body in pair)) for pair in chains]
    return float(np.sign(sum(votes)))


def _side_in(name: str, other: str) -> int:
    """Return 1 where names differ by an l, of left, where the other has an r, of right; −1 the other way, else 0."""
    initials = {("l", "r"): 1, ("r", "l"): -1}
    name, other = name.lower(), other.lower()
    changes = SequenceMatcher(None, name, other, autojunk=False).get_opcodes()
    found = [initials.get((name[i], other[j]), 0) for kind, i, _, j, _ in changes if kind == "replace"]
    return int(np.sign(sum(found)))


def _touching(skeleton: Skeleton, foot: int) -> float:
    """Return on which side of the ankle the longer part of what touches is along x of the base: 1, −1, or 0."""
    ends = _touching_ends(skeleton, foot)
    if ends is None:
        return 0.0
    return _ahead(skeleton, foot, sum(ends) / 2.0, max(_HEEL_TOLERANCE, _HEEL_FRACTION * (ends[1] - ends[0])))


def _mass(skeleton: Skeleton, foot: int) -> float:
    """Return on which side of the ankle the centre of mass of a foot is along x of the base: 1, −1, or 0 near it."""
    centre = skeleton.poses[foot][:3, :3] @ skeleton.bodies[foot].inertial.centre
    return _ahead(skeleton, foot, float(centre[0]), _HEEL_TOLERANCE)


def _ahead(skeleton: Skeleton, foot: int, offset: float, tolerance: float) -> float:
    """Return the side of the ankle on which a place is, ``offset`` from the origin of the foot, [m]; 0 near it."""
    from_ankle = offset + float(skeleton.position(foot)[0]) - _ankle(skeleton, foot)
    return float(np.sign(from_ankle)) * (abs(from_ankle) > tolerance)


def _bending(skeleton: Skeleton, foot: int) -> float:
    """Return whether the knee above a foot lets the shank go backwards when x of the base is forward: 1, −1, or 0.

    The knee is the pitch joint between the others that turns farthest; it says nothing if it bends to both sides.
    """
    pitches = []
    for index in skeleton.chain(foot):
        joint, along = skeleton.bodies[index].joint, skeleton.lateral(index)
        if joint is not None and abs(along) > LATERAL:
            pitches.append(np.sign(along) * np.array(joint.limits))
    if len(pitches) < 3:
        return 0.0
    knee = max(np.clip(pitches[1:-1], -_TURN, _TURN), key=lambda limits: float(abs(limits[1] - limits[0])))
    middle, half = float(knee.mean()), float(abs(knee[1] - knee[0])) / 2.0
    return float(np.sign(middle)) if abs(middle) > _ONE_SIDED * half else 0.0


def _ankle(skeleton: Skeleton, foot: int) -> float:
    """Return where the last joint that pitches is along x of the base, [m]: a roll joint may be drawn ahead of it."""
    for index in reversed(skeleton.chain(foot)):
        if abs(skeleton.lateral(index)) > LATERAL:
            return float(skeleton.position(index)[0])
    return float(skeleton.position(foot)[0])


def _touching_ends(skeleton: Skeleton, foot: int) -> tuple[float, float] | None:
    """Return the ends of what touches the ground from the foot's origin, along x of the base, [m].

    None where they are not known: of meshes alone, and of a foot that stands on an edge when all joints are at zero.
    """
    turned = np.eye(4)
    turned[:3, :3] = skeleton.poses[foot][:3, :3]
    shapes = [shape for shape in skeleton.bodies[foot].collisions if shape.kind != "mesh"]
    if not shapes:
        return None
    touching = lowest([points_of(shape, turned @ shape.pose, Path()) for shape in shapes])
    if not covers_sole(touching):
        return None
    return float(touching[:, 0].min()), float(touching[:, 0].max())
