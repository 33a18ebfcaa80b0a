"""Interface of layer 2: what a balance layer, or a DCM law within the shipped one, receives and returns.

A balance layer turns the estimated state and the walking plan into the motion of the centre of mass. The shipped one,
``SimplifiedModelControl``, asks a *DCM law* for the zero moment point (ZMP) and follows it with the ZMP-CoM law. Either
can be replaced: ``balance_laws`` has the registry, which also finds the classes of other packages.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import casadi as cs
import numpy as np
import numpy.typing as npt

from gradiva.common import (
    ConfigError,
    DcmPreview,
    NDArray,
    PlanarPose,
    PlannedContact,
    RobotState,
    WalkingReference,
    freeze_arrays,
    readonly,
    sealed,
)
from gradiva.contacts import SupportPolygon
from gradiva.robot_model import Compiler, FlatFunction, RobotDescription, built_once

_ROUNDING = 1e-6  # [-] ages are differences of sums of periods
_TIMED = 10_000  # [-] decisions of which the times are kept: three minutes at 50 Hz

Preview = Callable[[float, int], DcmPreview]
"""Samples the plan from now on: period [s] and count."""

DcmAhead = Callable[[float, int], NDArray]
"""Samples the planned DCM from now on, at the ends of n intervals of a period [s]: [m], shape (n + 1, 2)."""

Contacts = Callable[[float], tuple[PlannedContact, ...]]
"""Times and places at which the soles are on the ground, from now on for a duration [s] or longer."""


@dataclass(frozen=True, slots=True, eq=False)
class BalancePlan:
    """The walking plan as layer 2 reads it, at one instant and ahead.

    Attributes:
        reference: The plan now.
        polygon: Support polygon of the feet that the plan has on the ground.
        preview: Samples the plan from now on.
        zmp_shift: By how much the swing of a leg and the tilt of the trunk move the ZMP, world, [m], shape (2,).
        contacts: When and where the soles are on the ground from now on.
        dcm_ahead: Samples the planned DCM from now on, alone.
    """

    reference: WalkingReference
    polygon: SupportPolygon
    preview: Preview
    zmp_shift: NDArray
    contacts: Contacts = lambda _: ()
    dcm_ahead: DcmAhead = lambda _period, _count: np.zeros((0, 2))


@dataclass(frozen=True, slots=True, eq=False)
class PendulumState:
    """State of the linear inverted pendulum: what the shipped DCM laws read of a `RobotState`.

    Attributes:
        dcm_position: World, [m], shape (2,).
    """

    dcm_position: NDArray

    def __post_init__(self) -> None:
        freeze_arrays(self, dcm_position=(2,))


@dataclass(frozen=True, slots=True, eq=False)
class BalanceReference:
    """Reference that layer 2 hands to the whole body, for the end of the coming period.

    Attributes:
        com_position: World, [m], shape (3,).
        com_velocity: World, [m/s], shape (3,).
        com_acceleration: World, [m/s²], shape (3,).
        zmp_position: World, on the plane of the soles, [m], shape (2,).
        foot_wrenches: Ground on left and right foot, world axes, about the planned sole origin, [N, N·m], each of shape
            (6,). None: the pendulum's force through ``zmp_position`` is distributed over the feet, and torque control
            is commanded the pendulum's acceleration in the place of ``com_acceleration``.
        contact_targets: Where the left and the right foot should land, on the contact plane of the planned foothold;
            the one in the air goes there from now on, at the planned time, and the references of DCM and CoM restart
            where the robot is. None for a foot that keeps its foothold; None: both do. Footholds of later steps, and
            times, are moved by a ``StepAdaptation`` (`gradiva.walking`).
    """

    com_position: NDArray
    com_velocity: NDArray
    com_acceleration: NDArray
    zmp_position: NDArray
    foot_wrenches: tuple[NDArray, NDArray] | None = None
    contact_targets: tuple[PlanarPose | None, PlanarPose | None] | None = None

    def __post_init__(self) -> None:
        freeze_arrays(self, com_position=(3,), com_velocity=(3,), com_acceleration=(3,), zmp_position=(2,))
        if self.foot_wrenches is not None:
            left, right = self.foot_wrenches
            object.__setattr__(self, "foot_wrenches", (readonly(left, (6,)), readonly(right, (6,))))


@dataclass(frozen=True, slots=True, eq=False)
class LawMemory:
    """State of a DCM law between two ticks.

    Attributes:
        dcm_integral: Integral of the DCM error of the instantaneous law, [m·s], shape (2,).
        previous_zmp: Last ZMP of a predictive law, world, [m], shape (2,); None where there is none.
        state: Whatever else a law integrates or filters, shape (n,).
    """

    dcm_integral: NDArray
    previous_zmp: NDArray | None = None
    state: NDArray = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        freeze_arrays(self, dcm_integral=(2,), state=(None,))
        if self.previous_zmp is not None:
            freeze_arrays(self, previous_zmp=(2,))


@dataclass(frozen=True, slots=True)
class GainProgress:
    """State of a gain schedule.

    Attributes:
        is_walking: The present situation.
        start: r₀, the ratio when it began, [-].
        ratio: r, the present one, [-].
        elapsed: Since it began, at most the blend time, [s].
    """

    is_walking: bool
    start: float
    ratio: float
    elapsed: float


@dataclass(frozen=True, slots=True, eq=False)
class BalanceMemory:
    """State of layer 2 between two ticks: with it another process, or a stand-in, goes on without a jump.

    Attributes:
        com_position: The commanded CoM, integrated, world, [m], shape (2,).
        law: Of the DCM law.
        gains: Of the gain schedule.
    """

    com_position: NDArray
    law: LawMemory
    gains: GainProgress

    def __post_init__(self) -> None:
        freeze_arrays(self, com_position=(2,))


class SolverTimes:
    """Counts and times the decisions of a predictive law that an optimisation makes.

    Attributes:
        limit: Time until the next decision is due, beyond which one is late, [s].
        decisions: So far.
        fallbacks: Decisions without a solution of their own: the last one was shifted.
        late: Decisions that the solver took longer for than ``limit``, or that came later.
        inaccurate: Decisions whose solution may cost noticeably more than the optimum.
        last: Time of the solver for the last decision, [s]; NaN before it.
        accuracy: Of the last decision, NaN where it has none: estimate and KKT residual, by which fraction of its cost
            the optimum costs less.
    """

    def __init__(self, limit: float) -> None:
        """Begin with no decision."""
        self.limit, self.last, self.accuracy = limit, math.nan, (math.nan, math.nan)
        self.decisions = self.fallbacks = self.late = self.inaccurate = 0
        self._times, self._longest, self._worst = deque[float](maxlen=_TIMED), 0.0, [0.0, 0.0]

    def note(
        self,
        solve_time: float,
        age: float,
        is_fallback: bool,
        accuracy: tuple[float, float] = (math.nan, math.nan),
        is_inaccurate: bool = False,
    ) -> None:
        """Count a decision that took the solver ``solve_time`` [s], about a state that is ``age`` [s] old."""
        self.decisions += 1
        self.fallbacks += is_fallback
        self.inaccurate += is_inaccurate
        self.accuracy = accuracy
        self._worst = [max(worst, abs(now)) for worst, now in zip(self._worst, accuracy, strict=True)]
        self.late += bool(max(solve_time, age) > self.limit * (1.0 + _ROUNDING))  # NumPy's bool makes a NumPy integer
        self.last, self._longest = solve_time, max(self._longest, solve_time)
        self._times.append(solve_time)

    def as_table(self) -> dict[str, float]:
        """Return counts, the worst accuracy, and times [ms]: median, p99 of the last 10 000 decisions, the longest."""
        median, p99 = np.percentile(self._times, [50, 99]) if self._times else (math.nan, math.nan)
        times = {"median": median, "p99": p99, "max": self._longest if self._times else math.nan}
        counts = {"decisions": self.decisions, "fallbacks": self.fallbacks, "late_decisions": self.late}
        worst = {"inaccurate": self.inaccurate, "estimate_max": self._worst[0], "residual_max": self._worst[1]}
        return {**counts, **worst, **{f"solve_{name}_ms": round(1e3 * float(time), 3) for name, time in times.items()}}


class BalanceLayer(ABC):
    """Layer 2: in this process, behind ports, or of a user's own.

    A class that the registry is to build has a constructor ``(config, robot)``: its ``Config`` and the
    ``RobotDescription``.

    Attributes:
        Config: Dataclass of its table in the configuration; None without one.
        table: Name of that table.
        takes_wrench: Whether it balances by the external wrench of the state; ``PushCompensation`` is for the others,
            ``SidewaysCompensation`` leaves it what it can hold.
        failures: How often an optimisation problem had no solution.
        warning: Why it is not doing its work at present; empty while it is.
        thread_begins: Called first in a thread of its own, if it has one, as to lower its priority; set by the caller.
        time_limit: Within which ``update`` has to return, [s]; set by the caller, infinite in a simulation that waits.
        solver_times: Of a predictive law that counts its decisions; None of the others.
    """

    Config: ClassVar[type | None] = None
    table: ClassVar[str] = ""
    takes_wrench: ClassVar[bool] = False
    failures: int = 0
    warning: str = ""
    time_limit: float = math.inf
    thread_begins: Callable[[], None] | None = None
    solver_times: SolverTimes | None = None

    @classmethod
    def horizon(cls, config: Any) -> tuple[float, int] | None:
        """Return period [s] and count of the preview that it reads; None where it reads none."""
        return None

    @classmethod
    def dcm_horizon(cls, config: Any) -> tuple[float, int] | None:
        """Return period [s] and count of the samples of the planned DCM that it reads; None where it reads none."""
        return None

    @classmethod
    def contact_horizon(cls, config: Any) -> float | None:
        """Return the time for which it reads the contacts of the plan, [s]; None where it reads none."""
        return None

    @classmethod
    def built(cls, config: Any, robot: RobotDescription, compiler: Compiler) -> BalanceLayer:
        """Return the layer; by default by its constructor.

        Args:
            config: ``BalanceConfig``; its ``law`` is the configuration of this class.
            robot: The robot.
            compiler: How its equations become fast.
        """
        return cls(config.law, robot)  # type: ignore[call-arg]

    @property
    def memory(self) -> BalanceMemory | None:
        """State between two ticks; None before the first, and where it keeps none.

        In another process a layer is resumed before each tick from what it returned here after the last one: one that
        integrates or filters and returns None begins again in each tick there.
        """
        return None

    def resume(self, memory: BalanceMemory | None) -> None:
        """Go on from the ``memory`` of another one of the same configuration; None: begin again."""
        if memory is None:
            self.reset()

    def reset(self) -> None:  # noqa: B027 (most have nothing to forget)
        """Begin again: the next commanded CoM starts on its reference."""

    def tune(self, config: Any) -> None:  # noqa: B027 (most keep theirs)
        """Take the live settings of another ``BalanceConfig`` between two ticks; by default none."""

    def work_ahead(self) -> None:  # noqa: B027 (most have answered all)
        """Begin the work that no answer waits for; called when the answer of a tick, or its command, has been sent."""

    def signals(self) -> Mapping[str, float | npt.ArrayLike]:
        """Return numbers and vectors to be logged in each tick, by name; the same names and sizes in all ticks."""
        return {}

    @abstractmethod
    def update(self, state: RobotState, plan: BalancePlan, time: float, period: float) -> BalanceReference:
        """Return the reference of the whole body for the coming ``period`` [s].

        Args:
            state: Estimated. Where ``zmp_is_measured`` is false, no trusted sensor measures the ZMP.
            plan: The plan now and ahead.
            time: Of the control clock, [s].
            period: Until the next update, [s].

        Raises:
            NoSolutionFound: It has no reference; the instantaneous law gives one in its place.
        """


Equations = tuple[dict[str, cs.SX], dict[str, cs.SX]]
"""Inputs and outputs of a law as expressions, by name."""


class DcmLaw:
    """Chooses the ZMP that keeps the divergent component of motion (DCM) on its reference.

    A law states ``equations``, which become a part of the one compiled function of layer 2, or else a method ``zmp``.
    The most derived class decides: where it states ``zmp`` alone, equations of its base class are no part of layer 2.
    A class that the registry is to build has a constructor ``(config, robot)``, as a ``BalanceLayer``.

    Attributes:
        Config: Dataclass of its table in the configuration; None without one.
        table: Name of that table.
        states_equations: Whether its law is ``equations``.
    """

    Config: ClassVar[type | None] = None
    table: ClassVar[str] = ""
    states_equations: ClassVar[bool] = False
    _function: FlatFunction = None  # type: ignore[assignment]  # until `function` is asked for, or attached

    def __init_subclass__(cls) -> None:
        """Note by which of the two a class states its law."""
        super().__init_subclass__()
        if stated := {"equations", "zmp"} & vars(cls).keys():
            cls.states_equations = "equations" in stated

    @classmethod
    def equations(cls) -> Equations:
        """Return the law as expressions.

        Inputs are ``period`` [s] and what ``write`` writes: numbers of the configuration too, so that others need no
        new compilation. The output ``zmp`` is the desired ZMP, world, [m], shape (2,), within the polygon.

        Raises:
            ConfigError: The class states neither equations nor a method ``zmp``.
        """
        raise ConfigError(f"{cls.__name__} states neither equations() nor a method zmp")

    @property
    def function(self) -> FlatFunction:
        """Function that has the equations as a part: that of layer 2, or of the law alone until layer 2 attaches it."""
        if self._function is None:
            name = f"law_{type(self).__name__}"
            self.attach(built_once((DcmLaw, type(self)), lambda: FlatFunction(name, *self.equations())))
        return self._function

    def attach(self, function: FlatFunction) -> None:
        """Take a function that has the equations as a part; a derived class writes the inputs that do not change."""
        self._function = function

    def write(self, state: RobotState, plan: BalancePlan) -> None:
        """Write the inputs of the equations, all but the period; called before them in each tick."""

    def keep(self) -> None:
        """Keep what the next tick needs of the outputs; called after the equations in each tick."""

    @classmethod
    def horizon(cls, config: Any) -> tuple[float, int] | None:
        """Return period [s] and count of the preview that it reads; None where it reads none."""
        return None

    @property
    def decision_period(self) -> float:
        """Decision period where the controller ticks faster, [s]; 0: in each tick."""
        return 0.0

    @property
    def memory(self) -> LawMemory:
        """State between two ticks."""
        return LawMemory(np.zeros(2))

    def resume(self, memory: LawMemory) -> None:
        """Go on from the memory of a law of the same kind."""

    def tune(self, config: Any) -> None:
        """Take the live settings of another instance of its ``Config`` between two ticks; by default none."""

    def reset(self) -> None:
        """Forget the past."""

    def signals(self) -> Mapping[str, float | npt.ArrayLike]:
        """Return numbers and vectors to be logged in each tick, by name; the same names and sizes in all ticks."""
        return {}

    def zmp(self, state: RobotState, plan: BalancePlan, period: float) -> NDArray:
        """Return the desired ZMP (world, [m], shape (2,)), within ``plan.polygon``; by default that of the equations.

        Args:
            state: Estimated; ``dcm_position`` is the measured DCM.
            plan: ``reference.dcm`` is the reference; ``preview`` looks ahead.
            period: Until the next decision, [s].

        Raises:
            NoSolutionFound: It has none: the instantaneous law answers in its place, and the failure is counted.
        """
        function = self.function
        self.write(state, plan)
        function.set(period=period)
        function()
        self.keep()
        return sealed(function.outputs["zmp"].copy())
