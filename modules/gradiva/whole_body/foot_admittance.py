"""Admittance of the standing feet: soles yield to the ground where stiff servos of position would squeeze the legs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gradiva.common import ConfigError, FootReference, LowPass, NDArray, RobotState, Side, altered, so3
from gradiva.whole_body.whole_body_reference import WholeBodyReference

_NORMAL = 2  # row of the vertical force in a wrench


@dataclass(frozen=True, slots=True)
class FootAdmittanceConfig:
    """Gains with which feet that stand yield to forces that were not expected.

    Attributes:
        height_gain: Speed of one foot against the other for each newton that it carries too much, [m/(s·N)].
        tilt_gain: Angular velocity of a sole for each moment about its expected centre of pressure, [rad/(s·N·m)].
        leak_time_constant: In which what has been yielded is taken back while both feet stand, [s].
        expected_time_constant: Of the low pass on the expected wrenches: measured ones are as much older, [s].
        highest: Largest height of a sole over its plan, [m].
        steepest: Largest tilt of a sole about each axis, [rad].
    """

    height_gain: float
    tilt_gain: float
    leak_time_constant: float
    expected_time_constant: float
    highest: float
    steepest: float

    def __post_init__(self) -> None:
        for name in ("height_gain", "tilt_gain", "expected_time_constant", "highest", "steepest"):
            if not 0.0 <= getattr(self, name) < math.inf:
                raise ConfigError(f"{name}={getattr(self, name)}: must be zero or more, and finite")
        if not self.leak_time_constant > 0.0:
            raise ConfigError(f"leak_time_constant={self.leak_time_constant}, must be positive")


class FootAdmittance:
    r"""Control of the difference of the feet's loads and of the moments about their centres of pressure.

    Legs of stiff servos, with both soles on the floor, are a closed chain: encoder errors of half a degree or a sole
    that is not flat shift all load to one foot, or to an edge. Feet that stand therefore yield (Kajita et al. 2010,
    Caron et al. 2019), while both of them stand:

    .. math::
        \dot h &= \tfrac12 a_h \left[(f_l - f_r) - (f_l - f_r)^e\right] - h / T, &
        z_{l,r} &= z^p_{l,r} \pm h, \\
        \dot\theta_k &= a_\theta \left(\mu_k - c^e_k \times f_k\right)_{x,y} - \theta_k / T, &
        R_k &= R^p_k \, Exp(\theta_k),

    with normal forces :math:`f`, moments :math:`\mu_k` about the sole's origin and the expected centres of pressure
    :math:`c^e_k` of the plan and the DCM law. The offsets are kept while one foot swings, since what causes them goes
    along with the joints: the next step lands as the last one ended.

    ====================  ==========================  ============
    Symbol                Field                       Unit
    ====================  ==========================  ============
    :math:`a_h`           ``height_gain``             m/(s·N)
    :math:`a_\theta`      ``tilt_gain``               rad/(s·N·m)
    :math:`T`             ``leak_time_constant``      s
    ====================  ==========================  ============
    """

    def __init__(self, config: FootAdmittanceConfig) -> None:
        self._config = config
        self._is_off = config.height_gain == config.tilt_gain == 0.0
        self.reset()

    def reset(self) -> None:
        """Forget the past: both soles are as planned."""
        self.height = 0.0  # of the left sole over its plan, and of the right one below it, [m]
        self.tilts = np.zeros((2, 2))  # of both soles about their x and y, [rad]
        self._expected = LowPass(self._config.expected_time_constant)

    def adapted(
        self, reference: WholeBodyReference, state: RobotState, period: float, is_trusted: bool = True
    ) -> WholeBodyReference:
        """Return the reference with the soles as they have yielded.

        Args:
            reference: Of the plan, with the expected wrenches.
            state: With the measured wrenches.
            period: [s].
            is_trusted: Whether both feet's sensors are; otherwise the soles stay as they are.
        """
        if self._is_off:
            return reference
        expected = np.stack((reference.left_foot_wrench, reference.right_foot_wrench))
        expected = self._expected.update(expected.ravel(), period).reshape(2, 6)
        climb, turns = 0.0, np.zeros((2, 2))
        feet = reference.left_foot, reference.right_foot
        if is_trusted and all(foot.in_contact for foot in feet):
            climb, turns = self._yield(feet, state, expected, period)
        left, right = (
            _moved(foot, side.sign * self.height, side.sign * climb, tilt, turn)
            for foot, side, tilt, turn in zip(feet, Side, self.tilts, turns, strict=True)
        )
        return altered(reference, left_foot=left, right_foot=right)

    def _yield(
        self, feet: tuple[FootReference, FootReference], state: RobotState, expected: NDArray, period: float
    ) -> tuple[float, NDArray]:
        """Move the offsets and return their rates: of the height [m/s] and of the tilts, shape (2, 2), [rad/s]."""
        config, height, tilts = self._config, self.height, self.tilts
        measured = np.stack((state.left_foot_wrench, state.right_foot_wrench))
        loads, planned = measured[:, _NORMAL], expected[:, _NORMAL]
        surplus = 0.5 * float((loads[0] - loads[1]) - (planned[0] - planned[1]))
        moments = np.stack(
            [
                (foot.rotation.T @ _about_pressure(*wrenches))[:2]
                for foot, *wrenches in zip(feet, measured, expected, strict=True)
            ]
        )
        change = period * (config.height_gain * surplus - height / config.leak_time_constant)
        turns = period * (config.tilt_gain * moments - tilts / config.leak_time_constant)
        self.height = min(max(height + change, -config.highest), config.highest)
        self.tilts = (tilts + turns).clip(-config.steepest, config.steepest)
        return (self.height - height) / period, (self.tilts - tilts) / period


def _about_pressure(measured: NDArray, expected: NDArray) -> NDArray:
    """Return the horizontal moment of a measured wrench about the centre of pressure of an expected one, (3,)."""
    levers = expected[3:5] / max(float(expected[_NORMAL]), 1.0)
    return np.array([*(measured[3:5] - measured[_NORMAL] * levers), 0.0])


def _moved(foot: FootReference, height: float, climb: float, tilt: NDArray, turn: NDArray) -> FootReference:
    twist = foot.twist.copy()
    twist[2] += climb
    twist[3:] += foot.rotation[:, :2] @ turn
    position = foot.position + np.array([0.0, 0.0, height])
    rotation = foot.rotation @ so3.exp(np.array([*tilt, 0.0]))
    return altered(foot, position=position, rotation=rotation, twist=twist)
