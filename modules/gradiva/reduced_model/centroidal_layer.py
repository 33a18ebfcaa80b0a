"""Layer 2 by the centroidal MPC: from its forces and contacts to ZMP, wrenches of the feet and footholds."""

from __future__ import annotations

import logging
import math
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradiva.blf import Backend
from gradiva.common import (
    GRAVITY,
    TIME_ROUNDING,
    ConfigError,
    NDArray,
    NoSolutionFound,
    PlanarPose,
    PlannedContact,
    RobotState,
    Side,
    WalkingReference,
    altered,
    configuration,
    setting,
    so3,
)
from gradiva.reduced_model.blf_mpc import BlfCentroidalMpc
from gradiva.reduced_model.centroidal_mpc import (
    PROBLEM,
    CentroidalMpc,
    CentroidalMpcConfig,
    CentroidalSolution,
    CentroidalState,
    InputMemory,
)
from gradiva.reduced_model.centroidal_problem import CentroidalBody
from gradiva.reduced_model.contact_plan import ComReference, ContactPhase, ContactPlan
from gradiva.robot_model import Compiler, RobotDescription, interpreted
from gradiva.simplified_model import (
    BalanceLayer,
    BalancePlan,
    BalanceReference,
    DcmController,
    DcmLaw,
    FallbackLaw,
    GainSchedule,
    LawMemory,
    SimplifiedModelControl,
    SolverTimes,
)

_LOGGER = logging.getLogger("gradiva.walking")
_SAMPLE = 0.02  # [s] of the planned DCM, from which the CoM reference is integrated
_HORIZON_FACTOR = 1.5  # [-] longest horizon over the nominal one
_SHORTEST = 0.5  # [-] of an interval, over which ZMPs are compared
_LEAST_LOAD = 1e-3  # [N] of the soles in an interval, against a division by zero
_MEMORY = 5  # numbers of ``CentroidalLaw.memory``
_REMEMBERED = 100  # memories of its own that it knows again: two seconds of decisions
_JUMP = 1e-3  # [m] of the planned DCM between two ticks: the plan has changed


_DECISION_PERIOD = 0.02  # [s] between two solutions; faster ticks hold the correction of the ZMP
_MAX_SILENCE = 1.0  # [s]
"""Without a decision in time: a warning in the log; without any: the robot finishes the step and stands."""
_SOLE_MARGIN = 0.005  # [m] kept by the corners of a contact from the sides of the sole: one rocks about its edge
_FIRST_MOVE = 0.025  # [m]
"""Of a foothold, below which it stays as planned: iCub v3 has 0.03 inward; with 0.01 the law moves steps by torque on
the robot plant, until it falls.
"""
_MINIMUM_MOVE = 0.01  # [m] of a foothold that has been moved in this swing: soles land 3 to 8 mm off anyhow (rms)
_FROZEN = 0.1  # [s] before touch-down, in which it stays: the planner's 0.06, and two periods of a decision


@configuration
class CentroidalWalkingConfig:
    """Settings of layer 2 by the centroidal MPC.

    Attributes:
        toe_margin: The same from toe and heel, over which a robot tips before it steps, [m].
        gives_wrenches: Whether layer 3 gets the wrenches of the MPC; otherwise those of a pendulum with its ZMP,
            which are smooth.
        mpc: The MPC.
        backend: Who solves it: ``gradiva``, or ``blf`` for bipedal-locomotion-framework in an interpreter of its own.

    Raises:
        ConfigError: A time is not positive, or a distance is negative.
    """

    toe_margin: float = setting("m", least=0.0)
    gives_wrenches: bool
    mpc: CentroidalMpcConfig
    backend: Backend = Backend.GRADIVA

    @property
    def horizon(self) -> float:
        """For which the plan is read, [s]: intervals are as long as its phases make them."""
        return _HORIZON_FACTOR * self.mpc.samples * self.mpc.period


class CentroidalModelControl(SimplifiedModelControl):
    """Nonlinear predictive control of the centroidal momentum (thesis 11.1.15).

    It chooses the forces of the feet and their footholds over the next two steps, at its own rate; in between its
    correction of the planned ZMP is held. The ZMP-CoM law follows that ZMP as it follows the one of a DCM law. Without
    a decision in time the instantaneous law balances, without a solution for longer than is tolerated with a
    ``warning``: the robot finishes the step and stands.
    """

    Config = CentroidalWalkingConfig
    table = "centroidal_walking"
    takes_wrench = True

    def __init__(
        self, law: CentroidalLaw, fallback: DcmLaw, gains: GainSchedule, compiler: Compiler = interpreted
    ) -> None:
        """Take the laws and the gains of the ZMP-CoM law; ``compiler`` makes the equations fast."""
        super().__init__(FallbackLaw(law, fallback), gains, compiler)
        self.law, self.solver_times = law, law.solver_times

    @property
    def failures(self) -> int:  # type: ignore[override]
        """See ``BalanceLayer.failures``; also those in whose place the last solution was shifted."""
        return self.law.failures

    @property
    def time_limit(self) -> float:
        """See ``BalanceLayer.time_limit``."""
        return self.law.time_limit

    @time_limit.setter
    def time_limit(self, limit: float) -> None:
        self.law.time_limit = limit

    def work_ahead(self) -> None:
        """See ``BalanceLayer.work_ahead``: find the solution that is due."""
        self.law.work_ahead(self.thread_begins)

    @classmethod
    def built(cls, config: Any, robot: RobotDescription, compiler: Compiler) -> BalanceLayer:
        """See ``BalanceLayer.built``."""
        zmp_com = config.zmp_com_controller
        gains = GainSchedule(zmp_com.walking, zmp_com.standing)
        steps = config.longest_step, config.narrowest_step
        law = CentroidalLaw(config.law, robot, *steps, compiler, config.blf_python)
        return cls(law, DcmController(config.dcm_controller), gains, compiler)

    @classmethod
    def dcm_horizon(cls, config: CentroidalWalkingConfig) -> tuple[float, int]:
        """See ``BalanceLayer.dcm_horizon``."""
        return _SAMPLE, math.ceil(config.horizon / _SAMPLE)

    @classmethod
    def contact_horizon(cls, config: CentroidalWalkingConfig) -> float:
        """See ``BalanceLayer.contact_horizon``."""
        return config.horizon

    def update(self, state: RobotState, plan: BalancePlan, time: float, period: float) -> BalanceReference:
        """See ``BalanceLayer.update``.

        Raises:
            EstimationError: The state is not finite.
        """
        desired = super().update(state, plan, time, period)
        self.warning = self.law.failure
        is_its_zmp = not (self.warning or self.law.is_late)
        gives_wrenches = self.law.config.gives_wrenches and is_its_zmp
        wrenches = self.law.foot_wrenches(plan) if gives_wrenches else None
        if wrenches is None and self.law.targets is None:
            return desired
        acceleration = desired.com_acceleration if wrenches is None else self.law.acceleration(*wrenches)
        return altered(desired, com_acceleration=acceleration, foot_wrenches=wrenches, contact_targets=self.law.targets)


Targets = tuple[PlanarPose | None, PlanarPose | None]
"""Where the left and the right foot should land."""


@dataclass(frozen=True, slots=True, eq=False)
class _Decision:
    """Answer of the MPC.

    Attributes:
        solution: Its trajectory.
        inputs: From which it goes on.
        correction: Of the planned ZMP, world, [m], shape (2,).
        targets: Where the feet should land; None: where they are planned.
        moved: Touch-down of the last step that it has moved, [s].
    """

    solution: CentroidalSolution
    inputs: InputMemory
    correction: NDArray
    targets: Targets | None
    moved: float


class CentroidalLaw(DcmLaw):
    r"""Chooses the ZMP by the centroidal MPC.

    The MPC divides time into intervals of a tenth of a second, the ticks are faster and the planned ZMP is smooth, so
    its answer is taken as a correction of the plan. With :math:`\bar z` the constant ZMP that moves the DCM as the
    forces do until a node that is half an interval or more ahead, and :math:`\bar z_r` the one that moves the planned
    DCM over the same time, :math:`z^*(t) = \Pi [z_r(t) + \bar z - \bar z_r]`.

    Its CoM reference is that of the plan, which its own dynamics can follow. It begins without angular momentum: that
    of the swinging leg ends with the swing, and the leg would fight against damping it. An external wrench
    counts once: what ``SidewaysCompensation`` shifts the state by it takes away from the wrench, which the MPC takes.

    Attributes:
        config: Its settings.
        failures: How often the MPC had no solution.
        targets: Where the left and the right foot should land, of a decision in this tick that moves one; None: where
            they are planned.
        solution: Of the last decision in this process; None before it.
        solver_times: Of the decisions in this process.
        is_late: Whether there is no decision in time about the present plan: the instantaneous law balances.
    """

    def __init__(
        self,
        config: CentroidalWalkingConfig,
        robot: RobotDescription,
        longest_step: float,
        narrowest_step: float,
        compiler: Compiler = interpreted,
        blf_python: str = "",
    ) -> None:
        """Build the MPC.

        Args:
            config: Its settings.
            robot: Mass and soles.
            longest_step: Largest distance of the sole frames in double support, [m].
            narrowest_step: Least lateral distance of the sole frames there, [m].
            compiler: How the MPC's function becomes fast.
            blf_python: Interpreter of bipedal-locomotion-framework, as ``blf.python``.

        Raises:
            ConfigError: The margin leaves nothing of the sole, or the framework is missing.
        """
        sole = robot.sole
        if 2.0 * config.toe_margin >= sole.length or sole.width <= 2.0 * _SOLE_MARGIN:
            raise ConfigError(
                f"toe_margin={config.toe_margin} m leaves nothing of a sole of {sole.length} m x {sole.width} m",
                ["centroidal_walking.toe_margin"],
            )
        (heel, toe), (right, left), (ahead, beside) = sole.x, sole.y, (config.toe_margin, _SOLE_MARGIN)
        inner = replace(sole, x=(heel + ahead, toe - ahead), y=(right + beside, left - beside))
        corners = (inner.corners(side) for side in Side)
        soles = tuple(np.column_stack((each, np.full(len(each), sole.z))) for each in corners)
        self.config, self._longest, self._narrowest = config, longest_step, narrowest_step
        self._body = CentroidalBody(robot.mass, soles)
        self.mpc: CentroidalMpc | BlfCentroidalMpc
        if config.backend is Backend.BLF:
            self.mpc = BlfCentroidalMpc(config.mpc, self._body, blf_python)
        else:
            self.mpc = CentroidalMpc(config.mpc, self._body, compiler)
        self._window, self.time_limit = _DECISION_PERIOD, math.inf
        self.solver_times = SolverTimes(_DECISION_PERIOD)
        self._executor: ThreadPoolExecutor | None = None
        self._due: tuple[RobotState, BalancePlan] | None = None  # of a decision that waits for the end of the tick
        self.running: Future[_Decision] | None = None
        self.reset()

    @property
    def time_limit(self) -> float:
        """Time within which a tick has to answer, [s].

        One that is shorter than the MPC's deadline lets a thread find the solutions, which count a tick or two later.
        It begins when the tick has answered (``work_ahead``), for both share Python's interpreter.
        An infinite one, of a simulation that waits, is no deadline either: the walk does not depend on the machine.
        """
        return self._time_limit

    @time_limit.setter
    def time_limit(self, limit: float) -> None:
        self._time_limit = limit
        self.mpc.deadline = self.config.mpc.deadline if math.isfinite(limit) else math.inf

    @property
    def failures(self) -> int:
        """See ``BalanceLayer.failures``."""
        return self.mpc.failures

    def reset(self) -> None:
        """See ``DcmLaw.reset``."""
        self.give_up()
        self.mpc.reset()
        self._next, self._moved = -math.inf, 0.0  # when it decides, and the touch-down of the last step that it moved
        self._last: WalkingReference | None = None  # of the last tick
        self._is_stale = False  # the plan has changed since the last decision began
        self._changed = -math.inf  # when it did, [s]
        self.is_late = False
        self._silence = self._lateness = 0.0  # [s] without any decision, and without one in time
        self._correction = np.zeros(2)
        self._inputs: InputMemory | None = None  # of the last solution in this process
        self._decided: float | None = None  # time of the state on which the held decision is based, [s]
        self._own = deque([b""], _REMEMBERED)  # of the memories that it has handed out
        self._failure: NoSolutionFound | None = None
        self._had_warning = False  # of the last decision
        self.targets: Targets | None = None
        self.solution: CentroidalSolution | None = None

    @property
    def failure(self) -> str:
        """Why there has been no solution for longer than is tolerated; empty while there is one."""
        if self._failure is None and self._silence > _MAX_SILENCE:
            return f"{PROBLEM}: no decision for {_MAX_SILENCE:g} s"
        return "" if self._failure is None else str(self._failure)

    @property
    def memory(self) -> LawMemory:
        """See ``DcmLaw.memory``: times of the next and of the last decision, and its correction.

        The last solution is no part of it: it would double the time that a message takes, and the next one is found
        without it, in a few milliseconds more.
        """
        if self._decided is None:
            return LawMemory(np.zeros(2))
        memory = LawMemory(np.zeros(2), state=np.array((self._next, self._decided, self._moved, *self._correction)))
        if (key := memory.state.tobytes()) != self._own[-1]:
            self._own.append(key)
        return memory

    def resume(self, memory: LawMemory) -> None:
        """See ``DcmLaw.resume``; from a memory of its own it goes on, with the solution that is being found.

        It may be an older one: an answer that came too late was not heard.
        """
        if (key := memory.state.tobytes()) in self._own:
            return
        self.reset()
        if len(memory.state) != _MEMORY:  # of the law that balanced before
            return
        self._next, self._decided, self._moved = memory.state[:3].tolist()
        self._correction = memory.state[3:]
        self._own.append(key)

    def zmp(self, state: RobotState, plan: BalancePlan, period: float) -> NDArray:
        """See ``DcmLaw.zmp``."""
        try:
            self._update(state, plan, period)
        except NoSolutionFound as error:
            self._failure = error
        if self._failure is not None:
            raise self._failure
        self._note_lateness(plan.reference.time, period)
        if self.is_late:
            raise NoSolutionFound(PROBLEM, "no decision in time")
        return plan.polygon.project(plan.reference.dcm.zmp_position + self._correction)

    def _update(self, state: RobotState, plan: BalancePlan, period: float) -> None:
        """Decide where that is due, or take over what the thread has found."""
        reference, self.targets = plan.reference, None
        is_due = reference.time >= self._next - TIME_ROUNDING or reference.time < self._next - 2.0 * self._window
        if self._has_changed(reference):
            self._is_stale, self._changed = True, reference.time
        self.work_ahead()
        if self.running is not None:
            if self.running.done():
                found, self.running = self.running, None
                self._take(found.result(), reference.time)
        elif is_due or self._is_stale:
            self._is_stale = False
            self._window = max(_DECISION_PERIOD, period)
            self._next = reference.time + self._window
            if self.time_limit < self.mpc.limit:
                self._due = state, plan
            else:
                self._take(self._decide(state, plan), reference.time)

    def _has_changed(self, reference: WalkingReference) -> bool:
        """Return whether the planned DCM jumps: a correction of the plan before it is none of the new one."""
        last, self._last = self._last, reference
        if last is None:
            return False
        expected = last.dcm.position + (reference.time - last.time) * last.dcm.velocity
        return float(np.abs(reference.dcm.position - expected).max()) > _JUMP

    def _note_lateness(self, time: float, period: float) -> None:
        """Note whether there is a decision in time, and log the beginning and the end of a long time without one."""
        limit, was_long = _MAX_SILENCE, self._lateness > _MAX_SILENCE
        self.is_late = not self._is_current(time)
        self._silence += period
        if not self.is_late and was_long:
            _LOGGER.info("%s: decisions are in time again, after %.1f s", PROBLEM, self._lateness)
        self._lateness = self._lateness + period if self.is_late else 0.0
        if self._lateness > limit and not was_long:
            _LOGGER.warning("%s: no decision in time for %g s; the instantaneous law balances", PROBLEM, limit)

    def _is_current(self, time: float) -> bool:
        """Return whether the decision that is held is one about the present plan, and not older than ``max_age``."""
        begin = self._decided
        if begin is None:
            return False
        return time - begin <= self.mpc.max_age + TIME_ROUNDING and begin >= min(self._changed, time) - TIME_ROUNDING

    def work_ahead(self, thread_begins: Callable[[], None] | None = None) -> None:
        """Begin to find the solution that is due, in the thread, which calls ``thread_begins`` first."""
        if self._due is not None:
            self._executor = self._executor or ThreadPoolExecutor(1, "centroidal_mpc", thread_begins)
            self.running, self._due = self._executor.submit(self._decide, *self._due), None

    def give_up(self) -> None:
        """Wait for the solution that is being found, and forget it."""
        self._due = None
        if self.running is not None:
            wait([self.running])
            self.running = None

    def _take(self, found: _Decision, time: float) -> None:
        """Hold a decision from ``time`` [s] on."""
        solution = found.solution
        is_inaccurate = bool(solution.warning) and not solution.is_fallback
        age = time - solution.times[0]
        self.solver_times.note(solution.solve_time, age, solution.is_fallback, solution.accuracy, is_inaccurate)
        if solution.warning and not self._had_warning:
            _LOGGER.warning("%s: %s", PROBLEM, solution.warning.removeprefix(f"{PROBLEM}: "))
        self._had_warning = bool(solution.warning)
        self._failure, self._silence = None, 0.0
        self.solution, self._inputs, self._correction = solution, found.inputs, found.correction
        self._decided = float(solution.times[0])
        if self._is_current(time):
            self.targets, self._moved = found.targets, found.moved
        self._next = solution.times[0] + self._window

    def _decide(self, state: RobotState, plan: BalancePlan) -> _Decision:
        """Return a decision; it may run in the thread, so it changes the MPC alone.

        Raises:
            EstimationError: The state is not finite.
            NoSolutionFound: For longer than is tolerated, or at the first decision.
        """
        time, config = plan.reference.time, self.config
        dcm = plan.dcm_ahead(*CentroidalModelControl.dcm_horizon(config))
        contacts = plan.contacts(config.horizon)
        solution = self.mpc.update(
            time,
            self._state(state, plan, contacts),
            self._contact_plan(contacts),
            _com_reference(plan, dcm),
            state.external_wrench,
        )
        rate = plan.reference.dcm.divergence_rate
        ahead = solution.times[1:] - time
        span = float(ahead[int(np.argmax(ahead >= _SHORTEST * config.mpc.period))])  # until a node
        correction = self._mean_zmp(solution, contacts, span, rate) - _planned_zmp(dcm, span, rate)
        landings = self._landings(solution, contacts)
        assert self.mpc.memory is not None, "it has a solution"
        return _Decision(solution, self.mpc.memory, correction, *(landings or (None, self._moved)))

    def _state(self, state: RobotState, plan: BalancePlan, contacts: tuple[PlannedContact, ...]) -> CentroidalState:
        """Return CoM and velocity as measured, feet as planned: the world of the estimate is that of the plan."""
        feet = []
        for side in Side:
            first = next(contact for contact in contacts if contact.side is side)
            foot = plan.reference.foot(side)
            height = (foot.position - first.position) @ first.rotation[:, 2]
            feet.append(first.position if foot.in_contact else foot.position - height * first.rotation[:, 2])
        return CentroidalState(state.com_position, state.com_velocity, np.zeros(3), np.stack(feet))

    def _contact_plan(self, contacts: tuple[PlannedContact, ...]) -> ContactPlan:
        """Return the plan of left and right foot, with the landings that the legs reach."""
        phases: list[list[ContactPhase]] = [[], []]
        for contact in contacts:
            end = math.inf if contact.end is None else contact.end
            allowed = self._reach(contact, _contact_of(contacts, contact.side.other, contact.begin))
            phase = ContactPhase(contact.begin, end, contact.position, contact.rotation, allowed)
            phases[contact.side is Side.RIGHT].append(phase)
        return ContactPlan(phases)

    def _reach(self, landing: PlannedContact, stance: PlannedContact) -> NDArray:
        """Return the box of a landing less the planned one, along the axes of the contact, [m], shape (2, 3).

        It is as long and as wide as the longest step allows from the planned landing, and keeps the feet apart.
        """
        ahead, beside, _ = landing.rotation.T @ (landing.position - stance.position)
        sign, beside = landing.side.sign, abs(beside)
        longest = math.sqrt(max(0.0, self._longest**2 - beside**2))
        widest = math.sqrt(max(0.0, self._longest**2 - ahead**2))
        inner, outer = min(0.0, self._narrowest - beside), max(0.0, widest - beside)
        lateral = sorted((sign * inner, sign * outer))
        ahead = float(np.clip(ahead, -longest, longest))
        return np.array([[-longest - ahead, lateral[0], -math.inf], [longest - ahead, lateral[1], math.inf]])

    def _mean_zmp(
        self, solution: CentroidalSolution, contacts: tuple[PlannedContact, ...], duration: float, rate: float
    ) -> NDArray:
        """Return the constant ZMP that moves the DCM as that of a solution over its first ``duration`` [s].

        Args:
            solution: Forces and contacts.
            contacts: Of the plan.
            duration: [s].
            rate: At which the DCM diverges, [1/s].
        """
        owners = self._body.owners
        weights = -np.diff(np.exp(-rate * np.clip(solution.times - solution.times[0], 0.0, duration)))
        total = np.zeros(2)
        for k in np.flatnonzero(weights > 0.0):
            places, loads = [], []
            for foot, corners in enumerate(self._body.corners):
                rotation = _contact_of(contacts, tuple(Side)[foot], solution.times[k]).rotation
                places.append(solution.contact_positions[k, foot] + corners @ rotation.T)
                loads.append(solution.corner_forces[k, owners == foot] @ rotation[:, 2])
            load = np.concatenate(loads)
            total += weights[k] * (load @ np.concatenate(places))[:2] / max(load.sum(), _LEAST_LOAD)
        mean: NDArray = total / weights.sum()
        return mean

    def _landings(
        self, solution: CentroidalSolution, contacts: tuple[PlannedContact, ...]
    ) -> tuple[Targets, float] | None:
        """Return landing and touch-down [s] of the foot in the air; None where it lands there already, or too soon."""
        time = solution.times[0]
        for foot, side in enumerate(Side):
            landing = _contact_of(contacts, side, time)
            if landing.begin <= time:
                continue
            node = int(np.argmax(solution.active[:, foot]))
            x, y = solution.contact_positions[node, foot, :2]
            least = _MINIMUM_MOVE if self._moved == landing.begin else _FIRST_MOVE
            is_moved = math.hypot(x - landing.position[0], y - landing.position[1]) > least
            if not is_moved or landing.begin - time < _FROZEN or not solution.active[node, foot]:
                return None
            pose = PlanarPose(float(x), float(y), so3.yaw(landing.rotation))
            return ((pose, None) if side is Side.LEFT else (None, pose)), landing.begin
        return None

    def foot_wrenches(self, plan: BalancePlan) -> tuple[NDArray, NDArray] | None:
        """Return the wrenches of the ground on left and right foot, about their planned origins, [N, N·m]."""
        memory, reference = self._inputs, plan.reference
        if memory is None:
            return None
        k = int(np.clip(np.searchsorted(memory.times, reference.time, side="right") - 1, 0, len(memory.forces) - 1))
        wrenches = []
        for foot, side in enumerate(Side):
            standing = reference.foot(side)
            forces = self._body.mass * memory.forces[k, self._body.owners == foot] * standing.in_contact
            levers = self._body.corners[foot] @ standing.rotation.T
            wrenches.append(np.concatenate((forces.sum(axis=0), np.cross(levers, forces).sum(axis=0))))
        return wrenches[0], wrenches[1]

    def acceleration(self, left: NDArray, right: NDArray) -> NDArray:
        """Return the acceleration of the CoM by the wrenches of both feet ([m/s²], shape (3,))."""
        acceleration: NDArray = (left[:3] + right[:3]) / self._body.mass - np.array([0.0, 0.0, GRAVITY])
        return acceleration


def _contact_of(contacts: tuple[PlannedContact, ...], side: Side, time: float) -> PlannedContact:
    """Return the contact of a foot that lasts at ``time`` [s], or its next one."""
    of_foot = [contact for contact in contacts if contact.side is side]
    lasting = (contact for contact in of_foot if contact.end is None or time < contact.end - TIME_ROUNDING)
    return next(lasting, of_foot[-1])


def _planned_zmp(dcm: NDArray, duration: float, rate: float) -> NDArray:
    """Return the constant ZMP that moves the planned DCM over the first ``duration`` [s] ([m], shape (2,))."""
    whole, rest = divmod(duration / _SAMPLE + TIME_ROUNDING, 1.0)
    first = dcm[int(whole)]
    ahead = first + rest * (dcm[int(whole) + 1] - first)
    growth = math.exp(rate * duration)
    zmp: NDArray = (ahead - growth * dcm[0]) / (1.0 - growth)
    return zmp


def _com_reference(plan: BalancePlan, dcm: NDArray) -> ComReference:
    r"""Return the planned CoM, which follows the DCM by :math:`\dot x = \zeta (\xi - x)`.

    Between two samples the DCM is a line. The height above the contact plane is that of now.
    """
    reference, period = plan.reference, _SAMPLE
    zeta = reference.dcm.natural_frequency
    lag = np.diff(dcm, axis=0) / (zeta * period)
    decays = np.exp(-zeta * period * np.arange(len(dcm)))
    inputs = np.vstack((reference.com_position[:2], dcm[1:] - lag - decays[1] * (dcm[:-1] - lag)))
    com = np.column_stack([np.convolve(axis, decays)[: len(dcm)] for axis in inputs.T])  # x' = decay x + input
    normal = reference.foot(reference.stance_foot).rotation[:, 2]
    rise = -(com - com[0]) @ normal[:2] / normal[2]
    path = np.column_stack((com, reference.com_position[2] + rise))
    grid = reference.time + period * np.arange(len(dcm))
    return lambda times: np.column_stack([np.interp(times, grid, axis) for axis in path.T])
