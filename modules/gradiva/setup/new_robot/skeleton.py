"""The bodies of a URDF as a tree in which every hinge moves: positions, chains and mirror images."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradiva.common import ModelError, NDArray
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
