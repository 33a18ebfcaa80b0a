"""A robot as it looks, on a chequered floor."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np

from gradiva.robot_model import RobotDescription
from gradiva.simulation.mesh import Mesh, find_mesh, read_mesh, thin_out
from gradiva.simulation.plant import load_tree
from gradiva.simulation.spec_tools import add_bodies, quaternion
from gradiva.simulation.urdf import Visual

_FACES = 2500  # per mesh: as fine as a picture of a metre shows; drawing time is nearly proportional
_TILE = 0.25  # [m] edge of a floor tile: steps and slips can be judged by eye
_SHAPES = {
    "box": mujoco.mjtGeom.mjGEOM_BOX,
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
    "sphere": mujoco.mjtGeom.mjGEOM_SPHERE,
}


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
    spec.visual.global_.offwidth = width
    spec.visual.global_.offheight = height
    spec.stat.extent = 1.0  # [m] the unit of the clipping planes below
    spec.visual.map.znear = 0.05
    spec.visual.map.zfar = 40.0
    return spec.compile()


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
        geom.type = _SHAPES[visual.kind]
        geom.size = _engine_size(visual)
        return
    key = (visual.file, visual.size)
    if key not in meshes:
        meshes[key] = f"mesh {len(meshes)}"
        mesh = thin_out(read_mesh(find_mesh(visual.file, model_file)), _FACES)
        _add_mesh(spec, meshes[key], mesh, visual.size)
    geom.type = mujoco.mjtGeom.mjGEOM_MESH
    geom.meshname = meshes[key]


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
