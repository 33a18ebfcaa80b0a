"""Feet on soft ground that move as commanded, and what the robot would measure."""

from dataclasses import dataclass

import numpy as np

from gradiva.common import (
    DcmReference,
    FootContact,
    FootReference,
    RobotState,
    Side,
    SoleRectangle,
    WalkingReference,
    so3,
)
from gradiva.contacts import SoleMotion, ViscoElasticContact

SOLE = SoleRectangle(x=(-0.0535, 0.1065), y=(-0.031, 0.041), z=-0.0105)
REST = np.array([0.1, 0.08, 0.0])
HEADING = so3.rotation_z(0.2)
PERIOD = 1e-3


def resting(stiffness, damping):
    """The true contact of the left foot."""
    return FootContact(True, REST, HEADING, stiffness, damping)


def swaying(time, depth=0.015, amplitude=0.004, rate=8.0):
    """The left sole on the ground, rocking and sinking about a depth [m]; ``amplitude`` 0 stands still."""
    phase, speed = amplitude * np.sin(rate * time), amplitude * rate * np.cos(rate * time)
    tilt = np.array([0.5, 1.0, 0.2])
    rotation = so3.exp(phase * tilt) @ HEADING
    return SoleMotion(
        REST + np.array([0.2 * phase, 0.0, phase - depth]),
        rotation,
        np.concatenate(([0.2 * speed, 0.0, speed], speed * tilt)),
    )


def in_the_air(height=0.02, speed=0.0):
    """The left sole above its rest pose, tilted."""
    tilted = so3.exp(np.array([0.05, 0.1, 0.0])) @ HEADING
    return SoleMotion(REST + np.array([0.0, 0.0, height]), tilted, np.array([0, 0, speed, 0, 0, 0]))


def planned(in_contact=True, speed=0.0):
    """A foot that the plan has stand, or move at a vertical speed [m/s]."""
    return FootReference(REST, HEADING, np.array([0, 0, speed, 0, 0, 0]), np.zeros(6), in_contact)


def reference(left):
    """A plan for the left foot; the right one stands."""
    dcm = DcmReference(np.zeros(2), np.zeros(2), 4.3, 4.3, np.zeros(2))
    return WalkingReference(0.0, dcm, np.zeros(3), np.zeros(3), left, planned(), Side.RIGHT, 0.0, True)


def state(motion, wrench):
    """A robot with such a left foot; its right foot stands unloaded at the origin."""
    zero = np.zeros(3)
    return RobotState(
        base_position=zero,
        base_rotation=np.eye(3),
        base_twist=np.zeros(6),
        joint_positions=zero,
        joint_velocities=zero,
        com_position=zero,
        com_velocity=zero,
        dcm_position=np.zeros(2),
        zmp_position=np.zeros(2),
        left_foot_position=motion.position,
        left_foot_rotation=motion.rotation,
        right_foot_position=zero,
        right_foot_rotation=np.eye(3),
        left_foot_twist=motion.twist,
        right_foot_twist=np.zeros(6),
        left_foot_wrench=wrench,
        right_foot_wrench=np.zeros(6),
    )


@dataclass
class SoftGround:
    """The truth below the left foot.

    Attributes:
        stiffness: k, [N/m³].
        damping: b, [N·s/m³].
        noise: Standard deviation of forces [N] and a twentieth of it of moments [N·m].
    """

    stiffness: float
    damping: float
    noise: float = 0.0

    def __post_init__(self):
        self.model = ViscoElasticContact(SOLE, Side.LEFT)
        self.random = np.random.default_rng(0)

    def wrench(self, motion):
        """What a sensor reads."""
        scale = self.noise * np.array([1, 1, 1, 0.05, 0.05, 0.05])
        return self.model.wrench(motion, resting(self.stiffness, self.damping)) + scale * self.random.normal(size=6)
