"""Tilt of a pushed robot: the trunk tilts towards the push, and the soles of a robot that tips are kept level."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gradiva.common import (
    FootReference,
    LowPass,
    NDArray,
    RobotPosture,
    RobotState,
    Side,
    SoleRectangle,
    WalkingReference,
    altered,
    configuration,
    sealed,
    setting,
    so3,
)
from gradiva.robot_model import IdynTreeModel
from gradiva.simplified_model import BalancePlan
from gradiva.whole_body import LEVEL, WalkingKinematics, WholeBodyReference, probed_momentum, standing_reference

_PROBE = 0.05  # [rad/s] rate of the tilt in the probes
_UPRIGHT = 1e-4  # [rad] and [rad/s]
_RETURN_SPEED = 1.5  # [rad/s] of a tilt that shrinks; at ``speed``, trunk and steps of iCub v3 swing against each other
ZMP_GAIN = 1.1  # [-] K_p; with 2 it tilts where soles and steps do: a tenth less is survived
_LEAD = 0.042  # [s] T, over which the DCM error is predicted
_LAG = 0.03  # [s] of the trunk and the measured DCM behind the commanded tilt
_AIRBORNE_LOAD = 0.05  # [-] of the weight: soles that carry less keep their height and tilt while the robot tilts
HEIGHT_GAIN = 1.0  # [-] k_P; both gains are worth a tenth of the largest pushes of iCub v2.7
INTEGRAL_GAIN = 10.0  # [1/s] k_I
TILT_GAIN = 20.0  # [1/s] of a tipped sole with load; 0: a robot pushed sideways rocks and falls on the other side
LEAK_TIME = 0.5  # [s] in which a sole that stands gives its offset back
STANDING_LEAK = 0.035  # [rad/s] of its tilt at most, where the robot stands: set-points lead servos by lag times speed
ROCKING_TIME = 2.5  # [s] in which a loaded sole of a robot that rocks, pushed while it stands, gives its height back
STANDING_TIME = 0.05  # [s] lag of a sole that hangs while it does; without it set-points of knees jump by 15° in a tick
LARGEST_HEIGHT_OFFSET = 0.06  # [m] offset of a sole that hangs in the air beside a robot that has tipped by 20°
LARGEST_TILT_OFFSET = 0.35  # [rad] offset of its tilt about each axis, likewise
SOLE_SPEED = 0.15  # [m/s] of that height: where load changes sides it jumps, and at 0.3 m/s knees shake
_LARGEST_OFFSET = np.array((LARGEST_TILT_OFFSET, LARGEST_TILT_OFFSET, LARGEST_HEIGHT_OFFSET))
_TILT = np.array((1.0, 1.0, 0.0))  # of an offset, without its height
_NEGLIGIBLE = 1e-5  # [m, rad] offset of a sole


@configuration
class HipStrategyConfig:
    """Settings of the hip strategy, ``[hip_strategy]``.

    Attributes:
        forward: Largest tilt ahead, [rad]; with 0 in all directions the trunk stays upright.
        backward: Largest tilt back, [rad].
        sideways: Largest tilt to each side, [rad].
        speed: Largest rate of a tilt that grows, [rad/s].
        acceleration: Largest one, [rad/s²].
    """

    forward: float = setting("rad", least=0.0, most=1.0)
    backward: float = setting("rad", least=0.0, most=1.0)
    sideways: float = setting("rad", least=0.0, most=1.0)
    speed: float = setting("rad/s", above=0.0)
    acceleration: float = setting("rad/s²", above=0.0)

    @property
    def is_used(self) -> bool:
        """Whether the trunk may tilt."""
        return max(self.forward, self.backward, self.sideways) > 0.0


class Trunk:
    """A trunk that stays upright; it is asked while a push is caught, and until it is upright again.

    Attributes:
        is_upright: Whether it is.
        zmp_shift: By which its tilt moves the ZMP of the pendulum, world, [m], shape (2,).
    """

    is_upright: bool = True
    zmp_shift: NDArray = sealed(np.zeros(2))

    def reset(self) -> None:
        """Stand upright."""

    def upright(self, state: RobotState, reference: WalkingReference) -> RobotState:
        """Return the state of the upright robot with the same momentum about the ground."""
        return state

    def update(
        self, pendulum: RobotState, dcm_rate: NDArray, plan: BalancePlan, is_caught: bool, period: float
    ) -> None:
        """Tilt towards the ZMP that is wanted beyond the soles.

        Args:
            pendulum: State of the upright robot.
            dcm_rate: Rate of its DCM, low-passed, [m/s], shape (2,).
            plan: As layer 2 has it.
            is_caught: Whether a push is being caught; otherwise the trunk goes back.
            period: Until the next update, [s].
        """

    def applied(self, body: WholeBodyReference, heading: float) -> WholeBodyReference:
        """Return the reference of layer 3 with the tilted torso and the CoM of the tilted robot."""
        return body


class HipStrategy(Trunk):
    r"""Tilts the torso towards a push: its angular momentum adds to the ankles.

    With the angular momentum :math:`J \dot\theta` about the CoM of a trunk of tilt :math:`\theta` (the way in which its
    top moves, on the ground plane) the pendulum has a flywheel (Pratt et al., Humanoids 2006; Stephens, Humanoids
    2007),

    .. math:: \ddot x = \omega^2 (x - z) - \frac{\omega^2 J}{m g} \ddot\theta, \qquad \kappa = \frac{J}{m h}

    The CoM :math:`X = x + \kappa \theta` of the upright robot with the same momentum about the ground is that of a
    pendulum without one, whose ZMP reaches farther than the sole by :math:`\kappa` times the largest tilt:

    .. math:: \ddot X = \omega^2 (X - (z + \kappa \theta)), \qquad
        \Xi = X + \dot X / \omega = \xi + \kappa (\theta + \dot\theta / \omega)

    So layer 2 and step adaptation get :math:`X, \Xi` and :math:`z + \kappa \theta`, layer 3 the CoM
    :math:`X^* - \kappa \theta`, and the tilt is the part of the wanted ZMP that the soles :math:`\mathcal P` cannot
    give,

    .. math:: z_w = z_r + K_p (e + T \dot e), \quad e = \Xi - \xi_r, \qquad
        \theta^* = \frac{z_w - \Pi_{\mathcal P}(z_w)}{\kappa}

    within its limits. It ends by itself when the DCM is back.

    Attributes:
        gains: κ ahead and to the left: shift of the pendulum for each radian of tilt, [m/rad], shape (2,).
        tilt: Commanded, ahead and to the left in the axes of the heading, [rad], shape (2,).
        rate: Of the tilt, [rad/s], shape (2,).
    """

    def __init__(
        self,
        config: HipStrategyConfig,
        model: IdynTreeModel,
        inverse_kinematics: WalkingKinematics,
        posture: RobotPosture,
        torso: NDArray,
        com_height: float,
        torso_gain: float,
    ) -> None:
        """Probe the robot: the inverse kinematics, asked to tilt the torso and to hold the feet, gives κ.

        Args:
            config: Limits.
            model: The robot.
            inverse_kinematics: That moves it.
            posture: Start posture, facing x, the world between its soles.
            torso: Rotation of the torso frame in it, shape (3, 3).
            com_height: h, of the pendulum, [m].
            torso_gain: Of the torso in the inverse kinematics, [1/s].
        """
        self._config, self._torso_gain = config, torso_gain
        self._lower = -np.array((config.backward, config.sideways))
        self._upper = np.array((config.forward, config.sideways))
        self._lagging = LowPass(_LAG)
        standing = standing_reference(model, posture, torso)

        def shift(axis: int, assumed: float) -> float:
            """Return κ by the momentum of a tilt with which the CoM moves as by an assumed one."""
            rate, self.gains = _PROBE * np.eye(2)[axis], np.full(2, assumed)
            body = self._tilted(standing, np.zeros(2), rate, 0.0)
            momentum = probed_momentum(model, inverse_kinematics, posture, body) / (_PROBE * model.mass * com_height)
            return float((momentum[1], -momentum[0])[axis])

        held, moved = ([shift(axis, assumed) for axis in range(2)] for assumed in (0.0, 1.0))
        self.gains = held / (1.0 - np.subtract(moved, held))  # the CoM's motion over the feet has some as well
        self.reset()

    def reset(self) -> None:
        """Stand upright."""
        self.tilt, self.rate, self.zmp_shift = np.zeros(2), np.zeros(2), np.zeros(2)
        self._felt = np.zeros((2, 2))  # tilt and rate as the measured motion has them
        self._lagging.value = self._felt
        self.is_upright = True

    def upright(self, state: RobotState, reference: WalkingReference) -> RobotState:
        """Return the state of the upright robot with the same momentum about the ground."""
        (tilt, rate), turn = self._felt, _turn(reference.heading)
        self.zmp_shift = turn @ (self.gains * tilt)
        return altered(
            state,
            com_position=state.com_position + np.append(self.zmp_shift, 0.0),
            dcm_position=state.dcm_position + turn @ (self.gains * (tilt + rate / reference.dcm.natural_frequency)),
            zmp_position=state.zmp_position + self.zmp_shift,
        )

    def update(
        self, pendulum: RobotState, dcm_rate: NDArray, plan: BalancePlan, is_caught: bool, period: float
    ) -> None:
        """Tilt towards the ZMP that is wanted beyond the soles; see ``Trunk``."""
        config, target = self._config, np.zeros(2)
        if is_caught:
            dcm = plan.reference.dcm
            error = pendulum.dcm_position - dcm.position + _LEAD * (dcm_rate - dcm.velocity)
            wanted = dcm.zmp_position + ZMP_GAIN * error
            beyond = (wanted - plan.polygon.project(wanted)) @ _turn(plan.reference.heading)
            target = np.clip(beyond / self.gains, self._lower, self._upper)
        speeds = config.speed, _RETURN_SPEED
        self.tilt, self.rate = followed(self.tilt, self.rate, target, speeds, config.acceleration, period)
        self._felt = self._lagging.update(np.stack((self.tilt, self.rate)), period)
        self.is_upright = False
        if not is_caught and float(np.abs(self._felt).max()) < _UPRIGHT:
            self.reset()

    def applied(self, body: WholeBodyReference, heading: float) -> WholeBodyReference:
        """Return the reference of layer 3 with the tilted torso and the CoM of the tilted robot."""
        return self._tilted(body, self.tilt, self.rate, heading)

    def _tilted(self, body: WholeBodyReference, tilt: NDArray, rate: NDArray, heading: float) -> WholeBodyReference:
        """Return the reference of a body that tilts; its torso, which has no rate of its own, leads instead."""
        turn = _turn(heading)
        shift, velocity = (np.append(turn @ (self.gains * value), 0.0) for value in (tilt, rate))
        x, y = turn @ (tilt + rate / self._torso_gain)
        return altered(
            body,
            com_position=body.com_position - shift,
            com_velocity=body.com_velocity - velocity,
            torso_rotation=so3.exp(np.array((-y, x, 0.0))) @ body.torso_rotation,
        )


def followed(
    position: NDArray,
    velocity: NDArray,
    target: NDArray,
    speeds: tuple[float, float],
    acceleration: float,
    period: float,
) -> tuple[NDArray, NDArray]:
    r"""Return position and velocity of double integrators a ``period`` [s] later, on the fastest way to a target.

    With the velocity v, which falls by :math:`a \Delta t` in each period, it comes to rest after n periods and the way
    :math:`(n v - a \Delta t\, n (n - 1) / 2) \Delta t`. The least n for which the last velocity is below
    :math:`a \Delta t` is the fastest way. Each component goes for itself.

    Args:
        position: Shape (n,).
        velocity: [1/s].
        target: Of the position.
        speeds: Largest one away from zero, and the largest one back, [1/s].
        acceleration: a, the largest one, [1/s²].
        period: Δt, [s].
    """
    step, distance = acceleration * period, target - position
    way = np.abs(distance) / period
    count = np.maximum(1.0, np.ceil(0.5 * (np.sqrt(1.0 + 8.0 * way / step) - 1.0)))
    speed = np.where(distance * position < 0.0, speeds[1], speeds[0])
    wanted = np.sign(distance) * np.minimum(way / count + 0.5 * step * (count - 1.0), speed)
    velocity = np.clip(wanted, velocity - step, velocity + step)
    return position + period * velocity, velocity


def _turn(heading: float) -> NDArray:
    """Return the rotation from the axes of the heading to those of the world, shape (2, 2)."""
    c, s = math.cos(heading), math.sin(heading)
    return np.array(((c, -s), (s, c)))


class _Sole(NamedTuple):
    """A sole: its planned pose, the measured one, and its corners in its frame, [m], shape (4, 2)."""

    foot: FootReference
    position: NDArray
    rotation: NDArray
    corners: NDArray

    def error(self, other: _Sole, slope: NDArray) -> NDArray:
        """Return e beside the other sole on a slope: tilt about x and y [rad] and height [m], shape (3,)."""
        tilt = so3.log(self.foot.rotation @ self.rotation.T)[:2] - (slope[1], -slope[0])
        way = self.position - other.position
        height = float(self.foot.position[2] - self.position[2] - slope @ way[:2])
        if other.foot.in_contact:
            height -= float(other.foot.position[2] - other.position[2])
            height += other.lowest(slope) if self.foot.in_contact else 0.0
        return np.array([*tilt, height])

    def lowest(self, slope: NDArray) -> float:
        """Return the height of its lowest corner over its frame, across the planned ground and a slope on it, [m]."""
        normal = self.foot.rotation[:, 2] + (*slope, 0.0)
        return float((self.corners @ self.rotation[:, :2].T @ normal).min())


class SoleLevelling:
    r"""Keeps the soles level, and those in the air at their height, while the robot itself tilts.

    Servos of position and velocity move the swinging foot relative to the body. Where the stance sole tips about an
    edge, the body tilts and the foot comes down early and on an edge, or hangs in the air when it should stand. Height
    and tilt of a sole without load are therefore fed back, with :math:`e` the planned pose less the measured one,

    .. math:: o = k_P e_z e_3 + k_I \int e \, dt, \qquad p = p_r + o_{z}, \quad R = Exp(o_{x,y}) R_r

    Heights count from the other sole where that one should stand: the odometry may hold this one. Where it has tipped
    onto its edge, and this one should stand as well, they count from the ground under its lowest corner.
    On a slope s [-] that the plan does not know, :math:`e_{x,y}` and :math:`e_z` are counted from the ground: a sole
    that lies on it leans by s, and one at a way d from the other sole is :math:`s \cdot d` lower.

    A sole that carries load gives its offset back with a time constant. Under a robot that stands and is pushed it
    tips on an edge, which the ZMP cannot leave then, and the robot rocks back farther than it came: its tilt is
    integrated as well, so that it lies flat under the tilted robot (of a robot that walks, that costs a twentieth of
    the pushes). When the push is over it gives its tilt back slowly, until the robot steps. A sole that hangs beside a
    robot that stands follows :math:`e_z` with a lag: set-points lead the servos by their lag times the speed, and where
    that jumps the robot rocks from one sole to the other. Torque control, which feeds the poses of the feet back
    itself, needs none of this.

    Attributes:
        offsets: Of each sole: tilt about x and y [rad] and height [m], shape (3,); empty while there are none.
    """

    def __init__(self, weight: float, sole: SoleRectangle) -> None:
        """Take the robot's weight, [N], and the rectangle of its left sole."""
        self._load = _AIRBORNE_LOAD * weight
        self._corners = {side: sole.corners(side) for side in Side}
        self.reset()

    def reset(self) -> None:
        """Forget the past: the soles are as planned."""
        self.offsets: dict[Side, NDArray] = {}
        self._integrals: dict[Side, NDArray] = {}
        self._stands = False  # on both feet since it was pushed

    def levelled(
        self,
        reference: WholeBodyReference,
        state: RobotState,
        is_active: bool,
        stands: bool,
        period: float,
        slope: NDArray = LEVEL,
    ) -> WholeBodyReference:
        """Return the reference of layer 3 with the feet where they come to their planned poses.

        Args:
            reference: With the planned feet.
            state: With the measured ones.
            is_active: Whether a push is being caught; otherwise offsets are given back.
            stands: Whether a robot that stands is pushed: its soles with load are laid flat as well.
            period: [s].
            slope: Of the ground beyond that of the plan as far as it counts, x and y of its normal in world, [-].
        """
        rests = reference.left_foot.in_contact and reference.right_foot.in_contact
        self._stands = rests and (stands or (self._stands and not is_active))
        left, right = (
            _Sole(foot, state.foot_position(side), state.foot_rotation(side), self._corners[side])
            for side, foot in zip(Side, (reference.left_foot, reference.right_foot), strict=True)
        )
        loads, feet = (state.left_foot_wrench[2], state.right_foot_wrench[2]), {}
        for side, sole, other, load in zip(Side, (left, right), (right, left), loads, strict=True):
            hangs, is_laid_flat = is_active and load < self._load, stands and sole.foot.in_contact
            offset, rate = self._offset(side, sole.error(other, slope), hangs, is_laid_flat, period)
            feet[f"{side}_foot"] = _moved(sole.foot, offset, rate)
        if not is_active and all(np.abs(offset).max() < _NEGLIGIBLE for offset in self.offsets.values()):
            self.reset()
        return altered(reference, **feet)

    def _offset(
        self, side: Side, error: NDArray, hangs: bool, is_laid_flat: bool, period: float
    ) -> tuple[NDArray, NDArray]:
        """Return the offset of a sole after a period [s], and its rate; one that ``hangs`` in the air follows e."""
        last = self.offsets.get(side, np.zeros(3))
        if hangs:
            integral = self._integrals.get(side, last) + period * INTEGRAL_GAIN * error
            offset = integral + np.array((0.0, 0.0, HEIGHT_GAIN * error[2]))
        else:
            leak = min(1.0, period / LEAK_TIME) * last
            if is_laid_flat:
                leak[2] *= LEAK_TIME / ROCKING_TIME
            elif self._stands:
                leak[:2] = leak[:2].clip(-period * STANDING_LEAK, period * STANDING_LEAK)
            integral = offset = last - leak
            if is_laid_flat:
                integral = offset = offset + period * TILT_GAIN * error * _TILT
        self._integrals[side] = integral.clip(-_LARGEST_OFFSET, _LARGEST_OFFSET)
        offset = offset.clip(-_LARGEST_OFFSET, _LARGEST_OFFSET)
        rise = (offset[2] - last[2]) * (min(1.0, period / STANDING_TIME) if hangs and is_laid_flat else 1.0)
        offset[2] = last[2] + np.clip(rise, -SOLE_SPEED * period, SOLE_SPEED * period)
        self.offsets[side] = offset
        return offset, (offset - last) / period


def _moved(foot: FootReference, offset: NDArray, rate: NDArray) -> FootReference:
    """Return a foot that is tilted about x and y [rad] and lifted [m] by an offset, shape (3,), and its rate."""
    tilt, rise = np.array((offset[0], offset[1], 0.0)), np.array((0.0, 0.0, offset[2]))
    twist = foot.twist.copy()
    twist[2:5] += rate[2], rate[0], rate[1]
    return altered(foot, position=foot.position + rise, rotation=so3.exp(tilt) @ foot.rotation, twist=twist)
