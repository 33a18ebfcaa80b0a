"""The predictive law: against the dense optimum, its polygons, its failures."""

import dataclasses
import math
from functools import lru_cache
from itertools import pairwise
from types import SimpleNamespace

import daqp
import numpy as np
import pytest

from gradiva.common import ConfigError, DcmPreview, NoSolutionFound, Side, SoleRectangle
from gradiva.contacts import SupportPolygon, support_polygon
from gradiva.simplified_model import BalancePlan, DcmMpc, DcmMpcConfig, LawMemory, dcm_mpc
from gradiva.simplified_model.dcm_mpc import phase_polygons

from .stepping import GRID, SIGMA, SOLE, SteppingPlan

PREVIEW = SteppingPlan().preview(160)  # 0.2 s before the first weight shift


class PredictiveLaw(DcmMpc):
    """The law on a DCM and a preview."""

    def __init__(self, config, sole):
        super().__init__(config, SimpleNamespace(sole=sole))

    def zmp(self, dcm_position, preview, dt=math.inf):
        plan = BalancePlan(None, None, lambda period, count: preview, np.zeros(2))
        return super().zmp(SimpleNamespace(dcm_position=dcm_position), plan, dt)


def test_phases_follow_each_other_and_cover_the_preview():
    phases = phase_polygons(PREVIEW, SOLE, 0.005)
    assert phases[0].start == 0
    assert phases[-1].end == 100
    assert all(before.end == after.start for before, after in pairwise(phases))
    assert [phase.end for phase in phases] == [20, 50, 60, 90, 100]


def test_each_phase_has_the_polygon_of_its_feet():
    for start, end, polygon in phase_polygons(PREVIEW, SOLE, 0.005):
        for sample in range(start, end):
            feet = [
                (PREVIEW.left_foot_poses[sample], Side.LEFT, PREVIEW.left_in_contact[sample]),
                (PREVIEW.right_foot_poses[sample], Side.RIGHT, PREVIEW.right_in_contact[sample]),
            ]
            poses, sides, _ = zip(*(foot for foot in feet if foot[2]), strict=True)
            np.testing.assert_array_equal(polygon.vertices, support_polygon(poses, sides, SOLE, 0.005).vertices)


def test_a_foot_in_the_air_may_move_within_a_phase():
    poses = PREVIEW.right_foot_poses.copy()
    poses[20:50, 0] = np.linspace(0.0, 0.3, 30)
    moving = dataclasses.replace(PREVIEW, right_foot_poses=poses)
    assert [phase.end for phase in phase_polygons(moving, SOLE, 0.005)] == [20, 50, 60, 90, 100]


def test_a_jump_is_refused():
    with pytest.raises(ValueError, match="0 foot poses"):
        phase_polygons(dataclasses.replace(PREVIEW, left_in_contact=[False] * 100), SOLE, 0.005)


CONFIG = DcmMpcConfig(
    horizon=2.0,
    period=0.02,
    decision_period=0.01,
    dcm_weight=7500.0,
    zmp_weight=15000.0,
    zmp_rate_weight=3.6,
    polygon_margin=0.005,
    max_iterations=300,
)
PLAN = SteppingPlan(turn=0.05)


def first_polygon(preview: DcmPreview) -> SupportPolygon:
    return phase_polygons(preview, SOLE, CONFIG.polygon_margin)[0].polygon


def standing(samples: int = 100) -> DcmPreview:
    return PLAN.preview(len(PLAN.zmp_positions) - 1, samples=samples)


def transformed(preview: DcmPreview, turn: np.ndarray, angle: float, shift: np.ndarray) -> DcmPreview:
    def poses(feet):
        return np.hstack((feet[:, :2] @ turn.T + shift, feet[:, 2:] + angle))

    return dataclasses.replace(
        preview,
        dcm_positions=preview.dcm_positions @ turn.T + shift,
        left_foot_poses=poses(preview.left_foot_poses),
        right_foot_poses=poses(preview.right_foot_poses),
    )


def edges_of(preview: DcmPreview) -> tuple[np.ndarray, np.ndarray]:
    """Return rows A and bounds b of A z <= b, of the ZMPs and the first DCM less that of the preview."""
    N, normals, bounds = len(preview.growth), [], []
    for start, end, polygon in phase_polygons(preview, SOLE, CONFIG.polygon_margin):
        for k in range(start, end):
            for normal, bound in zip(polygon.normals, polygon.offsets, strict=True):
                row = np.zeros((N + 1, 2))
                row[k] = normal
                normals.append(row.reshape(-1))
                bounds.append(bound - normal @ preview.dcm_positions[0])
    return np.array(normals), np.array(bounds)


@lru_cache
def planned(index: int) -> tuple[DcmPreview, tuple[np.ndarray, np.ndarray]]:
    """Return a preview of the plan and the edges of its oracle, which all cases share."""
    preview = PLAN.preview(index)
    return preview, edges_of(preview)


def dense_optimum(
    dcm: np.ndarray,
    preview: DcmPreview,
    previous: np.ndarray,
    edges: tuple[np.ndarray, np.ndarray],
    config: DcmMpcConfig = CONFIG,
    capture_weight: float = dcm_mpc._CAPTURE_WEIGHT,  # large: the measured error is held
) -> np.ndarray:
    """The first ZMP by forward dynamics with a free end: ZMPs and the first DCM are variables; exact active set."""
    F, origin, dcms = preview.growth, preview.dcm_positions[0], preview.dcm_positions - preview.dcm_positions[0]
    N = len(F)
    growth = np.concatenate(([1.0], np.cumprod(F)))
    M = np.zeros((N + 1, N + 1))  # ξ_k = M_k (z_0 … z_{N-1}, ξ_0)
    for k in range(N):
        M[k + 1 :, k] = (1 - F[k]) * growth[k + 1 :] / growth[k + 1]
    M[:, N] = growth
    D = np.eye(N, N + 1) - np.eye(N, N + 1, k=-1)
    rate, capture = config.zmp_rate_weight / config.period**2, capture_weight * config.dcm_weight
    hessian = config.dcm_weight * M[1:].T @ M[1:] + rate * D.T @ D
    hessian += np.diag([config.zmp_weight] * N + [capture])
    gradient = -config.dcm_weight * M[1:].T @ dcms[1:]
    gradient[0] -= rate * (previous - origin)
    growths = F[:, None]
    gradient[:N] -= config.zmp_weight * (dcms[1:] - growths * dcms[:-1]) / (1.0 - growths)
    gradient[N] -= capture * (dcm - origin)
    scale, (normals, bounds) = config.dcm_weight, edges
    solution, _, flag, _ = daqp.solve(
        np.kron(hessian, np.eye(2)) / scale,
        gradient.reshape(-1) / scale,
        normals,
        bounds,
        np.full(len(bounds), -1e30),
        np.zeros(len(bounds), dtype=np.int32),
    )
    assert flag == 1
    return origin + solution.reshape(N + 1, 2)[0]


@pytest.mark.parametrize("zmp_weight", [0.0, 15000.0])
@pytest.mark.parametrize("error", [0.0, 0.003, 0.02, 0.06])
def test_it_finds_the_optimum_of_the_problem_written_forwards(error, zmp_weight):
    """The measured error gives way by a tenth at most where the polygons can capture it."""
    config = dataclasses.replace(CONFIG, zmp_weight=zmp_weight)
    rng, law, cold = np.random.default_rng(5), PredictiveLaw(config, SOLE), PredictiveLaw(config, SOLE)
    for index in rng.integers(1, 1500, size=20).tolist():
        (preview, edges), previous = planned(index), PLAN.zmp_positions[index - 1]
        direction = rng.normal(size=2)
        dcm = preview.dcm_positions[0] + error * direction / np.linalg.norm(direction)
        polygon = first_polygon(preview)
        expected = polygon.project(dense_optimum(dcm, preview, previous, edges, config))
        if error <= 0.02:  # the polygons can capture it
            held = polygon.project(dense_optimum(dcm, preview, previous, edges, config, 1e5))
            assert np.linalg.norm(expected - held) < 5e-5 + 0.1 * error
        cold.reset()
        for mpc in (law, cold):  # with the active edges of another problem, and without
            mpc.resume(LawMemory(np.zeros(2), previous))
            np.testing.assert_allclose(mpc.zmp(dcm, preview), expected, atol=1e-6)


@pytest.mark.parametrize(("zmp_weight", "lead"), [(0.0, 2.83), (15000.0, 1.94)])
def test_the_weight_on_the_zmp_makes_it_lead_a_dcm_error_that_lasts_by_less(zmp_weight, lead):
    preview, zmps = PLAN.preview(200), []
    for error in (0.0, 0.003):
        mpc = PredictiveLaw(dataclasses.replace(CONFIG, zmp_weight=zmp_weight), SOLE)
        mpc._previous_zmp = PLAN.zmp_positions[199]
        zmps.append([mpc.zmp(preview.dcm_positions[0] + [error, 0.0], preview) for _ in range(60)][-1])
    np.testing.assert_allclose((zmps[1] - zmps[0]) / 0.003, [lead, 0.0], atol=0.01)


def test_it_finds_the_optimum_when_the_divergence_rate_varies():
    still = PLAN.preview(1)  # the reference need not be consistent with the rates
    preview = dataclasses.replace(still, divergence_rates=SIGMA + 0.5 * np.sin(0.1 * np.arange(100)))
    dcm = preview.dcm_positions[0] + [0.01, -0.005]
    mpc = PredictiveLaw(CONFIG, SOLE)
    mpc._previous_zmp = PLAN.zmp_positions[0]
    expected = dense_optimum(dcm, preview, PLAN.zmp_positions[0], edges_of(preview))
    np.testing.assert_allclose(mpc.zmp(dcm, preview), expected, atol=1e-6)


def test_without_error_and_motion_the_zmp_is_the_one_of_the_reference():
    preview = standing()
    zmp = PredictiveLaw(CONFIG, SOLE).zmp(preview.dcm_positions[0], preview)
    np.testing.assert_allclose(zmp, preview.zmp_positions[0], atol=1e-6)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_dcm_that_leads_is_pushed_back_by_a_zmp_that_leads_more(axis, sign):
    preview, error = standing(), np.zeros(2)
    error[axis] = sign * 0.01
    mpc = PredictiveLaw(CONFIG, SOLE)
    for _ in range(20):
        answer = mpc.zmp(preview.dcm_positions[0] + error, preview) - preview.zmp_positions[0]
    assert answer[axis] * sign > 0.01
    assert abs(answer[1 - axis]) < 1e-4


@pytest.mark.parametrize("error", [(0.15, 0.0), (-0.1, 0.0), (0.0, 0.2), (0.3, -0.3)])
def test_a_dcm_that_is_lost_holds_the_zmp_on_the_edge(error):
    preview = standing()
    mpc = PredictiveLaw(CONFIG, SOLE)
    for _ in range(5):
        zmp = mpc.zmp(preview.dcm_positions[0] + error, preview)
    assert first_polygon(preview).distance(zmp) == pytest.approx(0.0, abs=1e-3)
    assert (zmp - preview.zmp_positions[0]) @ error > 0.0


def test_moving_and_turning_the_world_moves_and_turns_the_zmp():
    shift, angle = np.array([40.0, -25.0]), 2.0
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    preview = PLAN.preview(300)
    dcm = preview.dcm_positions[0] + [0.01, 0.008]
    expected = PredictiveLaw(CONFIG, SOLE).zmp(dcm, preview)
    moved = transformed(preview, turn, angle, shift)
    actual = PredictiveLaw(CONFIG, SOLE).zmp(turn @ dcm + shift, moved)
    np.testing.assert_allclose(actual, turn @ expected + shift, atol=3e-4)


def test_left_mirrors_right():
    mirror, preview = np.array([1.0, -1.0]), PLAN.preview(300)
    dcm = preview.dcm_positions[0] + [0.01, 0.008]
    mirrored = dataclasses.replace(
        preview,
        dcm_positions=preview.dcm_positions * mirror,
        left_in_contact=preview.right_in_contact,
        right_in_contact=preview.left_in_contact,
        left_foot_poses=preview.right_foot_poses * [1, -1, -1],
        right_foot_poses=preview.left_foot_poses * [1, -1, -1],
    )
    left = PredictiveLaw(CONFIG, SOLE).zmp(dcm, preview)
    np.testing.assert_allclose(PredictiveLaw(CONFIG, SOLE).zmp(dcm * mirror, mirrored), left * mirror, atol=3e-4)


def test_a_short_tick_goes_part_of_the_way():
    preview = standing()
    dcm, rest = preview.dcm_positions[0] + [0.01, 0.0], preview.zmp_positions[0]
    whole = PredictiveLaw(CONFIG, SOLE).zmp(dcm, preview) - rest
    part = PredictiveLaw(CONFIG, SOLE).zmp(dcm, preview, dt=0.005) - rest
    np.testing.assert_allclose(part, 0.4 * whole, atol=1e-9)
    assert np.array_equal(PredictiveLaw(CONFIG, SOLE).zmp(dcm, preview, dt=0.05) - rest, whole)


@pytest.mark.parametrize(
    ("turn", "tick", "noise", "push"),
    [(0.0, 0.01, 0.0, 0.0), (0.1, 0.01, 0.003, 0.02), (0.0, 0.02, 0.003, 0.02), (-0.05, 0.005, 0.001, 0.015)],
)
def test_a_pendulum_walks_through_noise_and_pushes_without_a_failure(turn, tick, noise, push):
    plan, rng, mpc = SteppingPlan(turn=turn), np.random.default_rng(6), PredictiveLaw(CONFIG, SOLE)
    stride = round(tick / GRID)
    growth, dcm, errors = math.exp(SIGMA * tick), plan.dcm_positions[0] + push, []
    for index in range(0, 1700, stride):
        preview = plan.preview(index)
        if push and index % 300 == 299 // stride * stride:
            angle = rng.uniform(0.0, 2.0 * math.pi)
            dcm = dcm + push * np.array([math.cos(angle), math.sin(angle)])
        zmp = mpc.zmp(dcm + noise * rng.normal(size=2), preview, tick)
        assert first_polygon(preview).contains(zmp, tolerance=1e-9)
        dcm = zmp + growth * (dcm - zmp)
        errors.append(np.linalg.norm(dcm - plan.dcm_positions[index + stride]))
    assert max(errors) < 0.015 + 2.5 * push
    assert errors[-1] < 0.002 + 3.0 * noise


def test_no_failure_however_hard_it_is_pushed():
    rng, mpc = np.random.default_rng(7), PredictiveLaw(CONFIG, SOLE)
    for index in range(0, 1600, 4):
        preview = PLAN.preview(index)
        zmp = mpc.zmp(preview.dcm_positions[0] + rng.normal(scale=0.04, size=2), preview, 0.02)
        assert first_polygon(preview).contains(zmp, tolerance=1e-9)


@pytest.mark.parametrize("dcm", [(math.nan, 0.0), (0.0, math.inf)])
def test_a_dcm_that_is_not_finite_has_no_solution_and_leaves_no_trace(dcm):
    mpc, preview = PredictiveLaw(CONFIG, SOLE), PLAN.preview(300)
    with pytest.raises(NoSolutionFound, match="DCM"):
        mpc.zmp(np.array(dcm), preview)
    good = preview.dcm_positions[0] + [0.01, 0.0]
    np.testing.assert_allclose(mpc.zmp(good, preview), PredictiveLaw(CONFIG, SOLE).zmp(good, preview), atol=1e-9)


@pytest.mark.parametrize(
    "change",
    [
        {"dcm_positions": np.full((101, 2), math.nan)},
        {"divergence_rates": np.zeros(100)},
        {"left_in_contact": [False] * 100},
        {"left_foot_poses": np.full((100, 3), math.nan)},
    ],
)
def test_a_preview_that_cannot_be_used_has_no_solution(change):
    preview = dataclasses.replace(PLAN.preview(220), **change)
    with pytest.raises(NoSolutionFound, match="not run"):
        PredictiveLaw(CONFIG, SOLE).zmp(np.zeros(2), preview)


def test_running_out_of_iterations_has_no_solution_and_says_so():
    mpc, preview = PredictiveLaw(dataclasses.replace(CONFIG, max_iterations=5), SOLE), PLAN.preview(300)
    with pytest.raises(NoSolutionFound, match="maximum iterations"):
        mpc.zmp(preview.dcm_positions[0] + [0.1, 0.1], preview)


def test_a_preview_of_another_length_or_period_is_refused():
    mpc = PredictiveLaw(CONFIG, SOLE)
    with pytest.raises(ValueError, match=r"50 samples of 0.02 s, wanted 100 of 0.02 s"):
        mpc.zmp(np.zeros(2), PLAN.preview(0, samples=50))
    with pytest.raises(ValueError, match="wanted 100"):
        mpc.zmp(np.zeros(2), PLAN.preview(0, period=0.01))


def test_a_sole_smaller_than_its_margins_is_refused():
    with pytest.raises(ConfigError, match="leaves nothing"):
        PredictiveLaw(CONFIG, SoleRectangle((0.0, 0.1), (0.0, 0.009), 0.0)).zmp(np.zeros(2), standing())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("horizon", 0.02),
        ("horizon", 1.99),
        ("period", 0.0),
        ("dcm_weight", 0.0),
        ("zmp_weight", -1.0),
        ("zmp_rate_weight", math.inf),
        ("polygon_margin", -0.01),
        ("max_iterations", 0),
    ],
)
def test_a_configuration_without_a_problem_is_refused_by_name(field, value):
    with pytest.raises(ConfigError, match=field):
        dataclasses.replace(CONFIG, **{field: value})
