"""Simplified model control: the shipped layer 2, a DCM law for the ZMP and the ZMP-CoM law that follows it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import casadi as cs
import numpy as np
import numpy.typing as npt

from gradiva.common import GRAVITY, ConfigError, NDArray, NoSolutionFound, RobotState
from gradiva.robot_model import Compiler, FlatFunction, built_once, interpreted
from gradiva.simplified_model.balance_layer import (
    BalanceLayer,
    BalanceMemory,
    BalancePlan,
    BalanceReference,
    DcmLaw,
    LawMemory,
)
from gradiva.simplified_model.zmp_com_controller import GainSchedule, zmp_com_velocity

_OUTPUTS = ("com_position", "com_velocity", "com_acceleration", "zmp_position")
_ROUNDING = 1e-9  # [s] sums of periods are not exact


class SimplifiedModelControl(BalanceLayer):
    """Layer 2 by the linear inverted pendulum: DCM law, ZMP-CoM law and gain schedule (thesis 10.2.3).

    The desired ZMP of the DCM law is followed by the CoM velocity of the ZMP-CoM law, which is integrated to the
    commanded CoM position. The height is that of the plan.
    """

    def __init__(self, dcm_law: DcmLaw, gains: GainSchedule, compiler: Compiler = interpreted) -> None:
        """Build the equations.

        Args:
            dcm_law: Chooses the ZMP: by equations, which become part of those of the layer, or by its method.
            gains: Of the ZMP-CoM law.
            compiler: How the equations become fast.
        """
        self._dcm_law = dcm_law
        self._gains = gains
        self._compiled_law = dcm_law if dcm_law.states_equations else None
        kind = type(dcm_law) if dcm_law.states_equations else None
        self._function = built_once((balance_function, kind, compiler), lambda: balance_function(kind, compiler))
        if self._compiled_law is not None:
            self._compiled_law.attach(self._function)
        self._reference = self._function.maker(BalanceReference, _OUTPUTS)
        self._has_begun = False

    @property
    def failures(self) -> int:  # type: ignore[override]
        """See ``BalanceLayer.failures``: those of the DCM law."""
        return getattr(self._dcm_law, "failures", 0)

    def signals(self) -> Mapping[str, float | npt.ArrayLike]:
        """Return those of the DCM law."""
        return self._dcm_law.signals()

    @property
    def memory(self) -> BalanceMemory | None:
        """See ``BalanceLayer.memory``."""
        if not self._has_begun:
            return None
        commanded = self._function.inputs["commanded_com"].copy()
        return BalanceMemory(commanded, self._dcm_law.memory, self._gains.progress)

    def resume(self, memory: BalanceMemory | None) -> None:
        """See ``BalanceLayer.resume``."""
        if memory is None:
            self.reset()
            return
        self._has_begun = True
        self._function.set(commanded_com=memory.com_position)
        self._dcm_law.resume(memory.law)
        self._gains.resume(memory.gains)

    def reset(self) -> None:
        """See ``BalanceLayer.reset``."""
        self._dcm_law.reset()
        self._gains.reset()
        self._has_begun = False

    def update(self, state: RobotState, plan: BalancePlan, time: float, period: float) -> BalanceReference:
        """See ``BalanceLayer.update``; a ZMP that is not measured is taken to be the desired one."""
        function, reference = self._function, plan.reference
        if self._compiled_law is not None:
            self._compiled_law.write(state, plan)
        else:
            function.set(zmp=self._dcm_law.zmp(state, plan, period))
        if not self._has_begun:
            function.set(commanded_com=reference.com_position[:2])
            self._has_begun = True
        gains = self._gains.update(reference.is_walking, period)
        function.set(
            period=period,
            zmp_gain=gains.zmp,
            com_gain=gains.com,
            square=reference.dcm.natural_frequency * reference.dcm.divergence_rate,
            com_reference=reference.com_position,
            com_velocity_reference=reference.com_velocity,
            com_position=state.com_position,
            measured_zmp=state.zmp_position,
            zmp_is_measured=state.zmp_is_measured,
            zmp_shift=plan.zmp_shift,
        )
        outputs = function()
        if self._compiled_law is not None:
            self._compiled_law.keep()
        function.inputs["commanded_com"][...] = outputs["commanded_com"]
        return self._reference(foot_wrenches=None, contact_targets=None)


def balance_function(kind: type[DcmLaw] | None, compiler: Compiler) -> FlatFunction:
    """Return layer 2 as one function: its laws, and the integration of the commanded CoM.

    Args:
        kind: DCM law that states equations; None: the desired ZMP is an input.
        compiler: How it becomes fast.

    Raises:
        ConfigError: The equations of the law have no ZMP, or one of their names is that of another input.
    """
    zmp, period = cs.SX.sym("zmp", 2), cs.SX.sym("period")
    law = kind.__name__ if kind else "zmp"
    given, outputs = kind.equations() if kind else ({"zmp": zmp, "period": period}, {"zmp": zmp})
    if "zmp" not in outputs or outputs["zmp"].shape != (2, 1):
        raise ConfigError(f"{law}.equations: no output 'zmp' of shape (2, 1)")
    inputs = {name: cs.SX.sym(name) for name in ("zmp_gain", "com_gain", "square", "zmp_is_measured")}
    inputs |= {name: cs.SX.sym(name, 2) for name in ("measured_zmp", "zmp_shift", "commanded_com")}
    inputs |= {name: cs.SX.sym(name, 3) for name in ("com_reference", "com_velocity_reference", "com_position")}
    if taken := sorted(inputs.keys() & given.keys()):
        raise ConfigError(f"{law}.equations: layer 2 has an input '{taken[0]}' itself, call that of the law otherwise")
    inputs = {"period": period, **given, **inputs}
    desired = outputs["zmp"] + inputs["zmp_shift"]
    velocity = zmp_com_velocity(
        inputs["com_velocity_reference"][:2],
        inputs["com_reference"][:2],
        inputs["com_position"][:2],
        desired,
        cs.if_else(inputs["zmp_is_measured"], inputs["measured_zmp"], desired),
        (inputs["zmp_gain"], inputs["com_gain"]),
    )
    period, climb = inputs["period"], inputs["com_velocity_reference"][2]
    commanded = inputs["commanded_com"] + period * velocity
    outputs = outputs | {
        "zmp_position": outputs["zmp"],
        "commanded_com": commanded,
        "com_position": cs.vertcat(commanded, inputs["com_reference"][2] + period * climb),
        "com_velocity": cs.vertcat(velocity, climb),
        "com_acceleration": cs.vertcat(inputs["square"] * (inputs["com_reference"][:2] - outputs["zmp"]), 0.0),
    }
    return FlatFunction(f"balance_{law}", inputs, outputs, compiler)


class FallbackLaw(DcmLaw):
    """Asks a DCM law, and the instantaneous one where that has no solution.

    Attributes:
        law: The one that is asked first.
        failures: How often it had no solution.
    """

    def __init__(self, law: DcmLaw, fallback: DcmLaw) -> None:
        self.law = law
        self._fallback = fallback
        self.failures = 0

    @property
    def memory(self) -> LawMemory:
        """See ``DcmLaw.memory``; the integral is that of the fallback."""
        return replace(self.law.memory, dcm_integral=self._fallback.memory.dcm_integral)

    def resume(self, memory: LawMemory) -> None:
        """See ``DcmLaw.resume``."""
        self.law.resume(memory)
        self._fallback.resume(memory)

    def reset(self) -> None:
        """See ``DcmLaw.reset``."""
        self.law.reset()
        self._fallback.reset()

    def signals(self) -> Mapping[str, float | npt.ArrayLike]:
        """Return those of the law that is asked first."""
        return self.law.signals()

    def zmp(self, state: RobotState, plan: BalancePlan, period: float) -> NDArray:
        """See ``DcmLaw.zmp``."""
        try:
            return plan.polygon.project(self.law.zmp(state, plan, period))
        except NoSolutionFound:
            self.failures += 1
            return self._fallback.zmp(state, plan, period)


class DecimatedLaw(DcmLaw):
    r"""Asks a DCM law less often than the controller ticks, and holds its correction in between.

    Decided at :math:`t_k`, for :math:`t_k \le t < t_{k+1}`: :math:`z^*(t) = \Pi [z_r(t) + z^*(t_k) - z_r(t_k)]`, so
    that the reference :math:`z_r` moves on at the rate of the tick.
    """

    def __init__(self, law: DcmLaw, period: float) -> None:
        """Take the law and its decision period, [s]."""
        self._law = law
        self._period = period
        self._left = 0.0
        self._correction = np.zeros(2)

    @property
    def failures(self) -> int:
        """Number of decisions without a solution."""
        return getattr(self._law, "failures", 0)

    @property
    def memory(self) -> LawMemory:
        """See ``DcmLaw.memory``; the correction is decided anew after ``resume``."""
        return self._law.memory

    def resume(self, memory: LawMemory) -> None:
        """See ``DcmLaw.resume``."""
        self._law.resume(memory)
        self._left = 0.0

    def reset(self) -> None:
        """See ``DcmLaw.reset``."""
        self._law.reset()
        self._left = 0.0
        self._correction = np.zeros(2)

    def signals(self) -> Mapping[str, float | npt.ArrayLike]:
        """Return those of the law."""
        return self._law.signals()

    def zmp(self, state: RobotState, plan: BalancePlan, period: float) -> NDArray:
        """See ``DcmLaw.zmp``."""
        is_due = self._left <= _ROUNDING
        reference = plan.reference.dcm
        if is_due:
            self._left = max(self._period, period)
            zmp = self._law.zmp(state, plan, self._left)
            self._correction = zmp - reference.zmp_position
        self._left -= period
        return zmp if is_due else plan.polygon.project(reference.zmp_position + self._correction)


@dataclass(frozen=True, slots=True)
class LinearInvertedPendulum:
    r"""A point mass that stays at one height, pushed away by its zero moment point (thesis 4.4).

    .. math:: \ddot x = \zeta^2 (x - z), \qquad \xi = x + \dot x / \zeta, \qquad
        \dot\xi = \zeta (\xi - z), \qquad \zeta = \sqrt{g / h}

    For a constant ZMP over a time t,
    :math:`x(t) = z + (x - z) \cosh \zeta t + \dot x \sinh(\zeta t) / \zeta` and
    :math:`\xi(t) = z + e^{\zeta t} (\xi - z)`.

    ======================  ============================  =====
    Symbol                  Name                          Unit
    ======================  ============================  =====
    :math:`x`               ``com_position``              m
    :math:`\xi`             ``dcm_position``              m
    :math:`z`               ``zmp_position``              m
    :math:`\zeta`           ``natural_frequency``         rad/s
    :math:`h`, :math:`g`    ``com_height``, ``gravity``   m, m/s²
    ======================  ============================  =====

    All positions are on the ground plane, world, shape (2,).

    Attributes:
        com_height: Above the ground, [m].
        gravity: [m/s²].

    Raises:
        ConfigError: The height or the gravity is not positive.
    """

    com_height: float
    gravity: float = GRAVITY

    def __post_init__(self) -> None:
        if not (self.com_height > 0.0 and self.gravity > 0.0):
            raise ConfigError(f"com_height={self.com_height}, gravity={self.gravity}: both must be positive")

    @property
    def natural_frequency(self) -> float:
        """ζ, [rad/s]."""
        return math.sqrt(self.gravity / self.com_height)

    def dcm(self, com_position: NDArray, com_velocity: NDArray) -> NDArray:
        """Return the divergent component of motion of a CoM position [m] and velocity [m/s]."""
        return com_position + com_velocity / self.natural_frequency

    def com_acceleration(self, com_position: NDArray, zmp_position: NDArray) -> NDArray:
        """Return the CoM acceleration [m/s²] that a ZMP causes."""
        return self.natural_frequency**2 * (com_position - zmp_position)

    def propagate_dcm(self, dcm_position: NDArray, zmp_position: NDArray, duration: float) -> NDArray:
        """Return the DCM after ``duration`` [s] of a constant ZMP."""
        return zmp_position + math.exp(self.natural_frequency * duration) * (dcm_position - zmp_position)

    def propagate(
        self, com_position: NDArray, com_velocity: NDArray, zmp_position: NDArray, duration: float
    ) -> tuple[NDArray, NDArray]:
        """Return the CoM position [m] and velocity [m/s] after ``duration`` [s] of a constant ZMP."""
        frequency = self.natural_frequency
        cosh, sinh = math.cosh(frequency * duration), math.sinh(frequency * duration)
        offset = com_position - zmp_position
        position = zmp_position + offset * cosh + com_velocity * (sinh / frequency)
        return position, offset * (frequency * sinh) + com_velocity * cosh

    def wrench_offset(self, wrench: NDArray, mass: float) -> NDArray:
        r"""Return the offset by which a constant external wrench moves the pendulum ([m], shape (2,)).

        .. math:: \ddot x = \zeta^2 (x + d - z), \qquad
            d = \frac{1}{m g} \begin{bmatrix} h F_x + n_y \\ h F_y - n_x \end{bmatrix}

        so that :math:`x + d` and :math:`\xi + d` move as CoM and DCM of a pendulum that nothing pushes.

        Args:
            wrench: Force F and moment n about the CoM, world axes, [N, N·m], shape (6,).
            mass: m, [kg].
        """
        moment = np.array((wrench[4], -wrench[3]))
        return (self.com_height * wrench[:2] + moment) / (mass * self.gravity)
