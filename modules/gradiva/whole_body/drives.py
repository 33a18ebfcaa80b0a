"""Drives as layer 3 knows them: rotors' inertia, friction that is fed forward and learned, motion that is commanded."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection

import casadi as cs
import idyntree.bindings as idyn
import numpy as np
import numpy.typing as npt

from gradiva.common import NDArray, RobotPosture, Side, configuration, low_pass_gain, sealed, setting
from gradiva.robot_model import (
    Compiler,
    FlatFunction,
    IdynTreeModel,
    RobotDescription,
    as_array,
    built_once,
    interpreted,
)

_FRICTION_VELOCITY = 0.05  # [rad/s] at which the compensation of Coulomb friction is 0.76 of it; 0.03 to 0.2 walk alike
_VELOCITY_TIME_CONSTANT = 0.1  # [s]
"""Of the return of the desired velocity to the measured one, torque control; 0.03 to 0.3 walk alike."""
_ACCELERATION_GAIN = 12.0  # [1/s] k, about 1 / T: torque per inertia and rad/s gained less than commanded
_LARGEST_FRICTION = 2.0  # [-] of the nominal friction that may be learned: that of cold joints
_LARGEST_ROTOR = 0.5  # [-] of a joint's inertia, rotor included, up to which its friction is compensated under load
_QUICKER = 4.0  # [-] learning of the other joints beside those, in swings alone
_NO_FRICTION = 1e-9  # [N·m] a joint with less has none
_FADING = 0.03  # [s] of compensated friction where a leg takes or loses its load; landings take longer


@configuration
class DrivesConfig:
    """Fractions of what the robot's description says about its drives.

    Attributes:
        rotor_inertia: Fraction of the rotors' reflected inertia in the mass matrix, [-]; 0 knows links alone.
        friction_compensation: Fraction of Coulomb and viscous friction that is added to the torques, [-]; by torque the
            first one.
        gear_loss: In torque control, fraction of the gears' losses that is compensated, [-].
        friction_learning: In torque control, rate at which each joint's fraction is learned, [1/s]; 0: it stays.
    """

    rotor_inertia: float = setting("-", least=0.0)
    friction_compensation: float = setting("-", least=0.0, most=1.0, why="more than there is would drive the joints")
    gear_loss: float = setting("-", least=0.0)
    friction_learning: float = setting("1/s", least=0.0)


class FrictionFeedforward:
    r"""Compensates the friction of the drives at the desired joint velocities.

    .. math:: \tau_f = \alpha \left(F_c \tanh \frac{v^*}{v_0} + F_v v^*\right)

    ================  ==========================================  =========
    Symbol            Field                                       Unit
    ================  ==========================================  =========
    :math:`\alpha`    ``friction_compensation``                   -
    :math:`v_0`       ``friction_velocity``                       rad/s
    :math:`F_c`       ``coulomb_friction`` of the description     N·m
    :math:`F_v`       ``viscous_friction`` of the description     N·m·s/rad
    ================  ==========================================  =========

    The velocity is the desired one: compensated at the measured velocity, Coulomb friction would turn over with its
    noise, and more of it than there is would drive the joint.

    Attributes:
        is_off: Whether it adds nothing.
    """

    def __init__(self, model: IdynTreeModel, config: DrivesConfig) -> None:
        """Take friction of the actuated joints."""
        description = model.description
        actuated = description.selection
        self._coulomb = config.friction_compensation * description.per_joint("coulomb_friction")[actuated]
        self._viscous = config.friction_compensation * description.per_joint("viscous_friction")[actuated]
        self._inverse_velocity = 1.0 / _FRICTION_VELOCITY
        self.is_off = not (self._coulomb.any() or self._viscous.any())

    def torques(self, velocities: NDArray) -> NDArray:
        """Return the torques [N·m] at desired velocities [rad/s] of the actuated joints, shape (a,)."""
        torques: NDArray = self._coulomb * np.tanh(self._inverse_velocity * velocities)
        return torques + self._viscous * velocities


class StanceFrictionFade:
    """Fades out the compensation of friction in joints with gear backlash while their leg carries load.

    In the air stiction holds an ankle against the swing, and the foot lands on its edge. Under load, with velocities
    behind the low pass that such a robot needs, compensation makes both soles rattle in joints that roll, yaw or whose
    rotor outweighs what it moves; hips and knees that pitch need it, or the trunk pitches by degrees. Torso and arms
    belong to no leg: with backlash they are never compensated. Ankles with little load: see `FrictionCompensator`.

    Attributes:
        stays: Joints whose compensation never fades: without backlash, or of legs and ``light``, shape (a,).
        in_the_air: Part of each joint's leg that is in the air, [-], shape (a,); 1 for joints without backlash.
        is_constant: Whether no joint has backlash.
    """

    def __init__(self, description: RobotDescription, light: npt.NDArray[np.bool_]) -> None:
        """Find the joints with backlash, and the legs, whose ``light`` joints, shape (a,), never fade."""
        actuated = description.selection
        names = np.array(description.joints)[actuated]
        legs = {side: description.joint_groups.get(f"{side}_leg") for side in Side}
        self._legs = {side: np.isin(names, leg.joints) for side, leg in legs.items() if leg is not None}
        of_legs = np.logical_or.reduce([np.zeros(len(names), dtype=bool), *self._legs.values()])
        self._without_backlash = description.per_joint("gear_play")[actuated] == 0.0
        self.stays = (light & of_legs) | self._without_backlash
        self.is_constant = bool(self._without_backlash.all())
        self.reset()

    def reset(self) -> None:
        """Begin again with both feet on the ground."""
        self.in_the_air = self._without_backlash.astype(float)

    def update(self, loaded: Collection[Side], period: float) -> NDArray:
        """Return ``in_the_air`` after a tick of ``period`` [s] with load on the feet of ``loaded``, shape (a,)."""
        in_the_air = [leg for side, leg in self._legs.items() if side not in loaded]
        wanted = np.logical_or.reduce([self._without_backlash, *in_the_air])
        self.in_the_air = self.in_the_air + low_pass_gain(_FADING, period) * (wanted - self.in_the_air)
        return self.in_the_air


class FrictionCompensator:
    r"""Adds to the torques of torque control those against friction, whose size it learns joint by joint.

    .. math:: \tau_f = q \alpha \left[(F_c + l |\tau|) \tanh \frac{v^*}{v_0} + F_v v^*\right] + k I e, \qquad
              \dot v^* = \ddot s^* + \frac{1}{T} (\dot s - v^*)

    Torque control has no desired velocities but those :math:`v^*` to which its accelerations lead. Friction differs
    from joint to joint and from day to day by a factor of four. What a joint has gained less in velocity than was
    commanded, e, is due to torques that nothing has compensated; as far as they turn over with the velocity they are
    friction, and the fraction :math:`\alpha` of the nominal one is learned. The rest is answered in proportion:

    .. math:: \dot e = \ddot s^* - \ddot s - \frac{e}{T}, \qquad
              \dot \alpha = p \gamma \frac{I e}{T F_c} \tanh \frac{\dot s + e}{v_0}

    ================  =========================================================  =========
    Symbol            Field                                                      Unit
    ================  =========================================================  =========
    :math:`\alpha`    first ``friction_compensation``, at most ``largest_friction`` -
    :math:`p`         1 of joints that stay, else ``in_the_air`` of              -
                      `StanceFrictionFade`
    :math:`q`         p, of ankles :math:`\max(1 - \lambda N / \alpha (F_c + l |\tau|), 0)` -
    :math:`\lambda`   lever of the sole's nearest edge about the ankle           m
    :math:`N`         normal force of the joint's foot, not below 0              N
    :math:`l`         ``gear_loss`` times that of the description                -
    :math:`T`         ``velocity_time_constant``                                 s
    :math:`k`         ``acceleration_gain``                                      1/s
    :math:`\gamma`    ``friction_learning``; four times that of joints that fade  1/s
    :math:`I`         of the joint, rotor included, start posture, base held     kg·m²
    ================  =========================================================  =========

    The other symbols are those of `FrictionFeedforward`. Without friction the fractions go to zero. Joints that fade
    have k = 0: within the play a rotor moves alone, and would be shaken as if its leg hung on it. Where p is 0 nothing
    is learned: uncompensated, the friction would leave an e that goes on raising the fraction.

    A sole that lands on an edge lies down once the moment of its load about the ankle, :math:`\lambda N`, overcomes the
    friction there: held until then, it stands on that edge while a quarter of the weight comes, and slams. So an ankle
    with backlash is compensated in what the load does not overcome. And under load :math:`|\tau_f| \le |\tau|` in
    joints with backlash that stay: more would push the rotor off the flank on which its load rests, through the play.

    Attributes:
        is_off: Whether it adds nothing.
        inertias: I, [kg·m²], shape (a,).
    """

    def __init__(self, model: IdynTreeModel, config: DrivesConfig, compiler: Compiler = interpreted) -> None:
        """Take friction, inertia and torque limits of the actuated joints."""
        description, config_learns = model.description, config.friction_learning > 0.0
        actuated = description.selection
        self._actuated = slice(None) if len(description.actuated) == len(description.joints) else actuated
        self._config = config
        coulomb, viscous = (description.per_joint(f"{name}_friction")[actuated] for name in ("coulomb", "viscous"))
        has_friction = bool(coulomb.any() or viscous.any())
        self.is_off = not (has_friction and (config.friction_compensation > 0.0 or config_learns))
        joints, inertias = len(coulomb), _inertias(model)[actuated]
        rotors = np.diag(model.rotor_inertia)[actuated]
        light = (rotors < _LARGEST_ROTOR * inertias) & _pitching(model)[actuated]
        self._fade = StanceFrictionFade(description, light)
        quicker = np.where(self._fade.stays, 1.0, _QUICKER)
        self._is_right, levers = _ankles(model)[:, actuated]
        self.inertias = inertias
        dry = np.where(coulomb > 0.0, coulomb, np.inf)
        key = (FrictionCompensator, joints, compiler)
        self._function = function = built_once(key, lambda: _compensation(joints, compiler))
        function.set(
            coulomb=coulomb,
            viscous=viscous,
            limits=model.torque_limits()[actuated],
            rates=config.friction_learning * quicker * inertias / (_VELOCITY_TIME_CONSTANT * dry),
            gains=_ACCELERATION_GAIN * config_learns * np.where(self._fade.stays, inertias, 0.0),
            load=config.gear_loss * description.per_joint("gear_loss")[actuated],
            levers=np.where(self._fade.stays, 0.0, levers),
            stays=self._fade.stays,
            largest=_LARGEST_FRICTION,
            inverse_velocity=1.0 / _FRICTION_VELOCITY,
            time_constant=_VELOCITY_TIME_CONSTANT,
        )
        self._period = 0.0
        self._signals = tuple(function.inputs["signals"])  # written into by row: 2 µs less than by name
        self._memory, self._next = function.inputs["memory"], function.outputs["memory"]
        self._in_the_air, self._commanded = function.inputs["in_the_air"], function.outputs["commanded"]
        self.reset()

    @property
    def fractions(self) -> NDArray:
        """Learned fractions of the nominal friction, [-], shape (a,)."""
        return self._memory[0].copy()

    def reset(self) -> None:
        """Begin again, at rest; what was learned is forgotten."""
        self._memory[...] = 0.0
        self._memory[0] = self._config.friction_compensation
        self._is_first = True
        self._fade.reset()
        self._in_the_air[...] = self._fade.in_the_air

    def added_to(
        self,
        torques: NDArray,
        velocities: NDArray,
        accelerations: NDArray,
        measured: tuple[NDArray, NDArray],
        loaded: Collection[Side],
        normal_forces: tuple[float, float],
        period: float,
    ) -> NDArray:
        """Return the torques with those against friction, within the limits, [N·m], shape (a,).

        Args:
            torques: Without friction, [N·m], shape (a,).
            velocities: At present, [rad/s], shape (n,).
            accelerations: Commanded for the coming ``period`` [s], [rad/s²], shape (n,).
            measured: The newest measured velocities, and the integral of the accelerations that had been commanded for
                that instant, [rad/s], shape (n,) each.
            loaded: Feet that carry load.
            normal_forces: Of the left and the right foot, [N].
            period: [s].
        """
        function, actuated = self._function, self._actuated
        if period != self._period:
            self._period = period
            function.set(period=period, return_gain=low_pass_gain(_VELOCITY_TIME_CONSTANT, period))
        now, commanded = measured
        torque, velocity, acceleration, measured_velocity, integral, normal_force = self._signals
        torque[...], velocity[...], acceleration[...] = torques, velocities[actuated], accelerations[actuated]
        measured_velocity[...], integral[...] = now[actuated], commanded[actuated]
        normal_force[...] = np.where(self._is_right, normal_forces[1], normal_forces[0])
        if not self._fade.is_constant:
            self._in_the_air[...] = self._fade.update(loaded, period)
        if self._is_first:
            self._memory[3], self._is_first = (commanded - now)[actuated], False
        function()
        self._memory[...] = self._next
        return sealed(self._commanded.copy())


def _compensation(joints: int, compiler: Compiler) -> FlatFunction:
    """Return the equations of `FrictionCompensator`.

    Rows of its signals: torques, velocities, accelerations, measured velocities, integral of the commanded
    accelerations, normal forces of their feet; of its memory: fractions, desired velocities, e, what e was taken of.
    """
    constants = ("coulomb", "viscous", "load", "limits", "rates", "gains", "levers", "stays", "in_the_air")
    numbers = ("largest", "inverse_velocity", "time_constant", "period", "return_gain")
    inputs = {name: cs.SX.sym(name, joints) for name in constants}
    inputs |= {name: cs.SX.sym(name) for name in numbers}
    inputs["signals"], inputs["memory"] = cs.SX.sym("signals", 6, joints), cs.SX.sym("memory", 4, joints)
    signals, memory = inputs["signals"], inputs["memory"]
    torques, velocities, accelerations, measured, integral, normal_forces = (signals[row, :].T for row in range(6))
    fractions, desired, error, last = (memory[row, :].T for row in range(4))
    lost = integral - measured
    error = (1.0 - inputs["return_gain"]) * (error + lost - last)
    direction = cs.tanh(inputs["inverse_velocity"] * (measured + error))
    parts = cs.fmax(inputs["stays"], inputs["in_the_air"])
    fractions = fractions + parts * inputs["period"] * inputs["rates"] * error * direction
    fractions = cs.fmin(cs.fmax(fractions, 0.0), inputs["largest"])
    target = velocities + inputs["time_constant"] * accelerations
    desired = desired + inputs["return_gain"] * (target - desired)
    dry = inputs["coulomb"] + inputs["load"] * cs.fabs(torques)
    friction = dry * cs.tanh(inputs["inverse_velocity"] * desired) + inputs["viscous"] * desired
    overcome = inputs["levers"] * cs.fmax(normal_forces, 0.0) / cs.fmax(fractions * dry, _NO_FRICTION)
    parts = cs.fmax(parts, inputs["levers"] > 0.0) * cs.fmax(1.0 - overcome, 0.0)
    commanded = torques + parts * fractions * friction + inputs["gains"] * error
    on_flank = cs.fmin(cs.fmax(commanded, cs.fmin(0.0, 2.0 * torques)), cs.fmax(0.0, 2.0 * torques))
    commanded = commanded + inputs["stays"] * (1.0 - inputs["in_the_air"]) * (on_flank - commanded)
    commanded = cs.fmin(cs.fmax(commanded, -inputs["limits"]), inputs["limits"])
    kept = cs.horzcat(fractions, desired, error, lost).T
    return FlatFunction("friction_compensation", inputs, {"commanded": commanded, "memory": kept}, compiler)


def _inertias(model: IdynTreeModel) -> NDArray:
    """Return the joints' inertias in the nominal posture, the base held, rotors included, [kg·m²], shape (n,)."""
    kinematics, joints = model.kinematics_and_dynamics(), len(model.description.joints)
    rest, gravity = np.zeros(joints), np.zeros(3)
    kinematics.setRobotState(np.eye(4), model.description.posture, np.zeros(6), rest, gravity)
    matrix = idyn.MatrixDynSize(6 + joints, 6 + joints)
    kinematics.getFreeFloatingMassMatrix(matrix)
    return np.diag(as_array(matrix))[6:] + np.diag(model.rotor_inertia)


def _pitching(model: IdynTreeModel) -> npt.NDArray[np.bool_]:
    """Return whether each joint turns a sole within 45° of the line between both in the start posture, shape (n,)."""
    description = model.description
    posture = RobotPosture(np.zeros(3), np.eye(3), description.posture)
    soles = description.left_foot_frame, description.right_foot_frame
    left, right = (model.frame_pose(posture, sole)[0] for sole in soles)
    turns = [(left - right) @ model.frame_jacobian(posture, sole)[3:, 6:] for sole in soles]
    return np.abs(turns).max(axis=0) > math.sqrt(0.5) * np.linalg.norm(left - right)


def _ankles(model: IdynTreeModel) -> NDArray:
    """Return of each joint whether its foot is the right one, and its lever of the sole's nearest edge, shape (2, n).

    The lever, [m], is the lesser one of the edges on both sides of an axis that passes over the sole in the start
    posture, and 0 of joints that turn the sole, or move it by more than its length a radian, rather than tilt it.
    """
    description, sole = model.description, model.description.sole
    posture = RobotPosture(np.zeros(3), np.eye(3), description.posture)
    ankles = np.zeros((2, len(description.joints)))
    for mirror, frame in ((1.0, description.left_foot_frame), (-1.0, description.right_foot_frame)):
        jacobian, rotation = model.frame_jacobian(posture, frame)[:, 6:], model.frame_pose(posture, frame)[1]
        corners = np.array([(x, mirror * y, sole.z) for x in sole.x for y in sole.y]) @ rotation.T
        heights = jacobian[2] + corners[:, 1:2] * jacobian[3] - corners[:, :1] * jacobian[4]
        levers = np.minimum(heights.max(axis=0), -heights.min(axis=0))
        turns, moves = np.abs(jacobian[5]), np.linalg.norm(jacobian[:3], axis=0)
        tilts = (turns < math.sqrt(0.5)) & (moves < sole.length)
        is_ankle = tilts & (levers > 0.0)
        ankles[0, is_ankle], ankles[1, is_ankle] = mirror < 0.0, levers[is_ankle]
    return ankles


_ROUNDING = 1e-9  # [-] of a tick
_REMEMBERED = 100  # [ticks] more than latency and lag together


class CommandedMotion:
    r"""Completes measured velocities by the accelerations that were commanded: what their lag and low pass take off.

    With :math:`c(t) = \int \dot\nu^* dt`, the lag l of the measured velocities, their low pass F and the latency d of
    the torques,

    .. math:: \nu(t) = F \nu(t - l) + c(t - d) - F c(t - l - d).

    So the noise is low-passed and the motion is not: a complementary filter.

    Attributes:
        measured: F c as the last measurement contains it, shape (6 + n,).
    """

    def __init__(self, size: int, latency: float = 0.0, time_constant: float = 0.0) -> None:
        """Take the size of ν, 6 + n, the latency and the time constant of F, [s]."""
        self._rest = np.zeros(size)
        self._latency = latency
        self._time_constant = time_constant
        self._period = 0.0
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self._sums: deque[NDArray] = deque([self._rest], maxlen=_REMEMBERED)
        self.measured = self._rest

    def add(self, change: NDArray) -> None:
        """Remember the change of ν that is commanded for the coming period, shape (6 + n,)."""
        self._sums.append(self._sums[-1] + change)

    def completed(self, velocity: NDArray, lag: float, period: float) -> NDArray:
        """Return ν now, of a low-passed one that was measured ``lag`` [s] ago, shape (6 + n,)."""
        if period != self._period:
            self._period, self._gain = period, low_pass_gain(self._time_constant, period)
        now = self._acted(0.0) if self._latency else self._sums[-1]
        then = self._acted(lag) if lag else now
        if self._gain == 1.0:
            self.measured = then
            return velocity if then is now else velocity + (now - then)
        measured = then - self.measured
        measured *= self._gain
        measured += self.measured
        self.measured = measured
        return velocity + (now - measured)

    def _acted(self, lag: float) -> NDArray:
        """Return c as it had acted ``lag`` [s] ago, linear between two ticks, at each of which torques change."""
        ticks = (lag + self._latency) / self._period
        whole = int(ticks + _ROUNDING)
        sums, part = self._sums, ticks - whole
        newer = sums[-1 - min(whole, len(sums) - 1)]
        return newer if part < _ROUNDING else newer + part * (sums[-1 - min(whole + 1, len(sums) - 1)] - newer)
