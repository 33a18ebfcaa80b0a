"""The scene of a film: a robot as it looks, with its meshes, on a chequered floor."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gradiva.common import ModelError, NDArray
from gradiva.robot_model import DISC_COLOURS, DISC_HEIGHT, DISC_RADIUS, RobotDescription, read_collada
from gradiva.simulation.engine import mujoco
from gradiva.simulation.plant import load_tree
from gradiva.simulation.rigid_tree import RigidBody, RigidTree, add_bodies, quaternion
from gradiva.simulation.urdf import Visual

_HEADER = 84  # bytes of a binary STL before its triangles
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("vertices", "<f4", (3, 3)), ("attribute", "<u2")])
_GRIDS = tuple(int(256 / 1.25**power) for power in range(16))  # cells along the longest edge of a mesh, to 9
READABLE = (".stl", ".dae")
_POINTER = b"version https://git-lfs"
_FACES = 2500  # per mesh: as fine as a picture of a metre shows; drawing time is nearly proportional
_DISC_THICKNESS = 0.004  # [m] half of that of discs on either side of flexible joints
FLOOR = "floor"  # name of its plane
_TILE = 0.25  # [m] edge of a floor tile: steps and slips can be judged by eye
_SHAPES = {"box": "mjGEOM_BOX", "cylinder": "mjGEOM_CYLINDER", "sphere": "mjGEOM_SPHERE"}


def build_scene(description: RobotDescription, width: int, height: int) -> mujoco.MjModel:
    """Return a model for pictures of up to ``width`` × ``height`` pixels; nothing in it touches anything.

    Raises:
        ModelError: A mesh is missing or cannot be read.
    """
    spec = mujoco.MjSpec()
    tree = load_tree(description)
    add_bodies(spec, tree)
    _add_surroundings(spec, description.sole.z)
    meshes: dict[tuple[str, tuple[float, ...]], str] = {}
    for body in tree.bodies:
        for visual in body.visuals:
            _add_visual(spec, spec.body(body.name), visual, description.model_path, meshes)
    _add_discs(spec, tree, description)
    spec.visual.global_.offwidth = width
    spec.visual.global_.offheight = height
    spec.stat.extent = 1.0  # [m] the unit of the clipping planes below
    spec.visual.map.znear = 0.05
    spec.visual.map.zfar = 40.0
    return spec.compile()


def _add_discs(spec: mujoco.MjSpec, tree: RigidTree, description: RobotDescription) -> None:
    """Add a disc on either side of the flexible joints of a link; they coincide while it is straight (thesis, 9.5)."""
    bending: dict[str, list[RigidBody]] = {}
    for joint in description.flexible_joints:
        if joint.name in description.joints:
            bending.setdefault(joint.joint, []).append(tree.body_of(f"{joint.name}_link"))
    radius, height = DISC_RADIUS * description.com_height, DISC_HEIGHT * description.com_height
    lifted = np.array([0.0, 0.0, height])
    for first, *_, last in bending.values():
        before = first.pose[:3, 3] + lifted
        sides = (tree.bodies[first.parent], before), (last, lifted)
        for (body, place), colour in zip(sides, DISC_COLOURS, strict=True):
            disc = spec.body(body.name).add_geom(pos=place, rgba=[*colour, 1.0], contype=0, conaffinity=0)
            disc.type, disc.size = mujoco.mjtGeom.mjGEOM_CYLINDER, [radius, _DISC_THICKNESS, 0.0]


def _add_surroundings(spec: mujoco.MjSpec, floor: float) -> None:
    _add_lights(spec)
    _add_sky(spec)
    _add_floor(spec, floor)


def _add_lights(spec: mujoco.MjSpec) -> None:
    spec.visual.headlight.ambient = [0.35, 0.35, 0.35]
    spec.visual.headlight.diffuse = [0.45, 0.45, 0.45]
    spec.visual.headlight.specular = [0.1, 0.1, 0.1]
    spec.worldbody.add_light(
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        pos=[0.0, 0.0, 4.0],
        dir=[-0.4, 0.5, -1.0],
        diffuse=[0.4, 0.4, 0.4],
        castshadow=False,
    )


def _add_sky(spec: mujoco.MjSpec) -> None:
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=[0.93, 0.95, 0.97],
        rgb2=[0.62, 0.70, 0.80],
        width=64,
        height=384,
    )


def _add_floor(spec: mujoco.MjSpec, height: float) -> None:
    """Add a plane of tiles at a height [m]."""
    spec.add_texture(
        name="tiles",
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=[0.64, 0.68, 0.72],
        rgb2=[0.46, 0.51, 0.56],
        width=256,
        height=256,
    )
    material = spec.add_material(name="floor", texuniform=True, texrepeat=[1.0 / _TILE, 1.0 / _TILE])
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "tiles"
    spec.worldbody.add_geom(
        name=FLOOR,
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[0.0, 0.0, 1.0],
        pos=[0.0, 0.0, height],
        material="floor",
        contype=0,
        conaffinity=0,
    )


def _add_visual(
    spec: mujoco.MjSpec,
    body: mujoco.MjsBody,
    visual: Visual,
    model_file: Path,
    meshes: dict[tuple[str, tuple[float, ...]], str],
) -> None:
    geom = body.add_geom(
        pos=visual.pose[:3, 3],
        quat=quaternion(visual.pose[:3, :3]),
        rgba=visual.colour,
        contype=0,
        conaffinity=0,
    )
    if visual.kind != "mesh":
        geom.type = getattr(mujoco.mjtGeom, _SHAPES[visual.kind])
        geom.size = _engine_size(visual)
        return
    key = (visual.file, visual.size)
    if key not in meshes:
        meshes[key] = f"mesh {len(meshes)}"
        _add_mesh(spec, meshes[key], _drawn_mesh(find_mesh(visual.file, model_file)), visual.size)
    geom.type = mujoco.mjtGeom.mjGEOM_MESH
    geom.meshname = meshes[key]


@lru_cache(maxsize=256)
def _drawn_mesh(path: Path) -> Mesh:
    return thin_out(read_mesh(path), _FACES)


def _add_mesh(spec: mujoco.MjSpec, name: str, mesh: Mesh, scale: tuple[float, ...]) -> None:
    added = spec.add_mesh(name=name)
    added.uservert = (mesh.vertices * np.array(scale)).ravel()
    added.userface = mesh.faces.ravel()
    added.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL  # for any mesh, watertight or not


def _engine_size(visual: Visual) -> list[float]:
    """Half edges, or radius and half length."""
    if visual.kind == "box":
        return [0.5 * edge for edge in visual.size]
    if visual.kind == "cylinder":
        return [visual.size[0], 0.5 * visual.size[1], 0.0]
    return [visual.size[0], 0.0, 0.0]


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """Vertices, shape (v, 3), and triangles of vertex indices, shape (f, 3)."""

    vertices: NDArray
    faces: npt.NDArray[np.int32]


def find_mesh(uri: str, model_file: Path, kinds: tuple[str, ...] = READABLE) -> Path:
    """Return the file of a ``package://`` address: below one of the folders that hold the model.

    A package that was copied into a folder of another name is found without its name.

    Args:
        uri: As the URDF names it.
        model_file: The URDF.
        kinds: Endings that the caller can read.

    Raises:
        ModelError: There is none, or it is of another kind.
    """
    relative = uri.removeprefix("package://").removeprefix("file://")
    if not relative.lower().endswith(kinds):
        readable = " or ".join(kind[1:].upper() for kind in kinds)
        raise ModelError(f"mesh '{uri}': only {readable} meshes can be read, convert it to STL")
    in_package = relative.partition("/")[2] if uri.startswith("package://") else ""
    for name in (relative, in_package):
        for folder in model_file.resolve().parents:
            if name and is_there(folder / name):
                return folder / name
    raise ModelError(f"mesh '{uri}' is in no folder above {model_file}, pointers of Git LFS aside")


def is_there(path: Path) -> bool:
    """Return whether a file exists and is no pointer to a large one that was not copied."""
    try:
        with path.open("rb") as file:
            return file.read(len(_POINTER)) != _POINTER
    except OSError:
        return False


def read_mesh(path: Path) -> Mesh:
    """Read a mesh of one of the kinds in ``READABLE``.

    Raises:
        ModelError: It cannot be read.
    """
    return Mesh(*read_collada(path)) if path.suffix.lower() == ".dae" else read_stl(path)


def read_stl(path: Path) -> Mesh:
    """Read a binary STL file; its triangles share no vertices.

    Raises:
        ModelError: It is not one.
    """
    content = path.read_bytes()
    count = int.from_bytes(content[80:_HEADER], "little")
    if len(content) != _HEADER + count * _TRIANGLE.itemsize or count == 0:
        raise ModelError(f"{path} is no binary STL file")
    triangles = np.frombuffer(content, dtype=_TRIANGLE, offset=_HEADER)["vertices"]
    corners = triangles.reshape(-1, 3).astype(np.float64)
    return Mesh(corners, np.arange(len(corners), dtype=np.int32).reshape(-1, 3))


def thin_out(mesh: Mesh, faces: int) -> Mesh:
    """Return a mesh of at most about ``faces`` triangles: vertices in one cell of a grid become their mean."""
    axes = np.ascontiguousarray(mesh.vertices.T)
    first = bisect_left(_GRIDS[:-1], True, key=lambda cells: len(_cluster(mesh, axes, cells).faces) <= faces)
    return _cluster(mesh, axes, _GRIDS[first])


def _cluster(mesh: Mesh, axes: NDArray, cells: int) -> Mesh:
    """Return a mesh without what is smaller than a cell; ``axes`` are its vertices, shape (3, v)."""
    low = axes.min(axis=1)
    edge = float((axes.max(axis=1) - low).max()) / cells
    x, y, z = np.floor((axes - low[:, None]) / edge).astype(np.int64)
    row = cells + 1
    _, cluster, size = np.unique(x + row * (y + row * z), return_inverse=True, return_counts=True)
    sums = np.stack([np.bincount(cluster, axis) for axis in axes], axis=1)
    faces = cluster[mesh.faces].astype(np.int32)
    distinct = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    return Mesh(sums / size[:, None], faces[distinct])
