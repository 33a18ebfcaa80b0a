"""Swing the arms with the legs: the left arm goes ahead with the right foot, as people do."""

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as cs
import numpy as np

from gradiva.whole_body import Body, Priority, Quantity, Task, WholeBodyReference

SWING = Quantity("arm_swing", (2,), "rad", "of the left and the right shoulder away from the posture")


@dataclass(frozen=True, slots=True)
class ArmSwingConfig:
    """Table ``[tasks.arm_swing]``.

    Attributes:
        priority: Hard, soft or off.
        weight: Against that of the posture, 1 to 2 in position control, [-].
        joints: Pitch of the left and of the right shoulder; positive is backwards.
        swing: Angle for each metre between the feet, [rad/m].
        gain: Of the joint's error: in velocities g e, [1/s]; in accelerations g² e - 2 g ṡ.
    """

    priority: Priority
    weight: float
    joints: tuple[str, str]
    swing: float
    gain: float


class ArmSwing(Task):
    """Turn the shoulders by an angle that follows the distance of the feet."""

    Config = ArmSwingConfig

    def velocity(self, body: Body) -> tuple[cs.SX, cs.SX]:
        """Return J and v* = g e of both shoulders."""
        rows, gain = self._rows(body), self.constant(body, "gain", self.config.gain)
        return cs.SX.eye(6 + body.dynamics.joints)[[6 + row for row in rows], :], gain * self._error(body)

    def acceleration(self, body: Body) -> cs.SX:
        """Return s̈ - g² e + 2 g ṡ of both shoulders."""
        rows, gain = self._rows(body), self.constant(body, "gain", self.config.gain)
        wanted = gain**2 * self._error(body) - 2.0 * gain * body.dynamics.joint_velocities[rows]
        return body.acceleration[[6 + row for row in rows]] - wanted

    def reference(self, body: WholeBodyReference) -> Mapping[str, np.ndarray]:
        """Return the swing: the left arm goes ahead (a negative angle) by as much as the right foot."""
        ahead = body.left_foot.rotation[:, 0] @ (body.right_foot.position - body.left_foot.position)
        return {SWING.name: self.config.swing * ahead * np.array([-1.0, 1.0])}

    def _error(self, body: Body) -> cs.SX:
        rows = self._rows(body)
        return body.reference.posture[rows] + body.reference.own(SWING) - body.dynamics.joint_positions[rows]

    def _rows(self, body: Body) -> list[int]:
        return [body.dynamics.model.description.joints.index(joint) for joint in self.config.joints]
