"""Feet of a biped: rectangles of its soles, and where it looks by names, soles, knees and masses."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from gradiva.common import ModelError, NDArray, SoleRectangle
from gradiva.robot_model import read_collada
from gradiva.setup.new_robot.skeleton import LATERAL, Skeleton
from gradiva.simulation import RigidBody, Shape, find_mesh, read_stl

_BAND = 0.005  # [m] above the lowest point: rounded edges of a sole touch as well
_RIM = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)  # [rad]
_LEAST, _MOST = 0.02, 0.6  # [m] edge of a sole; longer ones are meshes in a wrong scale
_STEEPEST = 0.7  # [-] cosine to the vertical of a plane on which a foot stands when all joints are at zero
_SAME = 0.9995  # [-] cosine between normals of one plane, 2°
MESHES = (".stl", ".dae", ".obj")


def fit_sole(foot: RigidBody, sole_frame: str, model_file: Path) -> SoleRectangle:
    """Return the rectangle that the lowest 5 mm of a foot cover, in its sole frame.

    Collision shapes count; where there are none, visible ones.

    Args:
        foot: All links that move with the foot.
        sole_frame: One of its frames, x forward, z up.
        model_file: The URDF, from which meshes are found.

    Raises:
        ModelError: The foot has no shapes, touches the ground in less than a rectangle or more than a sole, or a mesh
            cannot be read.
    """
    in_sole: NDArray = np.linalg.inv(foot.frames[sole_frame]).astype(float)
    points = _shape_points(foot, in_sole, model_file)
    if not points:
        raise ModelError(f"the foot '{foot.name}' has no shapes: give its sole with --sole X0,X1,Y0,Y1,Z")
    touching = lowest(points)
    (x0, y0), (x1, y1) = np.round(touching[:, :2].min(axis=0), 4), np.round(touching[:, :2].max(axis=0), 4)
    if min(x1 - x0, y1 - y0) < _LEAST or max(x1 - x0, y1 - y0) > _MOST:
        raise ModelError(
            f"the lowest points of '{foot.name}' cover {x1 - x0:.3f} m × {y1 - y0:.3f} m, which is no sole: give it"
            " with --sole X0,X1,Y0,Y1,Z"
        )
    return SoleRectangle((float(x0), float(x1)), (float(y0), float(y1)), round(float(touching[:, 2].min()), 4))


def is_sole(foot: RigidBody, rotation: NDArray, model_file: Path) -> bool:
    """Return whether a foot that is turned so touches level ground with more than a line; arguments as below."""
    points = _shape_points(foot, _turned(rotation), model_file)
    return not points or covers_sole(lowest(points))


def covers_sole(touching: NDArray) -> bool:
    """Return whether points that touch cover more than a line, [m], shape (n, 3)."""
    return bool(np.ptp(touching[:, :2], axis=0).min() >= _LEAST)


def standing_plane(foot: RigidBody, rotation: NDArray, model_file: Path) -> NDArray | None:
    """Return the normal of the plane on which a foot can stand, away from it, in the base, shape (3,); None without.

    It is that of the largest face of the convex hull of its shapes which looks down.

    Args:
        foot: All links that move with the foot.
        rotation: Of its frame in the base when all joints are at zero, shape (3, 3).
        model_file: The URDF, from which meshes are found.
    """
    points = _shape_points(foot, _turned(rotation), model_file)
    try:
        hull = ConvexHull(np.vstack(points))
    except (QhullError, ValueError):
        return None
    corners = hull.points[hull.simplices]
    areas = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    looks_down = hull.equations[:, 2] < -_STEEPEST
    normals, areas = hull.equations[looks_down, :3], areas[looks_down]
    if not len(areas):
        return None
    of_planes = (normals @ normals.T > _SAME) @ areas
    return np.asarray(-normals[int(np.argmax(of_planes))])


def _turned(rotation: NDArray) -> NDArray:
    pose = np.eye(4)
    pose[:3, :3] = rotation
    return pose


def _shape_points(foot: RigidBody, pose: NDArray, model_file: Path) -> list[NDArray]:
    """Return the points of the shapes of a foot, as of `points_of`, its frame at ``pose``."""
    shapes: Sequence[Shape] = foot.collisions or foot.visuals
    return [points_of(shape, pose @ shape.pose, model_file) for shape in shapes]


def lowest(points: Sequence[NDArray]) -> NDArray:
    """Return the points that touch a level ground, rounded edges as well, [m], shape (n, 3)."""
    cloud = np.vstack(points)
    return np.asarray(cloud[cloud[:, 2] <= cloud[:, 2].min() + _BAND])


def points_of(shape: Shape, pose: NDArray, model_file: Path) -> NDArray:
    """Return the points of a shape among which its lowest are, in axes with z up, [m], shape (n, 3)."""
    if shape.kind == "sphere":
        return np.asarray(pose[:3, 3] - [0.0, 0.0, shape.size[0]])[None, :]
    if shape.kind == "mesh":
        own = _vertices(find_mesh(shape.file, model_file, MESHES)) * np.array(shape.size)
    elif shape.kind == "cylinder":
        radius, length = shape.size
        rim = radius * np.column_stack((np.cos(_RIM), np.sin(_RIM)))
        own = np.vstack([np.column_stack((rim, np.full(len(rim), end))) for end in (-0.5 * length, 0.5 * length)])
    else:
        own = 0.5 * np.array(shape.size) * np.stack(np.meshgrid(*3 * [[-1.0, 1.0]]), axis=-1).reshape(-1, 3)
    return np.asarray(own @ pose[:3, :3].T + pose[:3, 3])


def mesh_extent(shape: Shape, model_file: Path) -> float:
    """Return the longest edge of the box about a mesh, as it is scaled, [m]; 0 where it is not found or not read."""
    try:
        vertices = _vertices(find_mesh(shape.file, model_file, MESHES)) * np.array(shape.size)
    except (ModelError, ValueError, OSError):
        return 0.0
    return float(np.ptp(vertices, axis=0).max()) if len(vertices) else 0.0


def _vertices(path: Path) -> NDArray:
    """Return the vertices of a mesh, [m], shape (n, 3)."""
    kind = path.suffix.lower()
    if kind == ".stl":
        return read_stl(path).vertices
    if kind == ".dae":
        return read_collada(path)[0]
    lines = (line.split() for line in path.read_text(encoding="utf-8", errors="replace").splitlines())
    vertices = [line[1:4] for line in lines if line and line[0] == "v"]
    return np.array(vertices, dtype=float).reshape(-1, 3)


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
    """Return on which side of the ankle a foot's centre of mass is along x of the base: 1, −1, 0 near it or without."""
    if not skeleton.bodies[foot].inertials:
        return 0.0
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
