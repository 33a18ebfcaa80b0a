"""A problem of torque control while it is put together: what rigid and soft ground have in common."""

from __future__ import annotations

import casadi as cs
import numpy as np

from gradiva.common import Side
from gradiva.robot_model import SymbolicDynamics, SymbolicFrame
from gradiva.whole_body.acceleration_tasks import frame_acceleration, orientation_law, pose_law
from gradiva.whole_body.joint_limits import JointLimitConfig, TorqueLimitConfig, acceleration_bounds, torque_bounds
from gradiva.whole_body.parameters import Parameters
from gradiva.whole_body.qp_composer import UNBOUNDED, QpComposer
from gradiva.whole_body.reference_symbols import ReferenceSymbols
from gradiva.whole_body.task_config import (
    OrientationTaskConfig,
    PoseTaskConfig,
    PostureTaskConfig,
    Priority,
)
from gradiva.whole_body.unknowns import Unknowns
from gradiva.whole_body.wrench_cone import WrenchConeConfig, cone_numbers, cone_rows, in_axes_of


class ProblemDraft:
    """Robot, references, unknowns, and what has been asked of them so far.

    Attributes:
        dynamics: The robot.
        feet: Sole frames.
        parameters: All inputs.
        references: What the body should do.
        unknowns: What is solved for.
        composer: Collects costs and constraints.
        outputs: Expressions wanted beside the problem, by name.
    """

    def __init__(
        self,
        dynamics: SymbolicDynamics,
        feet: dict[Side, SymbolicFrame],
        parameters: Parameters,
        references: ReferenceSymbols,
        unknowns: Unknowns,
    ) -> None:
        self.dynamics = dynamics
        self.feet = feet
        self.parameters = parameters
        self.references = references
        self.unknowns = unknowns
        self.composer = QpComposer(unknowns.variables, unknowns.bounded)
        self.outputs: dict[str, cs.SX] = {}
        for name, missing in unknowns.laws.items():
            self.composer.law(name, missing)

    def gains(self, name: str, stiffness: float, damping: float) -> tuple[cs.SX, cs.SX]:
        """Return the symbols of a task's gains."""
        constant = self.parameters.constant
        return constant(f"{name}.stiffness", stiffness), constant(f"{name}.damping", damping)

    def task(
        self, name: str, residual: cs.SX, priority: Priority, weight: float, activity: cs.SX | float = 1.0
    ) -> None:
        """Ask for a residual of zero; see ``QpComposer.task``."""
        symbol = self.parameters.constant(f"{name}.weight", weight)
        self.composer.task(name, residual, priority, symbol, weight, activity)

    def foot(self, name: str, side: Side, config: PoseTaskConfig, activity: cs.SX) -> None:
        """Ask one sole to follow its reference while ``activity`` is 1."""
        name = f"{side} {name} foot"
        linear = self.gains(f"{name}.linear", config.linear_stiffness, config.linear_damping)
        angular = self.gains(f"{name}.angular", config.angular_stiffness, config.angular_damping)
        wanted = pose_law(self.feet[side], self.references.feet[side], linear, angular)
        reached = frame_acceleration(self.feet[side], self.unknowns.acceleration)
        self.task(name, reached - wanted, config.priority, config.weight, activity)

    def trunk(self, torso: OrientationTaskConfig, pelvis: OrientationTaskConfig) -> None:
        """Ask torso and pelvis to be turned as their references."""
        description = self.dynamics.model.description
        self._orientation("torso", description.torso_frame, self.references.torso_rotation, torso)
        self._orientation("pelvis", description.base_link, self.references.pelvis_rotation, pelvis)

    def posture(self, config: PostureTaskConfig) -> None:
        r"""Ask joints towards their references: :math:`\ddot s^* = k_p (s_r - s) - k_d \dot s`, as a cost."""
        description = self.dynamics.model.description
        stiffness = description.spread(config.stiffness, "[posture.stiffness]")
        spring = self.parameters.constant("posture.stiffness", stiffness)
        damper = self.parameters.constant("posture.damping", 2.0 * np.sqrt(stiffness))
        weights = self.parameters.constant("posture.weights", description.spread(config.weights, "[posture.weights]"))
        missing = self.references.posture - self.dynamics.joint_positions
        wanted = spring * missing - damper * self.dynamics.joint_velocities
        self.composer.cost("posture", self.unknowns.acceleration[6:] - wanted, weights)

    def joint_limits(self, config: JointLimitConfig) -> None:
        """Keep the joints within their positions."""
        lower, upper = acceleration_bounds(config, self.dynamics, self.parameters)
        self.composer.bound("joint positions", 0, lower, upper, config.priority, config.weight)

    def torque_limits(self, config: TorqueLimitConfig) -> None:
        """Keep the torques within their limits, and within ``torque_step`` of the ``last_torques``, inputs."""
        lower, upper = torque_bounds(self.dynamics, self.parameters)
        self.composer.limit("joint torques", self.unknowns.torques, lower, upper, config.priority, config.weight)

    def cone(self, side: Side, wrench: cs.SX, config: WrenchConeConfig) -> None:
        """Keep the wrench of one foot to what the ground can exert, while it is loaded."""
        sole = self.dynamics.model.description.sole
        name = f"{side} foot's wrench"
        numbers = self.parameters.constant(f"{name}.cone", cone_numbers(config, sole, side))
        value = cone_rows(in_axes_of(self.feet[side].rotation, wrench), numbers)
        endless = UNBOUNDED * cs.SX.ones(value.numel())
        upper = (1.0 - self.references.feet[side].is_loaded) * endless
        self.composer.limit(name, value, -endless, upper, config.priority, config.weight)

    def _orientation(self, name: str, frame: str, rotation: cs.SX, config: OrientationTaskConfig) -> None:
        body = self.dynamics.frame(frame)
        gains = self.gains(name, config.stiffness, config.damping)
        references = self.references
        wanted = orientation_law(
            body, rotation, references.trunk_angular_velocity, references.trunk_angular_acceleration, gains
        )
        reached = frame_acceleration(body, self.unknowns.acceleration)[3:]
        self.task(name, reached - wanted, config.priority, config.weight)
