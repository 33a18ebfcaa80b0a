r"""Observe flexible joints, whose deflections nothing measures, by the ground's wrench and the other joints.

Per leg, from the sole up (thesis section 9.3). Link i moves with angular velocity :math:`\omega_i`, its derivative
:math:`\dot\omega_i` and proper acceleration :math:`\alpha_i` of its origin, all in its own axes. With its child c,
which lies at :math:`p, R` and whose joint turns by :math:`s_c` about the axis :math:`a`,

.. math::
    \omega_i &= R (\omega_c - a \dot s_c), \qquad
    \dot\omega_i = R (\dot\omega_c - a \ddot s_c - \omega_c \times a \dot s_c), \\
    \alpha_i &= R \alpha_c - \dot\omega_i \times p - \omega_i \times (\omega_i \times p), \\
    \phi_i &= M_i \begin{bmatrix} \alpha_i \\ \dot\omega_i \end{bmatrix} +
              \begin{bmatrix} 0 \\ \omega_i \end{bmatrix} \times^* M_i \begin{bmatrix} 0 \\ \omega_i \end{bmatrix}, \\
    f_i &= \phi_i + X f_c,

where :math:`f_i` is the wrench of its parent on link i; below the foot it is that of the foot on the ground. Measured
joint torques, less what turns the rotors, correct it, :math:`f_i \leftarrow [(1 - \beta) \tau_m + \beta s^\top f_i] s +
(I - s s^\top) f_i`. At a flexible joint :math:`\tau = s^\top f_i` is the torque of its spring and damper, and the
deflection is their state after an implicit step (thesis equation 9.1.2):

.. math:: s_k = \frac{d s_{k-1} - \tau \Delta}{k \Delta + d}, \qquad \dot s_k = \frac{s_k - s_{k-1}}{\Delta}.

A foot that stands is at rest. One that swings moves as the waist and the kinematics say, with the last deflections;
the leg's inertia A about the flexible joints then takes part, :math:`\tau = \tau_0 + A \ddot s`. Taken from the last
tick that diverges, for A is far above :math:`d \Delta`: so :math:`\ddot s = (\dot s_k - \dot s_{k-1}) / \Delta` is part
of the implicit step.

A wrong k shows where a foot stands, for the sole is level there: its tilt r by the IMU's attitude and the kinematics is
an error :math:`\delta s` of the deflections of its leg, by which :math:`k / (1 + x)` is learned (`stiffness_rate`),

.. math:: \delta s = -J^\top r, \qquad J_i = (a_i \times e_z)_{xy}, \qquad
    \dot x = \gamma \left( \frac{s^2}{s^2 + s_0^2} \right)^2 \frac{\delta s}{s}.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import casadi as cs
import numpy as np

from gradiva.common import (
    GRAVITY,
    EstimationError,
    Measurement,
    ModelError,
    NDArray,
    RobotState,
    Side,
    WalkingReference,
    configuration,
    low_pass_gain,
    readonly,
    setting,
)
from gradiva.estimation.floating_base_kinematics import Memory
from gradiva.robot_model import (
    Compiler,
    FlatFunction,
    IdynTreeModel,
    RigidLink,
    as_pose,
    built_once,
    clean,
    interpreted,
    links_from_base,
    rotation_about,
)


class FootMotion(StrEnum):
    """Motion of a foot without contact, from which the recursion begins."""

    REST = "rest"
    """None, as of a foot that stands."""
    KINEMATICS = "kinematics"
    """That of the estimated base, through the joints and the last deflections."""


class DeflectionSource(StrEnum):
    """Where deflections come from."""

    WRENCHES = "wrenches"
    """The recursion, by the wrenches of the feet."""
    NONE = "none"
    """Nowhere: they are taken to be zero, which shows the observer's benefit."""
    MEASURED = "measured"
    """A simulator, whose truth shows what an observer can reach at most."""


@configuration
class FlexibleJointObserverConfig:
    """Configure the observer of the flexible joints.

    Attributes:
        source: Of the deflections; all else is about the recursion.
        computed_fraction: Of the torques of actuated joints, the rest is measured: 1 ignores what is measured, [-].
        swing_motion: Of a foot that the plan has in the air.
        touch_time_constant: Of a low pass on the wrench of a foot that has just touched the ground, [s]:
            the blow stops the leg and hardly reaches the hip, but the recursion takes the foot to be at rest.
        touch_duration: In which that low pass fades, [s].
        stiffness_rate: At which compliances are learned from the tilt of standing soles, which are taken to be level
            (on a floor that rises by 2° sideways TALOS falls with it); 0: they stay as configured, [1/s].
        stiffness_deflection: Well above it a deflection says what its spring is worth, [rad].
    """

    source: DeflectionSource
    computed_fraction: float = setting("-", least=0.0, most=1.0)
    swing_motion: FootMotion
    touch_time_constant: float = setting("s", least=0.0)
    touch_duration: float = setting("s", above=0.0, why="touch_time_constant = 0: none")
    stiffness_rate: float = setting("1/s", least=0.0)
    stiffness_deflection: float = setting("rad", above=0.0)


_ACCELERATION_TIME_CONSTANT = 0.01  # [s] of the low pass on accelerations, which are differences of velocities


@dataclass(frozen=True, slots=True, eq=False)
class FlexibleJointState:
    """Deflections of the flexible joints, in the order of the description.

    Attributes:
        positions: [rad], shape (f,).
        velocities: [rad/s], shape (f,).
        torques: Of spring and damper on what hangs below, [N·m], shape (f,).
        stiffness: As configured or learned, [N·m/rad], shape (f,).
    """

    positions: NDArray
    velocities: NDArray
    torques: NDArray
    stiffness: NDArray


class FlexibleJointObserver:
    """Estimates deflections, their velocities and torques from encoders, foot wrenches and the last estimated base."""

    def __init__(
        self, model: IdynTreeModel, config: FlexibleJointObserverConfig, compiler: Compiler = interpreted
    ) -> None:
        """Build the recursion.

        Args:
            model: The robot with its flexible joints: their stiffness and damping are those assumed here.
            config: Fractions and filters.
            compiler: How the recursion becomes fast.

        Raises:
            ModelError: A flexible joint is in no leg, or a link of a leg has branches.
        """
        description = model.description
        self._config, self._joints = config, description.flexible_joints
        self._shapes = {
            "joint_positions": (len(description.measured),),
            "joint_velocities": (len(description.measured),),
            "contact_wrenches": (len(description.force_torque_sensors), 6),
        }
        self._measures_torques = config.computed_fraction < 1.0
        key = (observer_function, model.fingerprint, compiler)
        self._function = built_once(key, lambda: observer_function(model, compiler))
        self._function.set(
            computed_fraction=config.computed_fraction,
            touch_time_constant=config.touch_time_constant,
            touch_duration=config.touch_duration,
            stiffness_deflection=config.stiffness_deflection,
            stiffness=[joint.stiffness for joint in description.flexible_joints],
            damping=[joint.damping for joint in description.flexible_joints],
        )
        self._follows = config.swing_motion is FootMotion.KINEMATICS
        self.reset()

    def reset(self) -> None:
        """Forget the past: the next deflections are those at rest."""
        self._function.inputs["memory"][:] = 0.0
        self._function.set(joint_torques=0.0, base_twist=0.0, is_first=1.0)
        self._time = -math.inf
        self.state: FlexibleJointState | None = None

    def update(
        self, measurement: Measurement, reference: WalkingReference, last: RobotState | None
    ) -> FlexibleJointState:
        """Return the deflections at the time of the measurement.

        Args:
            measurement: Joints and wrenches of one time.
            reference: Says which feet stand, and how they are turned in the first tick.
            last: The state that the last tick estimated; None in the first one.

        Raises:
            EstimationError: The sample has another size, is not finite or is older than the last; or torques are
                wanted that nothing measures.
        """
        self._check(measurement)
        if self._config.source is not DeflectionSource.WRENCHES:
            return self._without_recursion(measurement)
        function, period = self._function, measurement.time - self._time
        if self.state is not None and period <= 0.0:
            return self.state
        function.set(
            joint_positions=measurement.joint_positions,
            joint_velocities=measurement.joint_velocities,
            contact_wrenches=measurement.contact_wrenches,
            period=period if self.state is not None else 1.0,
            acceleration_gain=low_pass_gain(_ACCELERATION_TIME_CONSTANT, period),
        )
        if self._measures_torques:
            function.set(joint_torques=measurement.joint_torques)
        sees_tilt = last is not None and measurement.imu is not None
        function.set(stiffness_rate=self._config.stiffness_rate if sees_tilt else 0.0)
        self._place(reference, last)
        self.state = self._evaluated()
        self._time = measurement.time
        return self.state

    def _evaluated(self) -> FlexibleJointState:
        """Return the answer of the recursion to its inputs, and keep its memory for the next tick."""
        outputs = self._function()
        self._function.inputs["memory"][...] = outputs["memory"]
        self._function.set(is_first=0.0)
        return FlexibleJointState(
            **{name: readonly(outputs[name]) for name in ("positions", "velocities", "torques", "stiffness")}
        )

    def _without_recursion(self, measurement: Measurement) -> FlexibleJointState:
        """Return deflections that a simulator measures, or none."""
        count = len(self._joints)
        motion = np.zeros((2, count))
        if self._config.source is DeflectionSource.MEASURED:
            motion = np.zeros((0, 0)) if measurement.deflections is None else measurement.deflections
            if motion.shape != (2, count):
                raise EstimationError(
                    f"flexible_joint_observer.source=measured: nothing measures the deflections of {count} joints; a"
                    " simulated robot whose links bend does, in process"
                )
        stiffness, damping = np.array([[joint.stiffness, joint.damping] for joint in self._joints]).T
        torques = -stiffness * motion[0] - damping * motion[1]
        self._time = measurement.time
        self.state = FlexibleJointState(*map(readonly, (motion[0], motion[1], torques, stiffness)))
        return self.state

    def _place(self, reference: WalkingReference, last: RobotState | None) -> None:
        """Write how the feet stand, and where the base moves."""
        function = self._function
        if last is not None:
            function.set(base_rotation=last.base_rotation, base_twist=last.base_twist)
        for side in Side:
            foot = reference.foot(side)
            swings = self._follows and last is not None and not foot.in_contact
            rotation = foot.rotation if last is None else last.foot_rotation(side)
            function.write({f"{side}_foot_swings": float(swings), f"{side}_foot_rotation": rotation})
            function.write({f"{side}_foot_stands": float(foot.in_contact)})

    def _check(self, measurement: Measurement) -> None:
        if measurement.time < self._time:
            raise EstimationError(f"the measurement at {measurement.time:.3f} s is older than the last one")
        values = {name: getattr(measurement, name) for name in self._shapes}
        if self._measures_torques:
            values["joint_torques"] = measurement.joint_torques
        for name, value in values.items():
            shape = self._shapes.get(name, self._shapes["joint_positions"])
            if value.shape != shape:
                raise EstimationError(f"{name} has shape {value.shape}, the robot has {shape}")
            flat = value.ravel()
            if not math.isfinite(flat.dot(flat)):
                hint = "; computed_fraction = 1 needs none" if name == "joint_torques" else ""
                raise EstimationError(f"{name} is not finite at {measurement.time:.3f} s{hint}")


_NUMBERS = (
    "period",
    "computed_fraction",
    "acceleration_gain",
    "is_first",
    "touch_time_constant",
    "touch_duration",
    "stiffness_rate",
    "stiffness_deflection",
)
_LEARNED = 3.0  # [-] compliances are learned up to this multiple of what is configured, and down to its inverse
_TOUCH = 10.0  # [N] above the noise of sensors

# -- the recursion -----------------------------------------------------------------------------------------------------


@dataclass
class _Motion:
    """Motion of one link in its own axes: ω, ω̇ and the proper acceleration of its origin, (3, 1) each."""

    rate: cs.SX
    rate_change: cs.SX
    acceleration: cs.SX

    def blended(self, other: _Motion, fraction: cs.SX) -> _Motion:
        """Return this motion, or ``other`` where ``fraction`` is 1."""
        mixed = (
            (1.0 - fraction) * getattr(self, name) + fraction * getattr(other, name)
            for name in ("rate", "rate_change", "acceleration")
        )
        return _Motion(*mixed)


@dataclass
class _Joints:
    """Positions, velocities and accelerations of all joints, actuated then flexible, (n, 1) each."""

    positions: cs.SX
    velocities: cs.SX
    accelerations: cs.SX


def leg_chain(model: IdynTreeModel, side: Side) -> list[RigidLink]:
    """Return the links from the base's child down to the foot.

    Raises:
        ModelError: Another link hangs on one of them.
    """
    links = {link.index: link for link in links_from_base(model)}
    link = links[model.model.getFrameLink(model.frame_index(model.description.foot_frame(side)))]
    chain: list[RigidLink] = []
    while link.parent is not None:
        chain.insert(0, link)
        link = links[link.parent]
    inside = {link.index for link in chain}
    for link in links.values():
        if link.parent in inside and link.index not in inside:
            names = (model.model.getLinkName(index) for index in (link.index, link.parent))
            raise ModelError(
                "{}: link '{}' hangs on '{}': the observer of flexible joints takes legs for chains".format(
                    model.description.name, *names
                )
            )
    return chain


def motion_of_child(parent: _Motion, child: RigidLink, joints: _Joints) -> _Motion:
    """Return the motion of a link by that of its parent."""
    lever, axis, turn, speed, acceleration = _place(child, joints)
    rate = turn.T @ parent.rate + axis * speed
    return _Motion(
        rate,
        turn.T @ parent.rate_change + axis * acceleration + cs.cross(rate, axis) * speed,
        turn.T @ (parent.acceleration + _point_acceleration(parent, lever)),
    )


def motion_of_parent(motion: _Motion, child: RigidLink, joints: _Joints) -> _Motion:
    """Return the motion of a link by that of its child."""
    lever, axis, turn, speed, acceleration = _place(child, joints)
    change = turn @ (motion.rate_change - axis * acceleration - cs.cross(motion.rate, axis) * speed)
    parent = _Motion(turn @ (motion.rate - axis * speed), change, cs.SX(3, 1))
    parent.acceleration = turn @ motion.acceleration - _point_acceleration(parent, lever)
    return parent


def _place(child: RigidLink, joints: _Joints) -> tuple[cs.DM, cs.DM, cs.SX, cs.SX, cs.SX]:
    """Return lever, axis and rotation of a link in its parent, and speed and acceleration of the joint between them."""
    joint, axis = child.joint, clean(child.axis)
    assert joint is not None, "the base has no joint"
    turn = clean(child.rest_rotation) @ rotation_about(child.axis, joints.positions[joint])
    return clean(child.rest_position), axis, turn, joints.velocities[joint], joints.accelerations[joint]


def _point_acceleration(motion: _Motion, lever: cs.DM) -> cs.SX:
    return cs.cross(motion.rate_change, lever) + cs.cross(motion.rate, cs.cross(motion.rate, lever))


def wrench_on_link(link: RigidLink, motion: _Motion) -> tuple[cs.SX, cs.SX]:
    """Return φ, the force and the moment about the origin that move a link, [N], [N·m], (3, 1) each."""
    com, inertia = clean(link.com), clean(link.inertia_at_com)
    force = link.mass * (motion.acceleration + _point_acceleration(motion, com))
    turning = inertia @ motion.rate_change + cs.cross(motion.rate, inertia @ motion.rate)
    return force, turning + cs.cross(com, force)


def joint_torques(
    chain: list[RigidLink],
    foot: _Motion,
    on_ground: tuple[cs.SX, cs.SX],
    joints: _Joints,
    corrected: Mapping[int, cs.SX],
    fraction: cs.SX,
) -> dict[int, cs.SX]:
    """Return the torque of each joint of a leg, from the sole up, before its correction, [N·m].

    Args:
        chain: Links down to the foot.
        foot: Its motion.
        on_ground: Force and moment of the foot on the ground, about the foot link's origin, in its axes.
        joints: Of the robot.
        corrected: Measured torques on the links, less their rotors', by joint.
        fraction: β.
    """
    torques, motion, (force, moment) = {}, foot, on_ground
    for link in reversed(chain):
        assert link.joint is not None
        own_force, own_moment = wrench_on_link(link, motion)
        force, moment = force + own_force, moment + own_moment
        lever, axis, turn, *_ = _place(link, joints)
        torques[link.joint] = cs.dot(axis, moment)
        if link.joint in corrected:
            moment += (1.0 - fraction) * (corrected[link.joint] - torques[link.joint]) * axis
        motion = motion_of_parent(motion, link, joints)
        force = turn @ force
        moment = turn @ moment + cs.cross(lever, force)
    return torques


def observer_function(model: IdynTreeModel, compiler: Compiler) -> FlatFunction:
    """Return the function of a tick; its inputs and outputs are named as in ``FlexibleJointObserver``."""
    description = model.description
    measured, flexible = len(description.measured), len(description.flexible_joints)
    inputs = _inputs(measured, flexible, len(description.force_torque_sensors))
    memory, gain = Memory(), inputs["acceleration_gain"]
    positions, speeds = memory.last("deflections", flexible), memory.last("deflection_velocities", flexible)
    bent, changes = cs.SX.sym("bent", flexible), cs.SX.sym("deflection_accelerations", flexible)
    differences = [_acceleration(memory, name, inputs, gain) for name in ("joint_velocities", "base_twist")]
    joints = _Joints(
        cs.vertcat(inputs["joint_positions"], bent),
        cs.vertcat(inputs["joint_velocities"], speeds),
        cs.vertcat(differences[0][0], changes),
    )
    feet = {
        side: _contact(memory, side, inputs, _foot_on_ground(model, side, inputs["contact_wrenches"])) for side in Side
    }
    on_ground = {side: wrench for side, (wrench, _) in feet.items()}
    torques = _flexible_torques(model, inputs, joints, differences[1][0], on_ground)
    errors = _deflection_errors(model, inputs, joints, {side: age for side, (_, age) in feet.items()})
    excess = _compliance_excess(memory, inputs, positions, cs.substitute(errors, bent, positions))
    learned = inputs | {"stiffness": inputs["stiffness"] / (1.0 + excess)}
    last = _implicit_step(learned, cs.substitute(torques, bent, positions), changes, positions, speeds)[0]
    torques = cs.substitute(torques, bent, cs.if_else(inputs["is_first"] > 0.5, last, positions))
    deflections, velocities = _implicit_step(learned, torques, changes, positions, speeds)
    torques = cs.substitute(torques, changes, (velocities - speeds) / inputs["period"])
    of_feet = (value for wrench, age in feet.values() for value in (age, wrench))
    for value in (deflections, velocities, *differences[0][1:], *differences[1][1:], *of_feet, excess):
        memory.keep(value)
    outputs = {"positions": deflections, "velocities": velocities, "torques": torques}
    outputs |= {"stiffness": learned["stiffness"], "memory": memory.output}
    return FlatFunction(
        f"flexible_joints_{description.name}",
        inputs | {"memory": memory.input},
        dict(zip(outputs, cs.cse(list(outputs.values())), strict=True)),
        compiler,
    )


def _inputs(measured: int, flexible: int, sensors: int) -> dict[str, cs.SX]:
    shapes: dict[str, tuple[int, ...]] = {
        "joint_positions": (measured,),
        "joint_velocities": (measured,),
        "joint_torques": (measured,),
        "contact_wrenches": (sensors, 6),
        "base_rotation": (3, 3),
        "base_twist": (6,),
        "stiffness": (flexible,),
        "damping": (flexible,),
    }
    shapes |= dict.fromkeys(_NUMBERS, (1,))
    for side in Side:
        shapes |= {f"{side}_foot_rotation": (3, 3), f"{side}_foot_swings": (1,), f"{side}_foot_stands": (1,)}
    return {name: cs.SX.sym(name, *shape) for name, shape in shapes.items()}


def _acceleration(memory: Memory, name: str, inputs: dict[str, cs.SX], gain: cs.SX) -> tuple[cs.SX, cs.SX, cs.SX]:
    """Return the low-passed derivative of an input, zero in the first tick, and what is remembered of both."""
    value = inputs[name]
    last, filtered = memory.last(name, value.numel()), memory.last(f"{name}_change", value.numel())
    difference = (1.0 - inputs["is_first"]) * (value - last) / inputs["period"]
    result = filtered + gain * (difference - filtered)
    return result, value, result


def _flexible_torques(
    model: IdynTreeModel,
    inputs: dict[str, cs.SX],
    joints: _Joints,
    base_acceleration: cs.SX,
    on_ground: Mapping[Side, cs.SX],
) -> cs.SX:
    """Return the torques of the flexible joints, (f, 1)."""
    gravity, to_base = cs.DM([0.0, 0.0, GRAVITY]), inputs["base_rotation"].T
    base = _Motion(
        to_base @ inputs["base_twist"][3:],
        to_base @ base_acceleration[3:],
        to_base @ (base_acceleration[:3] + gravity),
    )
    measured = len(model.description.measured)
    rotors = (
        inputs["joint_torques"] - clean(model.rotor_inertia)[:measured, :measured] @ joints.accelerations[:measured]
    )
    corrected = {joint: rotors[joint] for joint in range(measured)}
    found: dict[int, cs.SX] = {}
    for side in Side:
        chain, moving = leg_chain(model, side), base
        for link in chain:
            moving = motion_of_child(moving, link, joints)
        sole = model.model.getFrameTransform(model.frame_index(model.description.foot_frame(side)))
        upward = clean(as_pose(sole)[1]) @ inputs[f"{side}_foot_rotation"].T @ gravity
        foot = _Motion(cs.SX(3, 1), cs.SX(3, 1), upward).blended(moving, inputs[f"{side}_foot_swings"])
        wrench = on_ground[side][:3], on_ground[side][3:]
        found |= joint_torques(chain, foot, wrench, joints, corrected, inputs["computed_fraction"])
    names = [joint.name for joint in model.description.flexible_joints]
    lost = [name for joint, name in enumerate(names, measured) if joint not in found]
    if lost:
        raise ModelError(
            f"{model.description.name}: flexible joint '{lost[0]}' is in no leg, no wrench shows its torque"
        )
    return cs.vertcat(*(found[joint] for joint in range(measured, measured + len(names))))


def _contact(memory: Memory, side: Side, inputs: dict[str, cs.SX], wrench: cs.SX) -> tuple[cs.SX, cs.SX]:
    """Return the wrench of a foot behind the low pass that fades after its touch, and the time since that, [s]."""
    age, last = memory.last(f"{side}_contact_age"), memory.last(f"{side}_contact_wrench", 6)
    touches, duration = cs.sumsqr(wrench[:3]) > _TOUCH**2, inputs["touch_duration"]
    age = cs.if_else(touches, cs.if_else(inputs["is_first"] > 0.5, duration, age + inputs["period"]), 0.0)
    time_constant = inputs["touch_time_constant"] * cs.fmax(0.0, 1.0 - age / duration)
    is_filtered = cs.logic_and(touches, time_constant > 0.0)
    gain = cs.if_else(is_filtered, 1.0 - cs.exp(-inputs["period"] / cs.fmax(time_constant, 1e-9)), 1.0)
    return last + gain * (wrench - last), age


def _deflection_errors(
    model: IdynTreeModel, inputs: dict[str, cs.SX], joints: _Joints, contact_ages: Mapping[Side, cs.SX]
) -> cs.SX:
    """Return by how much deflections are too small by the tilt of their leg's sole, (f, 1).

    A foot in the air, or that has just touched down, says nothing.
    """
    measured, errors = inputs["joint_positions"].numel(), {}
    for side in Side:
        age, turn = contact_ages[side], inputs["base_rotation"]
        rests = cs.logic_and(age >= inputs["touch_duration"], inputs[f"{side}_foot_stands"] > 0.5)
        tilt = rests * inputs[f"{side}_foot_rotation"][:2, 2]
        for link in leg_chain(model, side):
            _, axis, own, *_ = _place(link, joints)
            turn = turn @ own
            horizontal = (turn @ axis)[:2]
            errors[link.joint] = horizontal[0] * tilt[1] - horizontal[1] * tilt[0]
    return cs.vertcat(*(errors[joint] for joint in range(measured, joints.positions.numel())))


def _compliance_excess(memory: Memory, inputs: dict[str, cs.SX], deflections: cs.SX, errors: cs.SX) -> cs.SX:
    """Return x, by whose part the compliances are above those configured, (f, 1)."""
    last = memory.last("compliance_excess", deflections.numel())
    scale = deflections**2 + inputs["stiffness_deflection"] ** 2
    change = inputs["stiffness_rate"] * deflections**3 * errors / scale**2
    return cs.fmin(cs.fmax(last + inputs["period"] * change, 1.0 / _LEARNED - 1.0), _LEARNED - 1.0)


def _foot_on_ground(model: IdynTreeModel, side: Side, readings: cs.SX) -> cs.SX:
    """Return force and moment of a foot on the ground, about the origin and in the axes of the foot's link, (6, 1)."""
    foot = model.model.getFrameLink(model.frame_index(model.description.foot_frame(side)))
    force, moment = cs.SX(3, 1), cs.SX(3, 1)
    for row in model.description.sensors_of(side):
        sensor = model.description.force_torque_sensors[row]
        index = model.frame_index(sensor.frame)
        if model.model.getFrameLink(index) != foot:
            raise ModelError(f"{model.description.name}: sensor '{sensor.name}' is not on the foot's link")
        place, turn = as_pose(model.model.getFrameTransform(index))
        own = -clean(turn) @ readings[row, :3].T
        force += own
        moment += cs.cross(clean(place), own) - clean(turn) @ readings[row, 3:].T
    return cs.vertcat(force, moment)


def _implicit_step(
    inputs: dict[str, cs.SX], torques: cs.SX, changes: cs.SX, positions: cs.SX, speeds: cs.SX
) -> tuple[cs.SX, cs.SX]:
    r"""Return s and ṡ after the step; in the first tick those at rest.

    .. math::
        (k + d / \Delta + A / \Delta^2) s_k =
        (d / \Delta) s_{k-1} + A (s_{k-1} / \Delta + \dot s_{k-1}) / \Delta - \tau_0
    """
    follows, period = 1.0 - inputs["is_first"], inputs["period"]
    inertia = follows * cs.jacobian(torques, changes) / period**2
    damper = follows * inputs["damping"] / period
    right = damper * positions + inertia @ (positions + period * speeds)
    right -= cs.substitute(torques, changes, cs.SX.zeros(changes.numel()))
    deflections = cs.solve(cs.diag(inputs["stiffness"] + damper) + inertia, right)
    return deflections, follows * (deflections - positions) / period
