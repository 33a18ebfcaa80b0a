"""The engine's model of a robot on its ground."""

from __future__ import annotations

from dataclasses import dataclass, replace

import mujoco
import numpy as np

from gradiva.common import ConfigError, ModelError, NDArray, Side
from gradiva.robot_model import RobotDescription, balanced, check_inertias, is_physical
from gradiva.simulation.ground import Ground
from gradiva.simulation.rigid_tree import RigidTree, weld
from gradiva.simulation.sole_box import sole_boxes
from gradiva.simulation.spec_tools import add_bodies, quaternion
from gradiva.simulation.urdf import Inertial, Urdf, read_urdf


@dataclass(frozen=True, slots=True)
class PlantConfig:
    """How the simulated robot differs from the model that the controller knows.

    Attributes:
        mass_scale: Factor on all masses and inertias, [-].
        joint_damping: [N·m·s/rad].
        dry_friction: Coulomb friction of each joint, [N·m].
        armature: Inertia of motor and gear, seen at the joint, [kg·m²].
        joint_limits: Whether the joints have end stops.
    """

    mass_scale: float
    joint_damping: float
    dry_friction: float
    armature: float
    joint_limits: bool

    def __post_init__(self) -> None:
        if self.mass_scale <= 0.0:
            raise ConfigError(f"mass_scale={self.mass_scale}: must be positive")
        for name in ("joint_damping", "dry_friction", "armature"):
            if getattr(self, name) < 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}: must not be negative")


def load_tree(description: RobotDescription) -> RigidTree:
    """Read the robot's model and weld the joints that are not driven.

    Raises:
        ModelError: The model lacks something that the description names, its mass differs, or a link has an inertia
            that no body can have.
    """
    urdf = _with_balanced_inertia(read_urdf(description.model_path), description.balance_inertia)
    tree = weld(urdf, description.base_link, description.joints)
    if abs(tree.mass - urdf.mass) > 1e-9 * urdf.mass:
        raise ModelError(f"the tree below '{description.base_link}' weighs {tree.mass} of {urdf.mass} kg")
    description.check_mass(urdf.mass)
    if not all(is_physical(body.inertial.inertia) for body in tree.bodies):
        check_inertias(description.name, {name: own.inertia for name, own in _inertials(urdf).items()})
    return tree


def _inertials(urdf: Urdf) -> dict[str, Inertial]:
    return {name: link.inertial for name, link in urdf.links.items() if link.inertial is not None}


def _with_balanced_inertia(urdf: Urdf, is_wanted: bool) -> Urdf:
    if not is_wanted:
        return urdf
    links = {
        name: replace(urdf.links[name], inertial=replace(own, inertia=balanced(own.inertia)))
        for name, own in _inertials(urdf).items()
    }
    return replace(urdf, links={**urdf.links, **links})


def torque_limits(description: RobotDescription, tree: RigidTree) -> NDArray:
    """Return the lower of the description's and the model's limit of each joint, [N·m], shape (n,)."""
    efforts = {body.joint.name: body.joint.effort for body in tree.bodies if body.joint is not None}
    of_model = np.array([efforts[joint] or np.inf for joint in description.joints])
    return np.minimum(description.per_joint("torque_limit"), of_model)


def build_plant(
    description: RobotDescription,
    tree: RigidTree,
    config: PlantConfig,
    ground: Ground,
    gravity: NDArray,
    timestep: float,
) -> mujoco.MjModel:
    """Return the engine's model; actuators and, after a free base, joints are named as the robot's joints.

    Args:
        description: Of the robot.
        tree: From ``load_tree``.
        config: Differences of the plant.
        ground: Adds floor and soles.
        gravity: World, [m/s²], shape (3,).
        timestep: Of the physics, [s].

    Raises:
        ModelError: The model lacks a frame that the description names, or the engine refuses it.
    """
    spec = mujoco.MjSpec()
    _set_options(spec, gravity, timestep)
    add_bodies(spec, tree, config.mass_scale)
    for joint in description.joints:
        _set_joint(spec.joint(joint), config)
    ground.add_to(spec, sole_boxes(description, tree), timestep)
    for frame in {description.imu_frame, *(description.foot_frame(side) for side in Side)}:
        body = tree.body_of(frame)
        pose = body.frames[frame]
        spec.body(body.name).add_site(name=frame, pos=pose[:3, 3], quat=quaternion(pose[:3, :3]))
    for joint, limit in zip(description.joints, torque_limits(description, tree), strict=True):
        _add_actuator(spec, joint, float(limit))
    model = _compile(spec, description.name)
    ground.bind(model)
    return model


def _compile(spec: mujoco.MjSpec, robot: str) -> mujoco.MjModel:
    try:
        return spec.compile()
    except ValueError as error:
        raise ModelError(f"{robot}: MuJoCo refuses the model: {' '.join(str(error).split())}") from None


def _set_options(spec: mujoco.MjSpec, gravity: NDArray, timestep: float) -> None:
    spec.option.timestep = timestep
    spec.option.gravity = gravity
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST  # servo damping is implicit
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET  # a diverged run must stay visible


def _set_joint(joint: mujoco.MjsJoint, config: PlantConfig) -> None:
    joint.damping = [config.joint_damping, 0.0, 0.0]  # linear, no higher orders
    joint.frictionloss = config.dry_friction
    joint.armature = config.armature
    if not config.joint_limits:
        joint.limited = mujoco.mjtLimited.mjLIMITED_FALSE


def _add_actuator(spec: mujoco.MjSpec, joint: str, limit: float) -> None:
    """Torque = gain · control + bias · (1, position, velocity), clamped; the servos set gain and bias."""
    spec.add_actuator(
        name=joint,
        target=joint,
        trntype=mujoco.mjtTrn.mjTRN_JOINT,
        gaintype=mujoco.mjtGain.mjGAIN_FIXED,
        biastype=mujoco.mjtBias.mjBIAS_AFFINE,
        forcelimited=mujoco.mjtLimited.mjLIMITED_TRUE,
        forcerange=[-limit, limit],
    )
