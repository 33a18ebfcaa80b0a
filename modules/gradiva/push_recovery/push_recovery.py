r"""Push recovery: the interface that the tick asks, the seam of step adaptation with its registry, the hip strategy.

A step adaptation of another package is named by ``step_adaptation.law``: an entry point ::

    [project.entry-points."gradiva.step_adaptations"]
    my_steps = "my_package.my_steps:MySteps"

or, without installing it, ``package.module:Class``. Its own table is ``[step_adaptation.laws.my_steps]``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from types import NoneType
from typing import Any, ClassVar, Self

import numpy as np

from gradiva.common import (
    LowPass,
    NDArray,
    PlanarPose,
    Registry,
    RobotPosture,
    RobotState,
    Side,
    WalkingReference,
    altered,
    configuration,
    plugin_errors,
    sealed,
    setting,
    so3,
)
from gradiva.planner import CaptureStep, Retarget, WalkingPlan, WalkingPlanner
from gradiva.push_recovery.compensation import PushCompensation, ZmpWithoutFoot
from gradiva.push_recovery.soles import Push, Soles
from gradiva.push_recovery.step_adapter import StepAdaptationConfig, SteppingMode
from gradiva.robot_model import Compiler, IdynTreeModel, RobotDescription, interpreted
from gradiva.simplified_model import BalancePlan
from gradiva.whole_body import WalkingKinematics, WholeBodyReference, probed_momentum, standing_reference

_PROBE = 0.05  # [rad/s] rate of the tilt in the probes
_UPRIGHT = 1e-4  # [rad] and [rad/s]
_RETURN_SPEED = 1.5  # [rad/s] of a tilt that shrinks; at ``speed``, trunk and steps of iCub v3 swing against each other
ZMP_GAIN = 1.1  # [-] K_p; with 2 it tilts where soles and steps do: a tenth less is survived
_LEAD = 0.042  # [s] T, over which the DCM error is predicted
_LAG = 0.03  # [s] of the trunk and the measured DCM behind the commanded tilt
_RATE_TIME = 0.03  # [s] time constant of the DCM, of which the derivative is taken


@dataclass(frozen=True, slots=True)
class StepChange:
    """Change of the plan that a push asks for.

    Attributes:
        retarget: Of the running step and those after it; None: none moves.
        capture: Step of a robot that stands, which begins now; None: it stands.
        falls_away: Whether a push begins that drives the robot away from a sole that comes down: it is being caught
            even where no foothold moves.
    """

    retarget: Retarget | None = None
    capture: CaptureStep | None = None
    falls_away: bool = False


@dataclass(frozen=True, slots=True)
class SteppingLog:
    """State of step adaptation in one tick.

    Attributes:
        mode: What it may change.
        is_active: Whether the DCM error has triggered it and is not released yet.
        side: Foot that swings; None in double support.
        nominal: Foothold of that foot before the first change of its step (world); None in double support.
        adapted: Foothold of that foot now (world); None in double support.
        delay: Touch-down less the one before the first change of its step, [s].
        changes: Number of changes since the robot was prepared.
    """

    mode: SteppingMode
    is_active: bool = False
    side: Side | None = None
    nominal: PlanarPose | None = None
    adapted: PlanarPose | None = None
    delay: float = 0.0
    changes: int = 0


class StepAdaptation(ABC):
    """Decides in each tick whether the next footholds have to move, or a robot that stands has to step.

    The shipped one is ``AdaptedSteps``; derive your own, or an MPC, from this class.

    Attributes:
        Config: Dataclass of its own table; None: it has none.
        mode: What it may change; with ``off`` it is not asked.
        log: Of the last tick.
        catches: Whether the landing that it chose last stops the DCM: torque control then leaves the trunk upright.
    """

    Config: ClassVar[type | None] = None
    mode: SteppingMode = SteppingMode.PLACE_AND_TIME
    log: SteppingLog = SteppingLog(SteppingMode.PLACE_AND_TIME)
    catches: bool = False

    def __init__(self, config: Any, planner: WalkingPlanner, robot: RobotDescription) -> None:  # noqa: B027
        """Take its own configuration, layer 1 with the limits of steps, and the robot."""

    @classmethod
    def built(
        cls,
        config: StepAdaptationConfig,
        planner: WalkingPlanner,
        robot: RobotDescription,
        compiler: Compiler = interpreted,
    ) -> Self:
        """Return it with its own table; ``compiler`` makes equations fast.

        Raises:
            ConfigError: A key is unknown or missing, or a value is refused.
        """
        name = config.law.rpartition(":")[2]
        table, where = config.laws.get(name, {}), f"[step_adaptation.laws.{name}]"
        return cls(STEP_ADAPTATIONS.config(cls, table, where), planner, robot)

    def reset(self) -> None:  # noqa: B027
        """Forget the past: the robot is prepared anew, or the mode is another one."""

    @abstractmethod
    def update(self, pendulum: RobotState, reference: WalkingReference, plan: WalkingPlan) -> StepChange | None:
        """Return the change of the plan, or None, as nearly always; called once a tick.

        A change replaces the plan that a planning service is about to continue, which is then asked for again: return
        one only where a foothold has to move by more than the swing's own error, else no new plan comes in time.

        Args:
            pendulum: State estimated in this tick, as ``PushRecovery.pendulum`` returns it.
            reference: Of the plan at the same time.
            plan: The present one, with its steps and their times; of a robot that stands, none is left.
        """

    def is_recovering(self, time: float) -> bool:
        """Return whether a robot that stands was pushed shortly before ``time`` [s]: its soles are laid flat."""
        return False


STEP_ADAPTATIONS = Registry(
    "gradiva.step_adaptations",
    "step adaptation",
    (StepAdaptation,),
    shipped={"dcm": "gradiva.push_recovery.adapted_steps:AdaptedSteps"},
    returns={"update": (StepChange, NoneType)},
)


def step_adaptation(
    config: StepAdaptationConfig, planner: WalkingPlanner, robot: RobotDescription, compiler: Compiler = interpreted
) -> StepAdaptation:
    """Return the configured step adaptation.

    Raises:
        ConfigError: There is none of that name, it is no step adaptation, or its table is refused.
    """
    kind = STEP_ADAPTATIONS.kind(config.law)
    with plugin_errors(f"[step_adaptation] law={config.law}", kind):
        made: StepAdaptation = kind.built(config, planner, robot, compiler)
        made.mode = config.mode
        made.reset()
    return STEP_ADAPTATIONS.guarded(made, f"[step_adaptation] law={config.law}")


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


class PushRecovery:
    """Answers a push by steps, trunk and soles.

    A tick asks for ``pendulum``, the state that layer 2 and the steps see; ``update``, the change of the plan; and
    ``answered``, the reference of layer 3 with tilted trunk, soles and what yields.

    Attributes:
        steps: Step adaptation.
        trunk: Its tilt, or one that stays upright.
        soles: Those of the reference, or how they are moved.
    """

    def __init__(
        self,
        steps: StepAdaptation,
        trunk: Trunk,
        soles: Soles,
        compensation: PushCompensation,
        zmp_without_foot: ZmpWithoutFoot,
        period: float,
    ) -> None:
        """Take the parts and the period of the tick, [s]."""
        self.steps, self.trunk, self.soles, self._period = steps, trunk, soles, period
        self._compensation, self._zmp_without_foot = compensation, zmp_without_foot
        self._slow_dcm = LowPass(_RATE_TIME)
        self._trusted_zmp: NDArray | None = None  # of the last tick in which all sensors of the feet were trusted

    def reset(self) -> None:
        """Forget the past: the robot is prepared anew."""
        for part in (self.steps, self.trunk, self.soles, self._compensation, self._slow_dcm):
            part.reset()

    @property
    def mode(self) -> SteppingMode:
        """Return what may change of a step; set it between ticks."""
        return self.steps.mode

    @mode.setter
    def mode(self, mode: SteppingMode) -> None:
        self.steps.mode = mode
        self.steps.reset()

    def pendulum(self, state: RobotState, reference: WalkingReference, untrusted: Collection[Side]) -> RobotState:
        """Return the state of the pendulum that nothing pushes and that does not tilt, its ZMP by the trusted feet."""
        if untrusted:
            state = self._zmp_without_foot.corrected(state, reference, untrusted, self._trusted_zmp, self._period)
        else:
            self._trusted_zmp = state.zmp_position
        if state.external_wrench is not None:
            state = self._compensation.compensated(state, reference)
        return state if self.trunk.is_upright else self.trunk.upright(state, reference)

    def update(self, pendulum: RobotState, reference: WalkingReference, plan: WalkingPlan) -> StepChange | None:
        """Return the change of the plan that a push asks for, or None; see ``StepAdaptation.update``."""
        return None if self.steps.mode is SteppingMode.OFF else self.steps.update(pendulum, reference, plan)

    def push(self, time: float, is_catching: bool, walks: bool, is_trusted: bool) -> Push:
        """Return the state of a push at ``time`` [s] of a robot that is commanded to walk or to stand; see ``Push``."""
        stands = not walks and self.steps.is_recovering(time)
        return Push(stands or is_catching, stands, is_trusted)

    def answered(
        self,
        body: WholeBodyReference,
        state: RobotState,
        pendulum: RobotState,
        now: BalancePlan,
        ahead: WalkingReference,
        push: Push,
    ) -> WholeBodyReference:
        """Return the reference of layer 3 with the tilted trunk, the soles as they are moved, and what yields.

        Args:
            body: Of layer 2 and the plan.
            state: Estimated in this tick.
            pendulum: The same as layer 2 has it.
            now: The plan as layer 2 has it.
            ahead: The plan at the time of ``body``.
            push: Its state.
        """
        last = pendulum.dcm_position if self._slow_dcm.value is None else self._slow_dcm.value
        dcm_rate = (self._slow_dcm.update(pendulum.dcm_position, self._period) - last) / self._period
        if push.is_caught or not self.trunk.is_upright:
            self.trunk.update(pendulum, dcm_rate, now, push.is_caught, self._period)
        if not self.trunk.is_upright:
            body = self.trunk.applied(body, ahead.heading)
        if not self.soles.are_planned:
            body = self.soles.moved(body, state, ahead, push, self._period)
        if push.is_caught or self.steps.catches:
            body = altered(body, height_yields=push.is_caught, step_catches=self.steps.catches)
        return body
