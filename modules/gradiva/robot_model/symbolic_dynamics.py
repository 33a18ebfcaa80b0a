r"""Express the kinematics and dynamics of a robot, and rotations, in CasADi symbols.

All quantities are in world axes; velocities are mixed: :math:`\nu = (\dot p_B, \omega_B, \dot s)`.
Inside, positions are relative to the base origin. One pass from the base to the leaves gives rotations, origins,
velocities and the accelerations that remain at :math:`\dot\nu = 0`; one pass back gives composite mass, first
moment and inertia (for the mass matrix) and the accumulated forces (for the bias forces). With joint axis
:math:`a` through :math:`o`, the joint's unit velocity moves the base origin by :math:`v_0 = o \times a`, and

.. math::
    f = m v_0 + a \times h, \quad n = h \times v_0 + I a, \quad
    M_{kj} = a_k \cdot n_j + (o_k \times a_k) \cdot f_j.

The rotors' inertia, reflected by the gears, adds to the joints' block; what their spin does to the links that carry
them is smaller by the gear ratio and neglected, so momenta of the robot are those of its links.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as cs
import idyntree.bindings as idyn
import numpy as np

from gradiva.common import GRAVITY, NDArray
from gradiva.robot_model.idyntree_model import IdynTreeModel, as_array


def symbolic_log(rotation: cs.SX) -> cs.SX:
    """Rotation vector of a rotation matrix, (3, 1), for angles below π."""
    twice = cs.vertcat(
        rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]
    )
    axis_sine = 0.5 * twice
    sine = cs.sqrt(cs.dot(axis_sine, axis_sine))
    cosine = 0.5 * (cs.trace(rotation) - 1)
    ratio = cs.atan2(sine, cosine) / cs.fmax(sine, 1e-12)
    return cs.if_else(sine < 1e-9, 1.0, ratio) * axis_sine


def symbolic_exp(rotation_vector: cs.SX) -> cs.SX:
    """Rotation matrix of a rotation vector, (3, 3), by Rodrigues' formula."""
    squared = cs.dot(rotation_vector, rotation_vector)
    angle = cs.sqrt(cs.fmax(squared, 1e-16))  # below 1e-8 rad sine and cosine are those of 1e-8 rad to the last digit
    skew = cs.skew(rotation_vector)
    return cs.SX.eye(3) + cs.sin(angle) / angle * skew + 2.0 * (cs.sin(0.5 * angle) / angle) ** 2 * (skew @ skew)


def symbolic_rotation_z(angle: cs.SX) -> cs.SX:
    """Rotation matrix about the vertical, (3, 3)."""
    cosine, sine = cs.cos(angle), cs.sin(angle)
    return cs.vertcat(cs.horzcat(cosine, -sine, 0), cs.horzcat(sine, cosine, 0), cs.horzcat(0, 0, 1))


def clean(constant: NDArray) -> cs.DM:
    """Return the constant with its rounding errors (1e-17 for 0) dropped, so that zeros stay structural."""
    rounded = np.where(np.abs(constant) < 1e-15, 0.0, constant)
    rounded = np.where(np.abs(np.abs(rounded) - 1.0) < 1e-15, np.sign(rounded), rounded)
    return cs.sparsify(cs.DM(rounded))


def rotation_about(axis: NDArray, angle: cs.SX) -> cs.SX:
    """Rodrigues' formula for a constant unit axis."""
    cosine, sine = cs.cos(angle), cs.sin(angle)
    unit = clean(axis)
    return cosine * cs.SX.eye(3) + sine * cs.skew(unit) + (1 - cosine) * (unit @ unit.T)


@dataclass
class RigidLink:
    """A link, its place in the tree and its constant inertia.

    Attributes:
        index: iDynTree's index of the link.
        parent: Index of its parent; None of the base.
        joint: Index of the joint between them; None of the base.
        rest_rotation: Of the link in its parent at joint position zero, (3, 3).
        rest_position: Of its origin in the parent, [m], (3,).
        axis: Of the joint through its origin, in its own axes, (3,).
        mass: [kg].
        com: In its own axes, [m], (3,).
        inertia_at_com: In its own axes, [kg·m²], (3, 3).
    """

    index: int
    parent: int | None
    joint: int | None
    rest_rotation: NDArray
    rest_position: NDArray
    axis: NDArray
    mass: float
    com: NDArray
    inertia_at_com: NDArray


def links_from_base(tree: IdynTreeModel) -> list[RigidLink]:
    """Return the links, parents before children."""
    model = tree.model
    traversal = idyn.Traversal()
    model.computeFullTreeTraversal(traversal, model.getDefaultBaseLink())
    links = []
    for visit in range(traversal.getNrOfVisitedLinks()):
        link = traversal.getLink(visit)
        index = link.getIndex()
        inertia = link.getInertia()
        com = as_array(inertia.getCenterOfMass())
        at_origin = as_array(inertia.getRotationalInertiaWrtFrameOrigin())
        mass = inertia.getMass()
        at_com = at_origin - mass * (com @ com * np.eye(3) - np.outer(com, com))
        place: dict[str, Any] = {
            "parent": None,
            "joint": None,
            "rest_rotation": np.eye(3),
            "rest_position": np.zeros(3),
            "axis": np.zeros(3),
        }
        if visit > 0:
            place = _place_in_tree(model, traversal, visit, index)
        links.append(RigidLink(index=index, mass=mass, com=com, inertia_at_com=at_com, **place))
    return links


def _place_in_tree(model: Any, traversal: Any, visit: int, index: int) -> dict[str, Any]:
    parent = traversal.getParentLink(visit).getIndex()
    joint = traversal.getParentJoint(visit)
    rest = joint.getRestTransform(index, parent).inverse()
    axis = joint.asRevoluteJoint().getAxis(index)
    assert np.allclose(as_array(axis.getOrigin()), 0.0), "the axis of a URDF joint passes through its child's origin"
    return {
        "parent": parent,
        "joint": joint.getIndex(),
        "rest_rotation": as_array(rest.getRotation()),
        "rest_position": as_array(rest.getPosition()),
        "axis": as_array(axis.getDirection()),
    }


@dataclass
class SymbolicFrame:
    """Expressions of one frame of the robot.

    Attributes:
        position: World, [m], (3, 1).
        rotation: World, (3, 3).
        jacobian: Linear rows then angular rows, (6, 6 + n).
        twist: Linear then angular velocity, (6, 1).
        bias_acceleration: Its acceleration at ν̇ = 0, that is J̇ν, (6, 1).
    """

    position: cs.SX
    rotation: cs.SX
    jacobian: cs.SX
    twist: cs.SX
    bias_acceleration: cs.SX


class SymbolicDynamics:
    """Expressions of one robot in the symbols of its state.

    Attributes:
        base_position: Symbol, world, [m], (3, 1).
        base_rotation: Symbol, (3, 3).
        base_twist: Symbol, linear then angular velocity, (6, 1).
        joint_positions: Symbol, [rad], (n, 1).
        joint_velocities: Symbol, [rad/s], (n, 1).
        mass: [kg].
        gravity: Acceleration, constant, world, [m/s²], (3, 1).
    """

    def __init__(self, model: IdynTreeModel, gravity: float = GRAVITY, floating: bool = True) -> None:
        """Build the expressions.

        Args:
            model: The robot.
            gravity: [m/s²].
            floating: False puts the base at rest at the origin: all is then relative to the base.
        """
        self.model = model
        self.mass = model.mass
        self.joints = len(model.description.joints)
        self.base_position = cs.SX.sym("base_position", 3) if floating else cs.SX(3, 1)
        self.base_rotation = cs.SX.sym("base_rotation", 3, 3) if floating else cs.SX.eye(3)
        self.base_twist = cs.SX.sym("base_twist", 6) if floating else cs.SX(6, 1)
        self.joint_positions = cs.SX.sym("joint_positions", self.joints)
        self.joint_velocities = cs.SX.sym("joint_velocities", self.joints)
        self.gravity = cs.DM([0.0, 0.0, -gravity])
        self._links = links_from_base(model)
        self._link_of_joint = {link.joint: link for link in self._links if link.joint is not None}
        self._propagate()

    @classmethod
    def of(cls, model: IdynTreeModel) -> SymbolicDynamics:
        """Return the expressions of a model on a floating base, built once for each model."""
        known: SymbolicDynamics | None = getattr(model, "dynamics", None)
        if known is None:
            known = cls(model)
            model.dynamics = known  # type: ignore[attr-defined]
        return known

    def frame(self, name: str) -> SymbolicFrame:
        """Return the expressions of a frame.

        Raises:
            ModelError: The model has no such frame.
        """
        model = self.model.model
        index = self.model.frame_index(name)
        transform = model.getFrameTransform(index)
        link = model.getFrameLink(index)
        lever = self._rotation[link] @ clean(as_array(transform.getPosition()))
        offset = self._origin[link] + lever
        angular_velocity = self._angular_velocity[link]
        linear_velocity = self._velocity[link] + cs.cross(angular_velocity, lever)
        bias = self._acceleration[link] + _point_acceleration(self._angular_acceleration[link], angular_velocity, lever)
        return SymbolicFrame(
            position=self.base_position + offset,
            rotation=self._rotation[link] @ clean(as_array(transform.getRotation())),
            jacobian=self._point_jacobian(link, offset),
            twist=cs.vertcat(linear_velocity, angular_velocity),
            bias_acceleration=cs.vertcat(bias, self._angular_acceleration[link]),
        )

    @cached_property
    def com_position(self) -> cs.SX:
        """Centre of mass, world, (3, 1)."""
        return self.base_position + self._com_offset

    @cached_property
    def com_velocity(self) -> cs.SX:
        """World, (3, 1)."""
        momentum = cs.SX.zeros(3)
        for link in self._links:
            momentum += link.mass * self._com_velocity_of(link)
        return momentum / self.mass

    @cached_property
    def com_jacobian(self) -> cs.SX:
        """Jacobian of the CoM position, (3, 6 + n)."""
        return self.mass_matrix[:3, :] / self.mass

    @cached_property
    def com_bias_acceleration(self) -> cs.SX:
        """CoM acceleration at ν̇ = 0, (3, 1)."""
        return self._base_bias_force / self.mass + self.gravity

    @cached_property
    def mass_matrix(self) -> cs.SX:
        """M, with the rotors in the block of the joints, (6 + n, 6 + n)."""
        size = 6 + self.joints
        matrix = cs.SX(size, size)
        mass, moment, inertia = self._composite[self._links[0].index]
        matrix[:3, :3] = mass * cs.SX.eye(3)
        matrix[:3, 3:6] = -cs.skew(moment)
        matrix[3:6, :3] = cs.skew(moment)
        matrix[3:6, 3:6] = inertia
        for joint, link in self._link_of_joint.items():
            self._fill_mass_matrix_column(matrix, joint, link)
        matrix[6:, 6:] += clean(self.model.rotor_inertia)
        return matrix

    @cached_property
    def bias_forces(self) -> cs.SX:
        """h, with gravity, (6 + n, 1)."""
        force, moment = self._subtree_forces
        base = self._links[0].index
        rows = [
            cs.dot(self._axis[joint], moment[link.index] - cs.cross(self._origin[link.index], force[link.index]))
            for joint, link in sorted(self._link_of_joint.items())
        ]
        return cs.vertcat(force[base], moment[base], *rows)

    @cached_property
    def centroidal_momentum_matrix(self) -> cs.SX:
        """Maps ν to the linear and the angular momentum about the CoM, (6, 6 + n)."""
        linear = self.mass_matrix[:3, :]
        angular = self.mass_matrix[3:6, :] - cs.skew(self._com_offset) @ linear
        return cs.vertcat(linear, angular)

    # -- the two passes ----------------------------------------------------------------------------------------

    def _propagate(self) -> None:
        """From the base to the leaves: rotations, origins, velocities, accelerations at ν̇ = 0."""
        self._rotation: dict[int, cs.SX] = {}
        self._origin: dict[int, cs.SX] = {}
        self._angular_velocity: dict[int, cs.SX] = {}
        self._velocity: dict[int, cs.SX] = {}
        self._angular_acceleration: dict[int, cs.SX] = {}
        self._acceleration: dict[int, cs.SX] = {}
        self._axis: dict[int, cs.SX] = {}
        for link in self._links:
            if link.parent is None or link.joint is None:
                self._place_base(link.index)
            else:
                self._place_child(link, link.parent, link.joint)

    def _place_base(self, base: int) -> None:
        self._rotation[base] = self.base_rotation
        self._origin[base] = cs.SX.zeros(3)
        self._velocity[base] = self.base_twist[:3]
        self._angular_velocity[base] = self.base_twist[3:]
        self._acceleration[base] = cs.SX.zeros(3)
        self._angular_acceleration[base] = cs.SX.zeros(3)

    def _place_child(self, link: RigidLink, parent: int, joint: int) -> None:
        rest = self._rotation[parent] @ clean(link.rest_rotation)
        self._rotation[link.index] = rest @ rotation_about(link.axis, self.joint_positions[joint])
        lever = self._rotation[parent] @ clean(link.rest_position)
        self._origin[link.index] = self._origin[parent] + lever
        axis = rest @ clean(link.axis)
        spin = axis * self.joint_velocities[joint]
        omega = self._angular_velocity[parent]
        alpha = self._angular_acceleration[parent]
        self._axis[joint] = axis
        self._angular_velocity[link.index] = omega + spin
        self._velocity[link.index] = self._velocity[parent] + cs.cross(omega, lever)
        self._angular_acceleration[link.index] = alpha + cs.cross(omega, spin)
        self._acceleration[link.index] = self._acceleration[parent] + _point_acceleration(alpha, omega, lever)

    @cached_property
    def _com_offset(self) -> cs.SX:
        moment = cs.SX.zeros(3)
        for link in self._links:
            moment += link.mass * (self._origin[link.index] + self._com_lever(link))
        return moment / self.mass

    @cached_property
    def _composite(self) -> dict[int, tuple[float, cs.SX, cs.SX]]:
        """Per link: mass, first moment and inertia of its subtree about the base origin."""
        composite: dict[int, tuple[float, cs.SX, cs.SX]] = {}
        for link in self._links:
            com = self._origin[link.index] + self._com_lever(link)
            steiner = link.mass * (cs.dot(com, com) * cs.SX.eye(3) - com @ com.T)
            composite[link.index] = (link.mass, link.mass * com, self._inertia_in_world(link) + steiner)
        for link in reversed(self._links):
            if link.parent is not None:
                mass, moment, inertia = composite[link.parent]
                more_mass, more_moment, more_inertia = composite[link.index]
                composite[link.parent] = (mass + more_mass, moment + more_moment, inertia + more_inertia)
        return composite

    @cached_property
    def _subtree_forces(self) -> tuple[dict[int, cs.SX], dict[int, cs.SX]]:
        """Per link: force and moment about the base origin that its subtree needs at ν̇ = 0, against gravity."""
        force, moment = {}, {}
        for link in self._links:
            lever = self._com_lever(link)
            omega = self._angular_velocity[link.index]
            alpha = self._angular_acceleration[link.index]
            acceleration = self._acceleration[link.index] + _point_acceleration(alpha, omega, lever)
            inertia = self._inertia_in_world(link)
            force[link.index] = link.mass * (acceleration - self.gravity)
            about_com = inertia @ alpha + cs.cross(omega, inertia @ omega)
            moment[link.index] = cs.cross(self._origin[link.index] + lever, force[link.index]) + about_com
        for link in reversed(self._links):
            if link.parent is not None:
                force[link.parent] += force[link.index]
                moment[link.parent] += moment[link.index]
        return force, moment

    @cached_property
    def _base_bias_force(self) -> cs.SX:
        return self._subtree_forces[0][self._links[0].index]

    # -- parts -------------------------------------------------------------------------------------------------

    def _com_lever(self, link: RigidLink) -> cs.SX:
        return self._rotation[link.index] @ link.com

    def _com_velocity_of(self, link: RigidLink) -> cs.SX:
        omega = self._angular_velocity[link.index]
        return self._velocity[link.index] + cs.cross(omega, self._com_lever(link))

    def _inertia_in_world(self, link: RigidLink) -> cs.SX:
        rotation = self._rotation[link.index]
        return rotation @ link.inertia_at_com @ rotation.T

    def _point_jacobian(self, link: int, offset: cs.SX) -> cs.SX:
        jacobian = cs.SX(6, 6 + self.joints)
        jacobian[:3, :3] = cs.SX.eye(3)
        jacobian[:3, 3:6] = -cs.skew(offset)
        jacobian[3:, 3:6] = cs.SX.eye(3)
        for supporting, origin in self._supporting_joints(link):
            axis = self._axis[supporting]
            jacobian[:3, 6 + supporting] = cs.cross(axis, offset - origin)
            jacobian[3:, 6 + supporting] = axis
        return jacobian

    def _supporting_joints(self, index: int) -> list[tuple[int, cs.SX]]:
        """The joints between a link and the base, each with the origin of its child."""
        by_index = {link.index: link for link in self._links}
        chain, link = [], by_index[index]
        while link.parent is not None and link.joint is not None:
            chain.append((link.joint, self._origin[link.index]))
            link = by_index[link.parent]
        return chain

    def _fill_mass_matrix_column(self, matrix: cs.SX, joint: int, link: RigidLink) -> None:
        mass, moment, inertia = self._composite[link.index]
        axis = self._axis[joint]
        base_motion = cs.cross(self._origin[link.index], axis)
        force = mass * base_motion + cs.cross(axis, moment)
        torque = cs.cross(moment, base_motion) + inertia @ axis
        column = cs.vertcat(force, torque)
        matrix[:6, 6 + joint] = column
        matrix[6 + joint, :6] = column.T
        for supporting, origin in self._supporting_joints(link.index):
            other = self._axis[supporting]
            value = cs.dot(other, torque) + cs.dot(cs.cross(origin, other), force)
            matrix[6 + supporting, 6 + joint] = matrix[6 + joint, 6 + supporting] = value


def _point_acceleration(alpha: cs.SX, omega: cs.SX, lever: cs.SX) -> cs.SX:
    """Acceleration of a point on a body relative to the body's origin."""
    return cs.cross(alpha, lever) + cs.cross(omega, cs.cross(omega, lever))
