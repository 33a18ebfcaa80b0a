r"""The engine's model of a robot on its ground, and its static equilibrium at the start.

Flexible joints are hinges with the engine's spring, explicit, and its damper, implicit: :math:`\tau_f = -k s_f - d \dot
s_f`. The fictitious links between them, massless in models, weigh 1 g and have 1e-5 kg·m² about each axis here, for the
engine refuses massless bodies. Accelerations differ by less than 1e-4 of the largest from those of massless links, and
tend to them linearly as the fictitious ones become lighter (tests).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradiva.common import ConfigError, ModelError, NDArray, Side, configuration, setting
from gradiva.robot_model import FlexibleJoint, RobotDescription, balanced, check_inertias, is_physical
from gradiva.simulation.drives import JointFriction, add_play, play_of, rotor_factors
from gradiva.simulation.engine import mujoco
from gradiva.simulation.ground import Ground
from gradiva.simulation.rigid_tree import RigidTree, add_bodies, quaternion, weld
from gradiva.simulation.soles import SoleBox, sole_boxes
from gradiva.simulation.urdf import FICTITIOUS_INERTIA, Inertial, Urdf, read_urdf

if TYPE_CHECKING:
    from gradiva.simulation.simulation_config import SimulationConfig

_TOUCHING = 0.005  # [m] soles nearer to the floor than this carry
_LYING_ON = 0.001  # [m] a robot that starts higher than this above the floor starts in the air
_HALVINGS = 30  # of centimetres, down to 0.1 nm


@configuration
class PlantConfig:
    """Differences of the simulated robot from the model that the controller knows.

    Attributes:
        mass_scale: Factor on all masses and inertias, [-].
        rotor_inertia: Factor on the reflected inertias of rotors and gears of the robot's description, [-].
        rotor_spread: Each rotor's factor is drawn within 1 ± this, [-].
        gear_play: Factor on the play of the gears of the robot's description, [-].
        gear_play_spread: Each joint's factor is drawn within 1 ± this, [-].
        joint_limits: Whether the joints have end stops.
    """

    mass_scale: float = setting("-", above=0.0)
    rotor_inertia: float = setting("-", least=0.0)
    rotor_spread: float = setting("-", least=0.0, below=1.0)
    gear_play: float = setting("-", least=0.0)
    gear_play_spread: float = setting("-", least=0.0, below=1.0)
    joint_limits: bool


def load_tree(description: RobotDescription, inertia: float = FICTITIOUS_INERTIA) -> RigidTree:
    """Read the robot's model and weld the joints that are not those of the description.

    Args:
        description: Of the robot; its flexible joints move where they are among its joints.
        inertia: Of the fictitious links between these, [kg·m²].

    Raises:
        ModelError: The model lacks something that the description names, its mass differs, or a link has an inertia
            that no body can have.
    """
    moving = [joint for joint in description.flexible_joints if joint.name in description.joints]
    urdf = read_urdf(description.model_path, moving, inertia)
    urdf = _with_balanced_inertia(urdf, description.balance_inertia)
    tree = weld(urdf, description.base_link, description.joints)
    if abs(tree.mass - urdf.mass) > 1e-9 * urdf.mass:
        raise ModelError(f"the tree below '{description.base_link}' weighs {tree.mass} of {urdf.mass} kg")
    description.check_mass(urdf.mass)
    if not all(is_physical(body.inertial.inertia) for body in tree.bodies):
        check_inertias(description.name, {name: own.inertia for name, own in _inertials(urdf).items()})
    for body in tree.bodies:
        low = float(np.linalg.eigvalsh(body.inertial.inertia)[0])
        if body.inertial.mass <= 0.0 or low <= 0.0:
            raise ModelError(
                f"{description.name}: link '{body.name}' moves by itself and has {body.inertial.mass:.3g} kg and a"
                f" smallest principal moment of {low:.3g} kg·m²: nothing moves without inertia; correct the URDF"
            )
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
    config: SimulationConfig,
    ground: Ground,
    soles: Sequence[SoleBox] | None = None,
    friction: JointFriction | None = None,
    seed: int = 0,
) -> mujoco.MjModel:
    """Return the engine's model; actuators and, after a free base, joints are named as the robot's joints.

    Args:
        description: Of the robot, its flexible joints those of the tree.
        tree: From ``load_tree``.
        config: Differences of the plant, gravity, time step of the physics.
        ground: Adds floor and soles.
        soles: Boxes below the feet; None for those of the description.
        friction: Of the joints; None: they have none.
        seed: Of what is drawn.

    Raises:
        ModelError: The model lacks a frame that the description names, or the engine refuses it.
    """
    spec, plant, timestep = mujoco.MjSpec(), config.plant, config.timestep
    _set_options(spec, config.ground.gravity_vector, timestep)
    add_bodies(spec, tree, plant.mass_scale)
    for joint in description.joints:
        _set_joint(spec.joint(joint), plant)
    for flexible in description.flexible_joints:
        _set_spring(spec.joint(flexible.name), flexible)
    _add_rotors(spec, description, plant, seed)
    if friction is not None:
        friction.add_to(spec, timestep)
    play = play_of(plant.gear_play, plant.gear_play_spread, description, seed)
    add_play(spec, description, play, timestep)
    ground.add_to(spec, sole_boxes(description, tree) if soles is None else soles, timestep)
    for frame in {description.imu_frame, *(description.foot_frame(side) for side in Side)}:
        body = tree.body_of(frame)
        pose = body.frames[frame]
        spec.body(body.name).add_site(name=frame, pos=pose[:3, 3], quat=quaternion(pose[:3, :3]))
    for joint, limit in zip(description.joints, torque_limits(description, tree), strict=True):
        _add_actuator(spec, joint, float(limit))
    model = _compile(spec, description.name)
    ground.bind(model)
    if friction is not None:
        friction.bind(model)
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
    joint.damping = [0.0, 0.0, 0.0]  # the models' own values are unrealistic
    joint.frictionloss = 0.0
    if not config.joint_limits:
        joint.limited = mujoco.mjtLimited.mjLIMITED_FALSE


def _set_spring(joint: mujoco.MjsJoint, flexible: FlexibleJoint) -> None:
    joint.stiffness = [flexible.stiffness, 0.0, 0.0]
    joint.damping = [flexible.damping, 0.0, 0.0]


def _add_rotors(spec: mujoco.MjSpec, description: RobotDescription, config: PlantConfig, seed: int) -> None:
    """Add the rotors' reflected inertia: to joints, and to a fixed tendon for one that turns with several joints."""
    joints, couplings = description.joints, description.rotor_couplings
    factors = config.rotor_inertia * rotor_factors(config.rotor_spread, len(joints) + len(couplings), seed)
    inertias = factors[: len(joints)] * description.per_joint("rotor_inertia")
    for name, inertia in zip(joints, inertias, strict=True):
        spec.joint(name).armature = inertia
    for coupling, factor in zip(couplings, factors[len(joints) :], strict=True):
        tendon = spec.add_tendon()
        tendon.armature = factor * coupling.inertia
        for joint, coefficient in zip(coupling.joints, coupling.coefficients, strict=True):
            tendon.wrap_joint(joint, coefficient)


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


def standing_torques(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    feet: tuple[str, str],
    floor: float,
    degrees: NDArray,
    flexible: NDArray | None = None,
) -> NDArray:
    r"""Return the torques that hold the robot still, the load shared by least squares.

    .. math:: h = [0; \tau] + \sum_k J_k^T f_k, \qquad f = (J_b^T)^+ h_b, \qquad \tau = h_s - \sum_k J_{ks}^T f_k

    with base rows b, joint rows s, and :math:`h` at zero velocity. Rows of flexible joints count among b: two feet hold
    the hips unbent, by pushing against each other.

    Args:
        model: Of the engine.
        data: After ``mj_forward``, at rest.
        feet: Sites at the soles; those that do not touch the floor carry nothing.
        floor: Height of the touching soles' sites, [m].
        degrees: Index of each joint's velocity, shape (n,).
        flexible: Of each flexible joint's, shape (f,); None for a rigid robot.

    Returns:
        [N·m], shape (n,).
    """
    touching = [foot for foot in feet if data.site(foot).xpos[2] < floor + _TOUCHING]
    jacobian = np.zeros((6 * len(touching), model.nv))
    for row, foot in enumerate(touching):
        block = jacobian[6 * row : 6 * row + 6]
        mujoco.mj_jacSite(model, data, block[:3], block[3:], data.site(foot).id)
    free = np.arange(6) if flexible is None else np.concatenate((np.arange(6), flexible))
    wrenches = np.linalg.lstsq(jacobian[:, free].T, data.qfrc_bias[free], rcond=None)[0]
    return (data.qfrc_bias - jacobian.T @ wrenches)[degrees]


def check_springs(model: mujoco.MjModel, data: mujoco.MjData, flexible: NDArray) -> None:
    r"""Refuse flexible joints that the engine's steps do not follow: their motion would grow without bound.

    An explicit spring beside an implicit damper is stable while :math:`k \Delta^2 < 4 m + 2 d \Delta`; of several,
    while no eigenvalue of :math:`\Delta^2 (4 M + 2 \Delta D)^{-1} K` exceeds 1.

    Args:
        model: Of the engine.
        data: After ``mj_forward``.
        flexible: Index of each flexible joint's velocity, shape (f,).

    Raises:
        ConfigError: They are too stiff for the time step.
    """
    timestep, matrix = model.opt.timestep, np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, matrix)
    resistance = 4.0 * matrix + 2.0 * timestep * np.diag(model.dof_damping)
    mobility = np.linalg.inv(resistance)[np.ix_(flexible, flexible)]
    stiffness = model.jnt_stiffness[model.dof_jntid[flexible]]
    largest = np.abs(np.linalg.eigvals(timestep**2 * mobility * stiffness)).max()
    if largest > 1.0:
        raise ConfigError(
            f"simulation.flexibility: springs of {stiffness.max():g} N·m/rad are {largest:.2g} times too stiff for"
            f" steps of {1e3 * timestep:g} ms; lower simulation.timestep, or leave the links rigid"
        )


def weight_of(model: mujoco.MjModel) -> float:
    """Return the weight of all bodies, [N]."""
    return float(model.body_mass.sum() * np.linalg.norm(model.opt.gravity))


def sink_to_weight(
    model: mujoco.MjModel, data: mujoco.MjData, ground: Ground, feet: tuple[str, str], reach: float = 0.0
) -> None:
    """Lower a robot whose soles are level on the floor until the floor carries it, else leave it.

    Bisection on the height of the base: the vertical momentum rests at the right depth.

    Args:
        model: Of the engine.
        data: At the start posture, with the control that holds it; its height is changed.
        ground: That carries.
        feet: Sites at the soles, at height zero where exact soles touch.
        reach: By which the soles may be higher or lower than exact ones, [m].
    """
    top, momentum_rate = float(data.qpos[2]), np.empty(model.nv)

    def lift(height: float) -> float:
        """Return the ground's force beyond the weight, [N]: the row of the base's height in M times accelerations."""
        data.qpos[2] = height
        ground.forward(model, data)
        mujoco.mj_mulM(model, data, momentum_rate, data.qacc)
        return float(momentum_rate[2])

    low, high = top - reach - ground.deepest_rest(weight_of(model)), top + reach
    stands = min(data.site(foot).xpos[2] for foot in feet) < _LYING_ON
    if stands and lift(high) < 0.0 < lift(low):
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            if lift(middle) > 0.0:
                low = middle
            else:
                high = middle
        top = 0.5 * (low + high)
    lift(top)
