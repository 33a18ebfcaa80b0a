r"""The whole-body controller for soft ground, "TSID-Compliant" (thesis section 8.2).

On visco-elastic ground a wrench is a state: the controller chooses its rate, :math:`\dot f_k = h_k + g_k (J_k \dot\nu +
\dot J_k \nu)`, which leaves the accelerations as the only unknowns.

Variables
    :math:`\dot\nu`.
Objective
    second derivative of the centroidal momentum, :math:`G \ddot h^* - G \ddot h`, its angular part towards what the
    legs have as planned and what brings pelvis, arms and torso back to their posture (not in the thesis); wrenches
    towards the expected ones, :math:`k_f (f_r - f) - \dot f`; attitude of the feet that stand, all the more the less
    they carry, for a ground that only pushes does not hold them (not in the thesis); poses of the feet that swing;
    orientations of torso and pelvis; posture.
Constraints
    base dynamics with the measured wrenches; wrench cones a horizon ahead, :math:`A (f + \dot f t) \le b`, torques and
    joint positions within their limits.
"""

from __future__ import annotations

import casadi as cs

from gradiva.common import Side
from gradiva.robot_model import SymbolicDynamics, SymbolicFrame
from gradiva.whole_body import acceleration_tasks as tasks
from gradiva.whole_body.compliant_config import (
    AngularMomentumConfig,
    CompliantTorqueControlConfig,
    LinearMomentumConfig,
    StandingFootConfig,
)
from gradiva.whole_body.contact_symbols import ContactSymbols, SoftSole, SoleFace
from gradiva.whole_body.parameters import Parameters
from gradiva.whole_body.problem_draft import ProblemDraft
from gradiva.whole_body.reference_symbols import ReferenceSymbols
from gradiva.whole_body.tasks import rotation_error
from gradiva.whole_body.unknowns import compliant_unknowns


class CompliantProblem(ProblemDraft):
    """The draft of TSID-Compliant.

    Attributes:
        contacts: What each foot feels, symbols.
        soles: What follows from them.
        wrench_rates: ḟ of each foot, [N/s, N·m/s], (6, 1).
    """

    def __init__(self, dynamics: SymbolicDynamics, config: CompliantTorqueControlConfig) -> None:
        """Put the problem together."""
        parameters = Parameters()
        description = dynamics.model.description
        references = ReferenceSymbols(dynamics.joints, parameters)
        feet = {side: dynamics.frame(description.foot_frame(side)) for side in Side}
        self.contacts = {side: ContactSymbols.of(side, parameters) for side in Side}
        faces = {side: SoleFace.of(description.sole, side) for side in Side}
        self.soles = {
            side: SoftSole(feet[side], faces[side], contact, references.feet[side].is_loaded)
            for side, contact in self.contacts.items()
        }
        wrenches = {side: sole.wrench for side, sole in self.soles.items()}
        super().__init__(dynamics, feet, parameters, references, compliant_unknowns(dynamics, feet, wrenches))
        period = parameters.symbol("period")
        acceleration = self.unknowns.acceleration
        self.wrench_rates = {side: sole.wrench_rate(acceleration, period) for side, sole in self.soles.items()}
        self._rate_scale = self._scale_of_rates(config.reference_damping, period)
        self._softness = cs.sqrt(self._rate_scale) * self._stiffness_ratio(config.standing_foot)
        self.outputs = {f"{side}_regressor": sole.regressor for side, sole in self.soles.items()}
        self.outputs |= {f"{side}_wrench": wrench for side, wrench in wrenches.items()}
        self._linear_momentum(config.linear_momentum)
        self._angular_momentum(config.angular_momentum)
        for side in Side:
            self._wrench(side, config)
            self._standing(side, config.standing_foot)
            self.foot("swinging", side, config.swing_foot, 1.0 - references.feet[side].is_loaded)
        self.trunk(config.torso, config.pelvis)
        self.posture(config.posture)
        self.joint_limits(config.joint_limits)
        self.torque_limits(config.torque_limits)

    def _scale_of_rates(self, reference_damping: float, period: cs.SX) -> cs.SX:
        """Return what weights of wrench rates are multiplied by on this ground, the mean of both feet's."""
        dampings = [contact.damping + 0.5 * period * contact.stiffness for contact in self.contacts.values()]
        reference = self.parameters.constant("reference_damping", reference_damping)
        return (reference / (0.5 * (dampings[0] + dampings[1]))) ** 2

    def _stiffness_ratio(self, config: StandingFootConfig) -> cs.SX:
        """Return the stiffness for which attitudes are weighed over this ground's, the mean of both feet's."""
        left, right = (contact.stiffness for contact in self.contacts.values())
        reference = self.parameters.constant("standing_foot.reference_stiffness", config.reference_stiffness)
        return reference / (0.5 * (left + right))

    def _linear_momentum(self, config: LinearMomentumConfig) -> None:
        """m x⃛ = Σ ḟ, with the jerk k_d, k_p and k_i away from its reference."""
        dynamics, wanted = self.dynamics, self.references
        damping, stiffness, integral = self._constants(
            "linear_momentum", damping=config.damping, stiffness=config.stiffness, integral=config.integral
        )
        acceleration = tasks.linear_momentum_rate(dynamics, self.unknowns.wrenches) / dynamics.mass
        jerk = wanted.com_jerk + damping * (wanted.com_acceleration - acceleration)
        jerk += stiffness * (wanted.com_velocity - dynamics.com_velocity)
        jerk += integral * (wanted.com_position - dynamics.com_position)
        reached = self.wrench_rates[Side.LEFT][:3] + self.wrench_rates[Side.RIGHT][:3]
        self._cost("linear_momentum", reached - dynamics.mass * jerk, config.weight)

    def _angular_momentum(self, config: AngularMomentumConfig) -> None:
        """Σ S(ṗ - ẋ) f + S(p - x) ḟ + μ̇, asked for -k_d of the error of its integral and -k_p of the momentum's."""
        dynamics, wrenches = self.dynamics, self.unknowns.wrenches
        reached = tasks.angular_momentum_rate(dynamics, self.feet, self.wrench_rates)
        for side in Side:
            velocity = self.feet[side].twist[:3] - dynamics.com_velocity
            reached += cs.cross(velocity, wrenches[side][:3])
        damping, stiffness = self._constants("angular_momentum", damping=config.damping, stiffness=config.stiffness)
        rate = tasks.angular_momentum_rate(dynamics, self.feet, wrenches)
        (share,) = self._constants("angular_momentum.legs", share=config.legs_share)
        legs = share * cs.vertcat(1.0, 1.0, 0.0)  # about the vertical the arms swing against the legs
        missing = reached + damping * (rate - legs * self.references.angular_momentum_rate)
        too_much = tasks.angular_momentum(dynamics) - legs * self.references.angular_momentum
        missing += stiffness * (too_much - self._recovering_momentum(config))
        self._cost("angular_momentum", missing[:2], config.weight)
        self._cost("vertical_angular_momentum", missing[2], config.vertical_weight)

    def _recovering_momentum(self, config: AngularMomentumConfig) -> cs.SX:
        """Return the angular momentum of a pelvis and joints that come back to where they belong, [N·m·s], (3, 1)."""
        dynamics = self.dynamics
        shares = dynamics.model.description.spread(config.recovery, "[angular_momentum.recovery]")
        missing = self.references.posture - dynamics.joint_positions
        velocities = self.parameters.constant("angular_momentum.recovery", shares) * missing
        (upright,) = self._constants("angular_momentum.pelvis", recovery=config.pelvis_recovery)
        pelvis = dynamics.frame(dynamics.model.description.base_link)
        turn = upright * rotation_error(pelvis, self.references.pelvis_rotation)
        return dynamics.centroidal_momentum_matrix[3:, 3:] @ cs.vertcat(turn, velocities)

    def _wrench(self, side: Side, config: CompliantTorqueControlConfig) -> None:
        """Towards the expected wrench, and within the cone a horizon ahead."""
        foot, rate, wrench = self.references.feet[side], self.wrench_rates[side], self.unknowns.wrenches[side]
        bandwidth, force, moment = self._constants(
            f"{side}_wrench_rate",
            bandwidth=config.wrench_rate.bandwidth,
            force_weight=config.wrench_rate.force_weight,
            moment_weight=config.wrench_rate.moment_weight,
        )
        wanted = bandwidth * (tasks.expected_wrench(self.feet[side], foot) - wrench)
        self.composer.cost(f"{side} force rate", rate[:3] - wanted[:3], foot.is_loaded * self._rate_scale * force)
        self.composer.cost(f"{side} moment rate", rate[3:] - wanted[3:], foot.is_loaded * self._rate_scale * moment)
        (horizon,) = self._constants(f"{side}_cone", horizon=config.cone_horizon)
        self.cone(side, wrench + horizon * rate, config.wrench_cone)

    def _standing(self, side: Side, config: StandingFootConfig) -> None:
        """Attitude as the ground's; place and attitude all the more, the less the foot carries."""
        frame, contact = self.feet[side], self.contacts[side]
        attitude, unloaded, force, stiffness, damping = self._constants(
            f"{side}_standing_foot",
            attitude_weight=config.attitude_weight,
            unloaded_weight=config.unloaded_weight,
            unloaded_force=config.unloaded_force,
            stiffness=config.stiffness,
            damping=config.damping,
        )
        loaded = self.references.feet[side].is_loaded
        alone = loaded * unloaded / (1.0 + (self.unknowns.wrenches[side][2] / force) ** 2)
        missing = contact.rest_position - frame.position
        missing[2] = 0.0  # how deep the sole sinks follows from the load
        linear = stiffness * missing - damping * frame.twist[:3]
        angular = stiffness * rotation_error(frame, contact.rest_rotation) - damping * frame.twist[3:]
        reached = self._acceleration_of(frame)
        self.composer.cost(f"{side} standing foot", reached[:3] - linear, alone)
        self.composer.cost(f"{side} standing foot", reached[3:] - angular, alone + loaded * self._softness * attitude)

    def _acceleration_of(self, frame: SymbolicFrame) -> cs.SX:
        return tasks.frame_acceleration(frame, self.unknowns.acceleration)

    def _cost(self, name: str, residual: cs.SX, weight: float) -> None:
        """Ask for rates of wrenches."""
        weights = self._rate_scale * self.parameters.constant(f"{name}.weight", weight)
        self.composer.cost(name.replace("_", " "), residual, weights)

    def _constants(self, name: str, **values: float) -> list[cs.SX]:
        return [self.parameters.constant(f"{name}.{key}", value) for key, value in values.items()]
