"""Whether a robot can stand on soft ground, by what is known before it tries."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gradiva.common import ConfigError, ControlMode, SoleRectangle
from gradiva.contacts import static_sinkage
from gradiva.setup import Setup
from gradiva.simulation import GroundKind

_STIFFNESS = "simulation.viscoelastic.stiffness"
_DEEPEST = 0.2  # [-] of the CoM's height; on the thesis' sole iCub v2.7 walks at 0.12, steps at 0.18, falls at 0.24
_LEAST_MARGIN = 0.8  # [-] of resisting over toppling; iCub v2.7 walks by position at 0.87, 1.0 and 1.2, falls at 0.72
_TILTING = math.radians(1.0) / 1e-3  # [rad/m] from which on it is worth a word that soles roll


@dataclass(frozen=True, slots=True)
class SoftFooting:
    r"""A robot on one foot, on springs of stiffness k per area (thesis, corollary 1).

    .. math:: d = \frac{m g}{k l w}, \qquad K = \frac{k l w^3}{12}, \qquad T = m g h, \qquad c = \frac{m g}{K}

    ==============================  ==========================================================
    Symbol                          Field
    ==============================  ==========================================================
    m g                             ``weight``, [N]
    h                               ``com_height``, [m]
    k                               ``stiffness``, of the softest place, [N/m³]
    l, w                            length and width of ``sole``, the longer first, [m]
    d, K, T, c                      the properties
    ==============================  ==========================================================
    """

    weight: float
    com_height: float
    stiffness: float
    sole: SoleRectangle

    @classmethod
    def of(cls, setup: Setup) -> SoftFooting:
        """Return the footing of a configuration, whatever kind of ground it chooses."""
        simulation = setup.simulation
        return cls(
            weight=setup.robot.mass * simulation.plant.mass_scale * simulation.ground.gravity,
            com_height=setup.walking.planner.com_height,
            stiffness=simulation.viscoelastic.softest,
            sole=setup.robot.sole,
        )

    @property
    def sinkage(self) -> float:
        """How deep the foot sinks, [m]."""
        return static_sinkage(self.weight, self.sole, self.stiffness)

    @property
    def resistance(self) -> float:
        """Moment with which the ground resists the sole's rolling about its longer axis, [N·m/rad]."""
        length, width = sorted((self.sole.length, self.sole.width), reverse=True)
        return self.stiffness * length * width**3 / 12.0

    @property
    def toppling(self) -> float:
        """Moment with which the weight topples a robot of stiff joints, [N·m/rad]."""
        return self.weight * self.com_height

    @property
    def compliance(self) -> float:
        """How far the sole rolls for each metre that the ZMP is off its middle, [rad/m]."""
        return self.weight / self.resistance


def check_footing(setup: Setup) -> None:
    """Pass when the robot may stand on its ground; what is near the bounds may still fall.

    Raises:
        ConfigError: It sinks deeper than its gait can take, or servos that hold joints topple it.
    """
    if setup.simulation.ground.kind is not GroundKind.VISCOELASTIC:
        return
    footing, control = SoftFooting.of(setup), setup.walking.walking.control
    deepest = _DEEPEST * footing.com_height
    if footing.sinkage > deepest:
        raise ConfigError(
            f"{_STIFFNESS}={footing.stiffness:g} N/m³: on one foot {setup.robot.title} sinks by m g / (k A) ="
            f" {1e3 * footing.sinkage:.0f} mm, its gait takes {1e3 * deepest:.0f} mm, a fifth of the CoM's height:"
            f" the ground has to have {_rounded_up(footing.stiffness * footing.sinkage / deepest)} N/m³",
            [_STIFFNESS],
        )
    least = _LEAST_MARGIN * footing.toppling
    if control is not ControlMode.TORQUE and footing.resistance < least:
        raise ConfigError(
            f"{_STIFFNESS}={footing.stiffness:g} N/m³: a robot whose joints are held by {control} control topples, as"
            f" its sole resists rolling by k l w³/12 = {footing.resistance:.3g} N·m/rad alone, and its weight m g h ="
            f" {footing.toppling:.3g} N·m/rad takes {least:.3g}: walk with --control torque, or on"
            f" {_rounded_up(footing.stiffness * least / footing.resistance)} N/m³",
            [_STIFFNESS],
        )


def footing_note(setup: Setup) -> str | None:
    """Return one line on how much the soles are going to roll; None where that is not worth a word."""
    if setup.simulation.ground.kind is not GroundKind.VISCOELASTIC:
        return None
    footing = SoftFooting.of(setup)
    if footing.compliance < _TILTING:
        return None
    return (
        f"on this ground one foot sinks by {1e3 * footing.sinkage:.0f} mm and rolls by"
        f" {math.degrees(1e-3 * footing.compliance):.1f}° for each millimetre that the ZMP is off the sole's middle"
    )


def _rounded_up(stiffness: float) -> str:
    """Return a stiffness with two digits that is not below the given one."""
    unit = 10.0 ** (math.floor(math.log10(stiffness)) - 1)
    return f"{math.ceil(stiffness / unit - 1e-9) * unit:.2g}"
