"""Bodies without joints: gaits of one or two legs, and their closed loop with the centroidal MPC."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from gradiva.common import GRAVITY, NDArray, NoSolutionFound, from_table, so3
from gradiva.reduced_model import (
    CentroidalBody,
    CentroidalMpcConfig,
    CentroidalSolution,
    CentroidalState,
    ContactPhase,
    ContactPlan,
    com_reference,
)
from gradiva.setup import read_toml

STEP = 1e-3  # [s] of the simulation
CENTROIDAL_PERIOD = 0.05  # [s] between two solutions, between which forces are constant
_LOST = 0.3  # [m] of height over or under the reference, or of a leg beyond its length


def centroidal_config() -> CentroidalMpcConfig:
    """Return the settings of the MPC of the gaits, those of ``centroidal_loop.toml``."""
    path = Path(__file__).with_name("centroidal_loop.toml")
    return from_table(CentroidalMpcConfig, read_toml(path)["centroidal_mpc"], f"{path.name} [centroidal_mpc]")


# -- gaits: bodies and their planned contacts -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Gait:
    """A body with its planned contacts.

    Attributes:
        body: Mass and corners.
        plan: Contacts.
        com_height: Nominal, over the contacts, [m].
        duration: Of the simulation, [s].
    """

    body: CentroidalBody
    plan: ContactPlan
    com_height: float
    duration: float


MASS = 1.0  # [kg] as in the thesis, which says no more of the bodies than this and the size of the foot
HEIGHT = 0.6  # [m] of the CoM
_FOOT = np.array([[0.1, 0.05, 0.0], [0.1, -0.05, 0.0], [-0.1, -0.05, 0.0], [-0.1, 0.05, 0.0]])
_STAND = 0.4  # [s] before the first lift-off
_HOP = np.array([0.15, 0.0, 0.0])  # [m]
_FLIGHT, _STANCE = 0.2, 0.3  # [s] of hopping
_STEP_LENGTH, _WIDTH = 0.2, 0.2  # [m]
_RUN_AT = 1.0  # [s] after which walking becomes running
_SINGLE, _DOUBLE = 0.3, 0.1  # [s] of walking
_RUN_STANCE, _FLIGHT_OF_RUN = 0.3, 0.1  # [s]


_ROOM = 0.04, 0.03  # [m] of a sole on its stepping stone, on either side
_RADIUS = 4.0  # [m] of turning
_AHEAD = 3.0  # [s] of plan after the end, more than any horizon


def hopping(duration: float) -> Gait:
    """Return a point foot that hops ahead for ``duration`` [s]."""
    phases, begin, end, place = [], 0.0, _STAND, np.zeros(3)
    while begin < duration + _AHEAD:
        phases.append(ContactPhase(begin, end, place, np.eye(3)))
        begin, place = end + _FLIGHT, place + _HOP
        end = begin + _STANCE
    return Gait(CentroidalBody(MASS, (np.zeros((1, 3)),)), ContactPlan([phases]), HEIGHT, duration)


def walking_and_running(
    duration: float,
    run_at: float = _RUN_AT,
    single: float = _SINGLE,
    double: float = _DOUBLE,
    length: float = _STEP_LENGTH,
) -> Gait:
    """Return two feet that walk for ``duration`` [s], and run from the first touch-down after ``run_at`` [s] on."""
    phases: list[list[ContactPhase]] = [[], []]
    places = [np.array([0.0, side * _WIDTH / 2.0, 0.0]) for side in (1.0, -1.0)]
    phases[0].append(ContactPhase(0.0, _STAND, places[0], np.eye(3)))
    begins, landing, side = [0.0, 0.0], _STAND + single, 0
    while landing < duration + _AHEAD:
        runs, other = landing >= run_at, 1 - side
        lift_off = landing - _FLIGHT_OF_RUN if runs else landing + double
        phases[other].append(ContactPhase(begins[other], lift_off, places[other], np.eye(3)))
        places[side] = np.array([places[other][0] + length, places[side][1], 0.0])
        begins[side], side = landing, other
        landing += _RUN_STANCE + _FLIGHT_OF_RUN if runs else single + double
    last = 1 - side
    phases[last].append(ContactPhase(begins[last], math.inf, places[last], np.eye(3)))
    return Gait(CentroidalBody(MASS, (_FOOT, _FOOT)), ContactPlan(phases), HEIGHT, duration)


def stepping_stones(duration: float) -> Gait:
    """Return two feet that walk over stones for ``duration`` [s], each a few centimetres larger than the sole on it."""
    walk, random, room = walking_and_running(duration, run_at=math.inf), np.random.default_rng(0), np.array(_ROOM)
    half_sizes = _FOOT[:, :2].max(axis=0) + room

    def on_stone(phase: ContactPhase) -> ContactPhase:
        centre = phase.position + np.append(random.uniform(-0.5, 0.5, 2) * room, 0.0)
        return phase.on_stone(centre, half_sizes, _FOOT)

    phases = [[each[0], *map(on_stone, each[1:])] for each in walk.plan.phases]
    return replace(walk, plan=ContactPlan(phases))


def turning(duration: float) -> Gait:
    """Return 35 kg on larger soles that walk, then run after 3 s, to the left about a circle of 4 m."""
    straight, soles = walking_and_running(duration, run_at=3.0), _FOOT * [1.2, 0.8, 1.0] + [0.02, 0.0, 0.0]
    phases = [[_on_circle(phase) for phase in each] for each in straight.plan.phases]
    return Gait(CentroidalBody(35.0, (soles, soles)), ContactPlan(phases), 0.55, duration)


def _on_circle(phase: ContactPhase) -> ContactPhase:
    """Return a phase whose way ahead is an arc about (0, 4, 0) m."""
    angle, radius = phase.position[0] / _RADIUS, _RADIUS - phase.position[1]
    position = np.array([radius * math.sin(angle), _RADIUS - radius * math.cos(angle), 0.0])
    return replace(phase, position=position, rotation=so3.rotation_z(angle))


# -- closed loop -------------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class CentroidalRun:
    """A simulated gait, one row a solution; world.

    Attributes:
        gait: Body and plan.
        times: [s].
        com: [m].
        com_reference: [m].
        contacts: [m], shape (contacts, 3) each.
        forces: On the corners, [N], shape (corners, 3) each.
        active: Contacts on the ground.
        landings: Time, contact, planned phase and adjusted position of each touch-down.
        durations: Of the solutions, [s].
        fallbacks: Solutions that were the last one, shifted.
        reason: Why it ended early; empty where it did not.
    """

    gait: Gait
    times: list[float] = field(default_factory=list)
    com: list[NDArray] = field(default_factory=list)
    com_reference: list[NDArray] = field(default_factory=list)
    contacts: list[NDArray] = field(default_factory=list)
    forces: list[NDArray] = field(default_factory=list)
    active: list[NDArray] = field(default_factory=list)
    landings: list[tuple[float, int, ContactPhase, NDArray]] = field(default_factory=list)
    durations: list[float] = field(default_factory=list)
    fallbacks: int = 0
    reason: str = ""

    def adjustments(self, begin: float, end: float) -> NDArray:
        """Return distances of nominal and adjusted contacts that landed between two times [s], [m], shape (n,)."""
        counted = [there - phase.position for at, _, phase, there in self.landings if begin <= at < end]
        return np.array([np.linalg.norm(moved) for moved in counted])

    @property
    def overhang(self) -> float:
        """Largest distance of a landing from its allowed box, along an axis of the contact, [m]; 0: none was off."""
        beyond = [0.0]
        for _, _, phase, there in self.landings:
            offset = phase.rotation.T @ (there - phase.position)
            beyond += [float((phase.allowed[0] - offset).max()), float((offset - phase.allowed[1]).max())]
        return max(beyond)

    @property
    def recovery_error(self) -> float:
        """Distance of the CoM from its reference in the end, [m]."""
        return float(np.linalg.norm(self.com[-1] - self.com_reference[-1]))


Force = Callable[[float], NDArray]
"""Force on the CoM at a time [s], world, [N], shape (3,)."""


class CentroidalPlant:
    """Centroidal dynamics integrated in steps of 1 ms, with corner forces constant between two solutions."""

    def __init__(self, gait: Gait, com_position: NDArray) -> None:
        """Begin at rest on the nominal contacts."""
        self._body, self._plan = gait.body, gait.plan
        self._corners, self._owners = np.vstack(gait.body.corners), gait.body.owners
        preview = gait.plan.preview(np.array([0.0, STEP]))
        still = np.zeros(3)
        self.state = CentroidalState(com_position, still, still, preview.positions[0])

    def advance(self, now: float, duration: float, solution: CentroidalSolution, push: Force) -> None:
        """Apply the first forces and contact velocities of a solution for ``duration`` [s]."""
        x, v, spin = self.state.com_position, self.state.com_velocity, self.state.angular_momentum
        contacts, forces = self.state.contact_positions, solution.corner_forces[0]
        rotations = self._plan.preview(np.array([now, now + duration])).rotations[0, self._owners]
        levers = (rotations @ self._corners[:, :, None])[:, :, 0]
        for count in range(round(duration / STEP)):
            external = push(now + STEP * count)
            acceleration = (forces.sum(axis=0) + external) / self._body.mass - [0.0, 0.0, GRAVITY]
            middle = x + 0.5 * STEP * v
            spin = spin + STEP * np.cross(contacts[self._owners] + levers - middle, forces).sum(axis=0)
            x, v = x + STEP * v + 0.5 * STEP**2 * acceleration, v + STEP * acceleration
            contacts = contacts + STEP * solution.contact_velocities[0]
        self.state = CentroidalState(x, v, spin, contacts)


Solve = Callable[[float, CentroidalState, NDArray], CentroidalSolution]
"""Called every period with time, state and external wrench."""


def simulate_gait(gait: Gait, solve: Solve, push: Force) -> CentroidalRun:
    """Run plant and MPC in closed loop until the end of the gait, or until the body is lost."""
    reference = com_reference(gait.plan, gait.com_height)
    run, plant = CentroidalRun(gait), CentroidalPlant(gait, reference(np.zeros(1))[0])
    landings = gait.plan.landings()
    for count in range(round(gait.duration / CENTROIDAL_PERIOD)):
        now, state = CENTROIDAL_PERIOD * count, plant.state
        while landings and landings[0][1].begin <= now + 1e-9:
            contact, phase = landings.pop(0)
            run.landings.append((now, contact, phase, state.contact_positions[contact]))
        begin = time.perf_counter()
        try:
            solution = solve(now, state, np.concatenate((push(now), np.zeros(3))))
        except NoSolutionFound as error:
            run.reason = f"{now:.2f} s: {error}"
            break
        run.durations.append(time.perf_counter() - begin)
        run.fallbacks += solution.is_fallback
        _keep(run, now, state, reference(np.array([now]))[0], solution)
        height = float(state.com_position[2] - run.com_reference[-1][2])
        if abs(height) > _LOST:
            run.reason = f"{now:.2f} s: the CoM is {height:+.2f} m from its height"
            break
        plant.advance(now, CENTROIDAL_PERIOD, solution, push)
    return run


def _keep(
    run: CentroidalRun, now: float, state: CentroidalState, reference: NDArray, found: CentroidalSolution
) -> None:
    run.times.append(now)
    run.com.append(state.com_position)
    run.com_reference.append(reference)
    run.contacts.append(state.contact_positions)
    run.forces.append(found.corner_forces[0])
    run.active.append(found.active[0])
