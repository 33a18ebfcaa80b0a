"""Centroidal MPC: closed forms of its dynamics, both solvers, symmetries of the world, limits, fallback."""

import math
from dataclasses import replace

import casadi as cs
import numpy as np
import pytest

from gradiva.common import ConfigError, EstimationError, NoSolutionFound, PlanningError, so3
from gradiva.reduced_model import (
    CentroidalBody,
    CentroidalMpc,
    CentroidalState,
    CentroidalWeights,
    ContactPhase,
    ContactPlan,
    com_reference,
)
from gradiva.simulated_walk import centroidal_config
from tests.conftest import long

CONFIG = replace(centroidal_config(), deadline=60.0)
EXACT = replace(CONFIG, solver="ipopt", tolerance=1e-8)
SOLE = np.array([[0.1, 0.05, 0.0], [0.1, -0.05, 0.0], [-0.1, -0.05, 0.0], [-0.1, 0.05, 0.0]])
BODY = CentroidalBody(30.0, (SOLE, SOLE))
HEIGHT = 0.6
STAND, ZERO = np.eye(3), np.zeros(3)


def walk(turn=STAND, shift=ZERO, mirror=1.0):
    """Two feet that walk: single support 0.4 s, double support 0.2 s, the left one first."""
    feet = [np.array([0.0, 0.1, 0.0]), np.array([0.0, -0.1, 0.0])]
    phases, begins, lift_off = ([], []), [0.0, 0.0], 0.4
    for step in range(6):
        side = step % 2
        phases[side].append((begins[side], lift_off, feet[side]))
        feet[side] = np.array([0.2 * (step + 1), feet[side][1], 0.0])
        begins[side], lift_off = lift_off + 0.4, lift_off + 0.6
    for each, begin, place in zip(phases, begins, feet, strict=True):
        each.append((begin, math.inf, place))
    flip = np.array([1.0, mirror, 1.0])
    contacts = [[ContactPhase(b, e, turn @ (flip * p) + shift, turn) for b, e, p in each] for each in phases]
    return ContactPlan(contacts)


def state_of(plan, velocity=ZERO, offset=ZERO, momentum=ZERO, time=0.0):
    preview = plan.preview(np.array([time, time + 0.1]))
    com = com_reference(plan, HEIGHT)(np.array([time]))[0]
    return CentroidalState(com + offset, velocity, momentum, preview.positions[0])


def update(mpc, plan, state, time=0.0, wrench=None):
    return mpc.update(time, state, plan, com_reference(plan, HEIGHT), wrench)


@pytest.fixture(scope="module")
def mpc():
    return CentroidalMpc(CONFIG, BODY)


@pytest.fixture(scope="module")
def exact():
    return CentroidalMpc(EXACT, BODY)


@pytest.fixture(autouse=True)
def _begins_again(mpc, exact):
    mpc.reset()
    exact.reset()


# -- dynamics ----------------------------------------------------------------------------------------------------------


def test_a_body_in_flight_falls_as_a_stone_and_keeps_its_angular_momentum():
    plan = ContactPlan([[ContactPhase(-2.0, -1.0, np.zeros(3), STAND), ContactPhase(9.0, 10.0, np.zeros(3), STAND)]])
    mpc = CentroidalMpc(CONFIG, CentroidalBody(2.0, (SOLE,)))
    state = CentroidalState([0.1, 0.2, 1.0], [0.3, -0.4, 2.0], [0.01, 0.02, 0.03], np.zeros((1, 3)))
    found = mpc.update(0.03, state, plan, lambda times: np.zeros((len(times), 3)))
    t = (found.times - 0.03)[:, None]
    fall = state.com_position + t * state.com_velocity - 0.5 * 9.81 * t**2 * [0.0, 0.0, 1.0]
    np.testing.assert_allclose(found.com_positions, fall, atol=1e-12)
    np.testing.assert_allclose(found.angular_momenta, np.tile(state.angular_momentum, (len(t), 1)), atol=1e-12)
    assert np.all(found.corner_forces == 0.0)


@pytest.mark.parametrize("persistence", [0.0, 0.7])
def test_an_external_wrench_pushes_a_body_in_flight_as_long_as_it_is_expected_to_last(persistence):
    plan = ContactPlan([[ContactPhase(-2.0, -1.0, np.zeros(3), STAND), ContactPhase(9.0, 10.0, np.zeros(3), STAND)]])
    mpc = CentroidalMpc(replace(CONFIG, wrench_persistence=persistence), CentroidalBody(2.0, (SOLE,)))
    state = CentroidalState([0.0, 0.0, 1.0], ZERO, ZERO, np.zeros((1, 3)))
    wrench = np.array([6.0, 0.0, 0.0, 0.0, 0.0, 0.5])
    found = mpc.update(0.0, state, plan, lambda times: np.zeros((len(times), 3)), wrench)
    impulses = np.cumsum(persistence ** np.arange(12) * np.diff(found.times))
    np.testing.assert_allclose(found.com_velocities[1:, 0], 3.0 * impulses, atol=1e-12)
    np.testing.assert_allclose(found.angular_momenta[1:, 2], 0.5 * impulses, atol=1e-12)


def test_forces_beside_the_com_turn_the_body_by_their_lever(mpc):
    """Under constant forces the momentum is that of the moment integrated along the parabola of the CoM."""
    plan = walk()
    update(mpc, plan, state_of(plan))
    problem = mpc.problem
    vectors = problem.weight_vectors()
    vectors[:, :96] = [[1.0], [0.5], [3.0]]
    state = problem.function.inputs["state"]
    state[:3] = [[0.0, 0.0, 0.0], [0.3, -0.2, 0.1], [0.0, 0.0, 0.0]]
    found = problem.trajectory(problem.evaluate(vectors)["w"])
    feet, force, corners = state[3:], np.array([1.0, 0.5, 3.0]), 8
    fine = np.linspace(0.0, 0.1, 2001)[:, None]
    path = fine * state[1] + 0.5 * fine**2 * (corners * force - [0.0, 0.0, 9.81])
    moment = np.cross(feet.mean(axis=0) - path, corners * force)
    integral = np.trapezoid(moment, fine[:, 0], axis=0)
    np.testing.assert_allclose(found.spin[1], integral, atol=1e-8)


def test_levers_and_moves_are_the_derivative_of_angular_momentum_and_com(mpc):
    plan, random = walk(so3.rotation_z(0.4)), np.random.default_rng(1)
    update(mpc, plan, state_of(plan, velocity=np.array([0.1, 0.05, 0.0])), 0.05)
    problem, inner = mpc.problem, np.zeros((3, 120))
    found = problem.trajectory(problem.function.outputs["w"].copy())
    vectors = problem.function.outputs["vectors"].copy()
    levers = problem.function.outputs["levers"].reshape(3, 12, -1).copy()
    moves = problem.data.outputs["moves"].copy()
    inner[:, :96] = 1e-5 * random.standard_normal((3, 96))  # forces within their pyramids
    inner[:2, 96:] = (
        1e-5 * random.standard_normal((2, 24)) * (np.abs(np.diff(found.contacts, axis=0)) > 0.0).any(axis=2).ravel()
    )
    held = np.cumsum(inner[:, 96:].reshape(3, 12, 2), axis=1)  # a contact that stands stays where it has landed
    inner[:, 96:] = held.reshape(3, -1)

    def at(change):
        other = problem.trajectory(problem.evaluate(vectors + change)["w"].copy())
        return other.com[1:].T, other.spin[1:].T

    (com_ahead, spin_ahead), (com_back, spin_back) = at(inner), at(-inner)
    np.testing.assert_allclose((com_ahead - com_back) / 2.0, inner[:, :96] @ moves.T, atol=1e-13)
    turned = np.cross(levers, inner[:, None, :], axis=0).sum(axis=2)
    np.testing.assert_allclose((spin_ahead - spin_back) / 2.0, turned, atol=1e-12)


# -- solutions ---------------------------------------------------------------------------------------------------------

CASES = [
    (0.0, {}, np.zeros(6)),
    (0.45, {"velocity": np.array([0.4, -0.3, 0.0]), "offset": np.array([0.02, -0.02, 0.01])}, np.zeros(6)),
    (0.6, {"momentum": np.array([0.6, -0.3, 0.1])}, np.array([40.0, 30.0, 0.0, 1.0, 2.0, 0.0])),
]


@pytest.mark.parametrize(("time", "given", "wrench"), CASES, ids=["standing", "falling", "pushed"])
def test_the_real_time_iteration_ends_where_ipopt_ends(mpc, exact, time, given, wrench):
    plan = walk()
    update(mpc, plan, state_of(plan, time=max(0.0, time - 0.05)), max(0.0, time - 0.05))
    exact.resume(mpc.memory)
    state = state_of(plan, time=time, **given)
    ours, best = (update(each, plan, state, time, wrench) for each in (mpc, exact))
    assert -1e-6 <= ours.cost / best.cost - 1.0 < 1e-3
    assert ours.accuracy.worst < 1e-3
    assert not ours.warning
    assert max(ours.violation, best.violation) <= 1e-12
    np.testing.assert_allclose(ours.com_positions, best.com_positions, atol=5e-3)
    np.testing.assert_allclose(ours.contact_positions[-1], best.contact_positions[-1], atol=5e-3)


@pytest.mark.parametrize("seed", [0, long(1), long(2)])
def test_costs_are_those_of_ipopt_with_weights_within_a_decade(seed):
    """A lost quarter of a second with the weights of another: many corners are at the edges of their pyramids."""
    random, plan = np.random.default_rng(seed), walk()
    values = (getattr(CONFIG.weights, name) for name in CONFIG.weights.__dataclass_fields__)
    weights = type(CONFIG.weights)(*(_scaled(value, 10.0 ** random.uniform(-1.0, 1.0)) for value in values))
    ours, best = (CentroidalMpc(replace(each, weights=weights), BODY) for each in (CONFIG, EXACT))
    update(ours, plan, state_of(plan), 0.0)
    for time in (0.45, 0.5):
        state = state_of(plan, velocity=random.uniform(-0.4, 0.4, 3) * [1.0, 1.0, 0.2], time=time)
        best.resume(ours.memory)
        found, optimum = (update(each, plan, state, time) for each in (ours, best))
        assert found.cost / optimum.cost - 1.0 < 1e-3
        assert found.accuracy.worst < 1e-2


def _scaled(value, factor):
    return tuple(factor * each for each in value) if isinstance(value, tuple) else factor * value


def test_a_quadratic_program_is_solved_to_its_optimum_with_corners_that_carry_nothing(mpc):
    """KKT conditions by hand: no force pulls, what a row holds pushes, and the gradient is that of the active rows."""
    plan = walk()
    state = state_of(plan, velocity=np.array([0.0, 1.6, 0.0]), time=0.5)
    update(mpc, plan, state, 0.5)
    solver, problem = mpc._solver, mpc.problem
    point, program = solver._evaluate(problem.function.outputs["vectors"].copy()), solver._program
    found = program.solve(point.levers, point.vectors, point.errors)
    slack = program._slack(found.vectors)
    assert slack.min() >= -1e-7
    assert found.multipliers.min() >= -1e-6 * found.multipliers.max()
    assert np.count_nonzero(found.multipliers) > 20
    assert np.abs(slack * found.multipliers).max() <= 1e-6 * found.multipliers.max()
    momenta = point.errors.reshape(-1) + program._effect(found.vectors - point.vectors)
    np.testing.assert_allclose(momenta / program._softness, found.momenta, rtol=1e-6, atol=1e-6)
    pull = program._pull(found.momenta, program._moves, program._levers)
    forces = np.zeros_like(pull)
    np.add.at(forces.T, program._places, (program._normals * found.multipliers).T)
    own = (found.vectors - program._unforced)[:, :96] @ program._hessian
    np.testing.assert_allclose(own, (forces - pull)[:, :96], atol=1e-6 * np.abs(forces).max())


def test_standing_still_needs_the_weight_and_nothing_else(exact):
    plan = ContactPlan([[ContactPhase(0.0, math.inf, [0.0, y, 0.0], STAND)] for y in (0.1, -0.1)])
    found = update(exact, plan, state_of(plan))
    np.testing.assert_allclose(found.corner_forces, np.tile([0.0, 0.0, 30.0 * 9.81 / 8], (12, 8, 1)), atol=1e-3)
    np.testing.assert_allclose(found.com_positions, np.tile([0.0, 0.0, HEIGHT], (13, 1)), atol=1e-6)


def test_a_translated_and_rotated_world_gives_the_same_solution(mpc):
    turn, shift = so3.rotation_z(2.1), np.array([40.0, -25.0, 3.0])
    velocity, wrench = np.array([0.3, -0.25, 0.0]), np.array([20.0, 10.0, 0.0, 0.0, 1.0, 0.0])
    plan, moved = walk(), walk(turn, shift)
    here = update(mpc, plan, state_of(plan, velocity), wrench=wrench)
    mpc.reset()
    there = update(
        mpc, moved, state_of(moved, turn @ velocity), wrench=np.concatenate((turn @ wrench[:3], turn @ wrench[3:]))
    )
    np.testing.assert_allclose(there.com_positions, here.com_positions @ turn.T + shift, atol=1e-8)
    np.testing.assert_allclose(there.contact_positions, here.contact_positions @ turn.T + shift, atol=1e-8)
    np.testing.assert_allclose(there.corner_forces, here.corner_forces @ turn.T, atol=1e-6)


def test_a_mirrored_world_gives_the_mirrored_solution(mpc):
    flip, velocity = np.array([1.0, -1.0, 1.0]), np.array([0.2, -0.3, 0.0])
    plan = walk()
    swapped = ContactPlan(walk(mirror=-1.0).phases[::-1])
    here = update(mpc, plan, state_of(plan, velocity))
    mpc.reset()
    there = update(mpc, swapped, state_of(swapped, flip * velocity))
    np.testing.assert_allclose(there.com_positions, here.com_positions * flip, atol=1e-4)
    np.testing.assert_allclose(there.contact_positions[:, ::-1], here.contact_positions * flip, atol=1e-4)


# -- limits ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("signs", [(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)])
def test_edges_of_the_pyramid_lie_on_the_friction_cone(mpc, signs):
    """A force beyond both faces is brought to their edge, μ f_z away from the normal; both solvers have these faces."""
    turn, friction, pull = so3.rotation_z(0.4), CONFIG.limits.friction, 3.0
    plan = walk(turn)
    update(mpc, plan, state_of(plan))
    problem = mpc.problem
    edge = turn @ np.array([*(pull * friction / math.sqrt(2.0) * np.array(signs)), pull])
    assert np.hypot(edge[0], edge[1]) == pytest.approx(friction * pull)
    vectors = problem.weight_vectors()
    vectors[:, 0] = turn @ np.array([10.0 * signs[0], 10.0 * signs[1], pull])
    variables = problem.evaluate(vectors)["w"].copy()
    np.testing.assert_allclose(problem.trajectory(variables).forces[0, 0], edge, atol=1e-12)
    far = math.sqrt(2.0) * friction * pull  # of the two faces opposite, in their own units
    gaps = [0.0 if sign > 0.0 else far for sign in (signs[0], -signs[0], signs[1], -signs[1])]
    np.testing.assert_allclose(problem.data.outputs["normals"][:, :4].T @ edge, gaps, atol=1e-12)
    np.testing.assert_allclose(limits_of(problem, variables)[0, :4], gaps, atol=1e-12)


def limits_of(problem, variables):
    """Rows of each interval of the nonlinear program: faces of eight pyramids, offsets of two contacts."""
    program = problem.nonlinear_program
    rows = cs.Function("rows", [program["x"], program["p"]], [program["g"]])(variables, problem.parameters)
    return np.array(rows)[3 * 13 * 5 :].reshape(12, 4 * 8 + 3 * 2)  # after the start and the dynamics


def test_a_location_is_counted_from_the_reference_at_the_end_of_its_interval(mpc):
    """Along the axes of the contact; the left foot's reference goes on by a step at 0.4 s."""
    turn, random = so3.rotation_z(0.4), np.random.default_rng(2)
    plan = walk(turn)
    update(mpc, plan, state_of(plan, time=0.15), 0.15)
    problem = mpc.problem
    variables = random.standard_normal(problem.size)
    nominal = problem.function.inputs["contacts"].reshape(12, 2, 3)
    assert np.ptp(nominal[:, 0, 0]) > 0.1
    offsets = (problem.trajectory(variables).contacts[1:] - nominal) @ turn
    np.testing.assert_allclose(limits_of(problem, variables)[:, 32:], offsets.reshape(12, 6), atol=1e-12)


def test_forces_stay_in_the_friction_cone_and_landings_in_the_box_under_a_push_beyond_both(mpc):
    plan, slope = walk(), CONFIG.limits.friction
    state = state_of(plan, velocity=np.array([0.0, 1.6, 0.0]), time=0.5)
    found = update(mpc, plan, state, 0.5)
    forces, swinging = found.corner_forces, found.active[:, 0]
    assert np.all(np.hypot(forces[..., 0], forces[..., 1]) <= slope * forces[..., 2] + 1e-9)
    assert np.all(forces[~found.active[:, [0] * 4 + [1] * 4]] == 0.0)
    landing = int(np.flatnonzero(swinging)[0])
    moved = found.contact_positions[landing, 0] - plan.phases[0][1].position
    assert 0.1 < moved[1] <= CONFIG.limits.location_box[1] + 1e-4
    np.testing.assert_allclose(np.ptp(found.contact_positions[landing : landing + 8, 0], axis=0), 0.0, atol=1e-12)


def test_a_contact_in_the_air_moves_no_further_than_its_speed_allows_until_it_lands():
    """At 0.5 s the left foot lands in 0.3 s."""
    limits = replace(CONFIG.limits, contact_speed=0.2)
    slow, plan = CentroidalMpc(replace(CONFIG, limits=limits), BODY), walk()
    state = state_of(plan, velocity=np.array([0.0, 1.6, 0.0]), time=0.5)
    found = update(slow, plan, state, 0.5)
    moved = found.contact_positions[:, 0] - plan.phases[0][1].position
    assert moved[3, 1] == pytest.approx(0.2 * 0.3, abs=2e-4)
    lowest, highest = (slow.problem.function.inputs[name].reshape(12, 2, 3) for name in ("lowest", "highest"))
    np.testing.assert_allclose(highest[2, 0], [0.06, 0.06, 0.001], atol=1e-12)
    np.testing.assert_allclose(lowest[2, 0], [-0.06, -0.06, -0.001], atol=1e-12)
    np.testing.assert_allclose(highest[8, 1], CONFIG.limits.location_box)  # the right foot has not lifted off yet
    assert np.all(np.delete(highest[:, 0], 2, axis=0) == 10.0)  # before and after it lands


def test_a_landing_out_of_reach_is_the_allowed_one_that_is_nearest(mpc):
    plan = walk()
    state = state_of(plan, time=0.75)
    away = CentroidalState(state.com_position, ZERO, ZERO, state.contact_positions - [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    found = update(mpc, plan, away, 0.75)
    assert found.contact_positions[1, 0, 0] - 0.2 == pytest.approx(-CONFIG.limits.location_box[0], abs=1e-4)


def test_landings_stay_on_their_stepping_stones_under_a_push(mpc):
    """The stone ends 3 cm beside the nominal sole; without it the push moves the landing by more than 6 cm."""
    stone = {"centre": np.array([0.22, 0.11, 0.0]), "half_sizes": np.array([0.14, 0.07]), "corners": SOLE}
    left, right = walk().phases
    stones = ContactPlan([[left[0], left[1].on_stone(**stone), *left[2:]], right])
    np.testing.assert_allclose(stones.phases[0][1].allowed[:, :2], [[-0.02, -0.01], [0.06, 0.03]], atol=1e-12)
    found = update(mpc, stones, state_of(stones, velocity=np.array([0.0, 1.0, 0.0]), time=0.5), 0.5)
    assert found.contact_positions[3, 0, 1] - 0.1 == pytest.approx(0.03, abs=1e-4)
    mpc.reset()
    free = update(mpc, walk(), state_of(walk(), velocity=np.array([0.0, 1.0, 0.0]), time=0.5), 0.5)
    assert free.contact_positions[3, 0, 1] - 0.1 > 0.06


def test_a_stone_that_does_not_hold_the_nominal_sole_is_refused():
    with pytest.raises(PlanningError, match="allowed box"):
        walk().phases[0][1].on_stone(np.array([0.4, 0.1, 0.0]), np.array([0.15, 0.1]), SOLE)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_measured_push_moves_the_next_landing_its_way(mpc, axis, sign):
    plan, wrench = walk(), np.zeros(6)
    wrench[axis] = sign * 60.0
    state = state_of(plan, time=0.5)
    free = update(mpc, plan, state, 0.5)
    mpc.reset()
    pushed = update(mpc, plan, state, 0.5, wrench)
    assert sign * (pushed.contact_positions - free.contact_positions)[4, 0, axis] > 2e-3
    assert sign * (pushed.com_velocities - free.com_velocities)[1, axis] > 0.0


# -- failures ----------------------------------------------------------------------------------------------------------


def test_a_solver_without_a_solution_is_replaced_by_the_shifted_one_which_says_so_until_it_is_not_tolerated():
    mpc = CentroidalMpc(replace(EXACT, deadline=1e-9, tolerated_failures=2), BODY)
    plan = walk()
    with pytest.raises(NoSolutionFound, match="centroidal MPC"):
        update(mpc, plan, state_of(plan))
    healthy = CentroidalMpc(CONFIG, BODY)
    first = update(healthy, plan, state_of(plan))
    mpc.resume(healthy.memory)
    state = CentroidalState(
        first.com_positions[1], first.com_velocities[1], first.angular_momenta[1], first.contact_positions[1]
    )
    fallback = update(mpc, plan, state, 0.1)
    assert fallback.is_fallback
    assert "the last solution takes its place" in fallback.warning
    assert np.isnan(fallback.accuracy).all()
    np.testing.assert_allclose(fallback.corner_forces[:-1], first.corner_forces[1:], atol=1e-9)
    np.testing.assert_allclose(fallback.com_positions[:-1], first.com_positions[1:], atol=1e-9)
    assert update(mpc, plan, state, 0.1).is_fallback
    with pytest.raises(NoSolutionFound, match="centroidal MPC"):
        update(mpc, plan, state, 0.1)
    assert mpc.failures == 4


def test_a_start_so_bad_that_five_quadratic_programs_do_not_converge_is_improved_until_it_is_a_solution():
    weights = CentroidalWeights((1.0, 1e3), (1e5, 1e5), 10.0, 0.1, (1e3, 1e3), 1e-2)  # spin above all: many minima
    plan, random = walk(), np.random.default_rng(2)
    mpc = CentroidalMpc(replace(CONFIG, weights=weights), BODY)
    update(mpc, plan, state_of(plan, time=0.5), 0.5)
    memory = mpc.memory
    mpc.resume(replace(memory, forces=memory.forces * random.uniform(0.0, 10.0, memory.forces.shape)))
    lost = state_of(plan, velocity=random.uniform(-2.5, 2.5, 3) * [1.0, 1.0, 0.5], time=0.5)
    found = update(mpc, plan, lost, 0.55)
    assert not found.is_fallback
    assert found.iterations > 10
    assert found.accuracy.worst < 0.1


def test_a_missed_deadline_counts_as_a_failure():
    mpc = CentroidalMpc(replace(CONFIG, deadline=1e-9), BODY)
    plan, healthy = walk(), CentroidalMpc(CONFIG, BODY)
    update(healthy, plan, state_of(plan))
    mpc.resume(healthy.memory)
    assert update(mpc, plan, state_of(plan), 0.05).is_fallback
    assert mpc.failures == 1


def test_a_measurement_that_is_not_finite_is_refused_and_the_next_one_goes_on(mpc):
    plan, nan = walk(), np.array([math.nan, 0.0, 0.0])
    update(mpc, plan, state_of(plan))
    with pytest.raises(EstimationError, match="com_velocity not finite"):
        update(mpc, plan, state_of(plan, velocity=nan), 0.05)
    with pytest.raises(EstimationError, match="external_wrench not finite"):
        update(mpc, plan, state_of(plan), 0.05, wrench=np.concatenate((nan, nan)))
    found = update(mpc, plan, state_of(plan), 0.05)
    assert not found.is_fallback
    assert np.isfinite(found.com_positions).all()


# -- plan and configuration --------------------------------------------------------------------------------------------


def test_a_preview_shows_the_next_landing_of_a_contact_in_the_air():
    preview = walk().preview(0.4 + 0.1 * np.arange(7))
    np.testing.assert_array_equal(preview.active[:, 0], [False] * 4 + [True] * 2)
    assert preview.active[:, 1].all()
    np.testing.assert_allclose(preview.positions[1:, 0], np.tile([0.2, 0.1, 0.0], (6, 1)))


def test_the_com_reference_passes_over_the_contacts_and_rests_at_both_ends():
    plan = walk()
    reference = com_reference(plan, HEIGHT)
    np.testing.assert_allclose(reference(np.array([0.6]))[0], [0.0, -0.1, HEIGHT], atol=1e-12)
    begin, after = reference(np.array([0.0, 1e-3]))
    np.testing.assert_allclose(after, begin, atol=1e-6)
    np.testing.assert_allclose(reference(np.array([99.0]))[0], [1.1, 0.0, HEIGHT], atol=1e-12)


def test_a_contact_is_on_the_ground_in_the_intervals_between_touch_down_and_lift_off_alone():
    phases = [ContactPhase(-1.0, 0.3, np.zeros(3), STAND), ContactPhase(0.5, math.inf, np.zeros(3), STAND)]
    times = 0.02 * np.arange(41)
    middles = 0.5 * (times[:-1] + times[1:])
    returning, lifted = ContactPlan([phases, phases[:1]]).preview(times).active.T
    np.testing.assert_array_equal(returning, (middles < 0.3) | (middles > 0.5))
    np.testing.assert_array_equal(lifted, middles < 0.3)


def test_phases_of_a_contact_that_overlap_are_refused():
    with pytest.raises(PlanningError, match="contact 0"):
        ContactPlan([[ContactPhase(0.0, 1.0, np.zeros(3), STAND), ContactPhase(0.5, 2.0, np.zeros(3), STAND)]])


@pytest.mark.parametrize(
    "change",
    [{"samples": 1}, {"period": 0.0}, {"deadline": math.inf}, {"tolerated_failures": -1}, {"wrench_persistence": 1.1}],
)
def test_a_configuration_out_of_range_is_refused(change):
    with pytest.raises(ConfigError, match=next(iter(change))):
        replace(CONFIG, **change)


def test_weights_and_limits_are_positive():
    with pytest.raises(ConfigError, match="force_rate"):
        replace(CONFIG.weights, force_rate=0.0)
    with pytest.raises(ConfigError, match="location_box"):
        replace(CONFIG.limits, location_box=(0.1, 0.0, 0.1))
