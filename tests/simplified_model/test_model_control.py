"""Layer 2 as one: references, feedback, fallback, decimation, and memory."""

from functools import partial
from types import SimpleNamespace

import casadi as cs
import numpy as np
import pytest

from gradiva.common import ConfigError, DcmReference, NoSolutionFound
from gradiva.contacts import SupportPolygon
from gradiva.planner import VelocityCommand, planned_polygon
from gradiva.setup import load_setup
from gradiva.simplified_model import (
    BalancePlan,
    DcmController,
    DcmControllerConfig,
    DcmLaw,
    DcmMpc,
    DecimatedLaw,
    FallbackLaw,
    GainSchedule,
    LawMemory,
    SimplifiedModelControl,
    ZmpComControllerConfig,
    ZmpComGains,
    balance_layer,
)
from gradiva.simulated_walk import plan_from_start
from tests.yarp_modules.made_up_state import state_near

SQUARE = SupportPolygon([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
WALKING, STANDING = ZmpComGains(4.0, 3.0), ZmpComGains(1.0, 5.0)
PERIOD = 0.01


def reference(dcm=(0.0, 0.0), dcm_velocity=(0.0, 0.0), is_walking=True, height=0.5):
    return SimpleNamespace(
        dcm=DcmReference(np.array(dcm), np.array(dcm_velocity), 4.3, 4.3, np.zeros(2)),
        com_position=np.array([0.0, 0.0, height]),
        com_velocity=np.array([0.1, 0.0, 0.02]),
        is_walking=is_walking,
    )


def state(dcm=(0.0, 0.0), com=(0.0, 0.0, 0.5), zmp=(0.0, 0.0), zmp_is_measured=True):
    arrays = {"dcm_position": np.array(dcm), "com_position": np.array(com), "zmp_position": np.array(zmp)}
    return SimpleNamespace(**arrays, zmp_is_measured=zmp_is_measured)


def instantaneous():
    return DcmController(DcmControllerConfig(1.5, 0.0, 0.02, 0.0))


def control(law=None):
    gains = GainSchedule(WALKING, STANDING, 0.0)
    return SimplifiedModelControl(law or instantaneous(), gains)


def update(model_control, robot=None, plan=None, shift=(0.0, 0.0), preview=None):
    now = BalancePlan(plan or reference(), SQUARE, preview, np.array(shift))
    return model_control.update(robot or state(), now, 0.0, PERIOD)


def test_a_zmp_that_is_not_measured_is_taken_to_be_the_desired_one():
    off = {"dcm": (0.01, 0.0), "zmp": (0.2, 0.1)}
    unknown = update(control(), state(**off, zmp_is_measured=False))
    np.testing.assert_allclose(unknown.com_velocity, [0.1, 0.0, 0.02])
    known = update(control(), state(**off))
    assert known.com_velocity[1] == pytest.approx(4.0 * 0.1)


def test_the_acceleration_is_that_of_a_pendulum_on_the_desired_zmp():
    desired = update(control(), state(dcm=(0.01, 0.0)))
    np.testing.assert_allclose(desired.com_acceleration, [4.3**2 * (0.0 - desired.zmp_position[0]), 0.0, 0.0])


def test_without_errors_the_plan_passes_through():
    desired = update(control())
    np.testing.assert_allclose(desired.com_velocity, [0.1, 0.0, 0.02])
    np.testing.assert_allclose(desired.com_position, [0.001, 0.0, 0.5002])
    np.testing.assert_allclose(desired.zmp_position, [0.0, 0.0])


@pytest.mark.parametrize("axis", [0, 1])
def test_a_dcm_ahead_sends_the_zmp_ahead_and_the_com_back(axis):
    ahead = np.zeros(2)
    ahead[axis] = 0.01
    desired = update(control(), state(dcm=ahead))
    assert desired.zmp_position[axis] == pytest.approx(0.015)
    assert (desired.com_velocity[:2] - [0.1, 0.0])[axis] == pytest.approx(-4.0 * 0.015)


def test_a_com_behind_is_pulled_on():
    desired = update(control(), state(com=(-0.01, 0.0, 0.5)))
    assert desired.com_velocity[0] == pytest.approx(0.1 + 3.0 * 0.01)


def test_the_commanded_com_integrates_the_velocity():
    model_control = control()
    for _ in range(10):
        desired = update(model_control)
    assert desired.com_position[0] == pytest.approx(0.01)
    model_control.reset()
    assert update(model_control).com_position[0] == pytest.approx(0.001)


def test_without_gains_the_commanded_com_is_the_planned_one_where_that_restarts_as_well():
    off = ZmpComGains(0.0, 0.0)
    model_control = SimplifiedModelControl(instantaneous(), GainSchedule(off, off, 0.0))
    moved = reference()
    moved.com_position = np.array([0.05, -0.02, 0.5])  # as where a step catches a push
    for plan in (reference(), reference(), moved):
        desired = update(model_control, plan=plan)
        np.testing.assert_allclose(desired.com_position, plan.com_position + PERIOD * plan.com_velocity, atol=1e-12)


def test_the_commanded_com_does_not_jump_where_only_one_situation_has_gains():
    gains = GainSchedule(ZmpComGains(3.0, 3.0), ZmpComGains(0.0, 0.0), 0.05)
    model_control, behind = SimplifiedModelControl(instantaneous(), gains), state(com=(-0.02, 0.0, 0.5))
    walks = [False] * 3 + [True] * 20 + [False] * 20
    trace = [update(model_control, behind, reference(is_walking=walk)).com_position[0] for walk in walks]
    fastest = PERIOD * (0.1 + 3.0 * 0.02)  # velocity of the reference and of the gains
    assert np.abs(np.diff(trace)).max() <= fastest * 1.001


def test_the_shift_of_the_swinging_leg_is_expected_of_the_measured_zmp():
    desired = update(control(), state(zmp=(0.02, 0.0)), shift=(0.02, 0.0))
    np.testing.assert_allclose(desired.com_velocity[:2], [0.1, 0.0])
    np.testing.assert_allclose(desired.zmp_position, [0.0, 0.0])


def test_standing_has_its_own_gains():
    desired = update(control(), state(com=(-0.01, 0.0, 0.5)), reference(is_walking=False))
    assert desired.com_velocity[0] == pytest.approx(0.1 + 5.0 * 0.01)


def test_layer_2_is_its_equations_in_numpy():
    random, model_control = np.random.default_rng(2), control()
    commanded = np.zeros(2)
    for _ in range(50):
        robot = state(*(0.05 * random.normal(size=size) for size in (2, 3, 2)))
        plan = reference(dcm=0.02 * random.normal(size=2), dcm_velocity=0.3 * random.normal(size=2))
        shift = 0.01 * random.normal(size=2)
        desired = update(model_control, robot, plan, shift)
        zmp = SQUARE.project(plan.dcm.zmp_position + 1.5 * (robot.dcm_position - plan.dcm.position))
        velocity = (
            plan.com_velocity[:2]
            - WALKING.zmp * (zmp + shift - robot.zmp_position)
            + WALKING.com * (plan.com_position - robot.com_position)[:2]
        )
        commanded = commanded + PERIOD * velocity
        np.testing.assert_allclose(desired.zmp_position, zmp, atol=1e-15)
        np.testing.assert_allclose(desired.com_velocity, [*velocity, 0.02], atol=1e-14)
        np.testing.assert_allclose(desired.com_position, [*commanded, 0.5002], atol=1e-14)


class Broken(DcmLaw):
    """A law that never has a solution."""

    def zmp(self, state, plan, period):
        raise NoSolutionFound("DCM law", "test")


def test_where_a_law_has_no_solution_the_instantaneous_one_answers_and_it_is_counted():
    model_control = control(FallbackLaw(Broken(), instantaneous()))
    desired = update(model_control, state(dcm=(0.01, 0.0)))
    assert desired.zmp_position[0] == pytest.approx(0.015)
    assert model_control.failures == 1


def test_the_zmp_of_any_law_stays_within_the_polygon():
    class Far(DcmLaw):
        def zmp(self, state, plan, period):
            return np.array([5.0, 0.0])

    np.testing.assert_allclose(update(control(FallbackLaw(Far(), instantaneous()))).zmp_position, [1.0, 0.0])


def ask(law, reference_zmp, dcm, period=0.001):
    here = DcmReference(np.array([reference_zmp, 0.0]), np.zeros(2), 4.3, 4.3, np.zeros(2))
    plan = BalancePlan(SimpleNamespace(dcm=here), SQUARE, None, np.zeros(2))
    return law.zmp(state(dcm=(dcm, 0.0)), plan, period)


class Proportional(DcmLaw):
    """A law that notes how often it was asked, and for how long."""

    def __init__(self):
        self.periods, self.failures, self.was_reset = [], 3, 0

    def zmp(self, state, plan, period):
        self.periods.append(period)
        return plan.reference.dcm.zmp_position + 2.0 * (state.dcm_position - plan.reference.dcm.position)

    def reset(self):
        self.was_reset += 1


def test_the_correction_holds_while_the_reference_moves_on():
    inner = Proportional()
    law = DecimatedLaw(inner, 0.005)
    zmps = [ask(law, 0.01 * tick, 0.01 * tick + 0.1 + tick)[0] for tick in range(4)]
    np.testing.assert_allclose(zmps, [0.2, 0.21, 0.22, 0.23])
    assert inner.periods == [0.005]


def test_it_decides_anew_after_its_period():
    inner = Proportional()
    law = DecimatedLaw(inner, 0.005)
    for _ in range(11):
        ask(law, 0.0, 0.1)
    assert inner.periods == [0.005] * 3


def test_a_slower_tick_asks_every_time():
    inner = Proportional()
    law = DecimatedLaw(inner, 0.005)
    assert [ask(law, 0.0, dcm, 0.01)[0] for dcm in (0.1, 0.2)] == pytest.approx([0.2, 0.4])
    assert inner.periods == [0.01, 0.01]


def test_what_it_answers_is_inside_the_polygon():
    law = DecimatedLaw(Proportional(), 0.005)
    ask(law, 0.0, 0.4)
    np.testing.assert_allclose(ask(law, 0.5, 0.5), [1.0, 0.0])


@pytest.mark.parametrize(
    ("begin_again", "resets"), [(lambda law: law.reset(), 1), (lambda law: law.resume(LawMemory(np.zeros(2))), 0)]
)
def test_after_a_reset_or_a_resume_it_decides_at_once(begin_again, resets):
    inner = Proportional()
    law = DecimatedLaw(inner, 0.005)
    ask(law, 0.0, 0.1)
    begin_again(law)
    np.testing.assert_allclose(ask(law, 0.0, 0.3), [0.6, 0.0])
    assert (law.failures, inner.was_reset) == (3, resets)


def desired(control, setup, plan, tick: int):
    reference = plan.at(tick * PERIOD)
    preview = lambda period, count: plan.preview(reference.time, period, count)  # noqa: E731
    polygon = planned_polygon(reference, setup.robot.sole)
    state = state_near(reference, len(setup.robot.joints), tick)
    contacts = partial(plan.contacts, reference.time)
    now = BalancePlan(reference, polygon, preview, np.full(2, 0.001), contacts, partial(plan.dcm_ahead, reference.time))
    return control.update(state, now, reference.time, PERIOD)


@pytest.mark.parametrize(("model", "tolerance"), [("dcm", 0.0), ("dcm_mpc", 1e-5), ("centroidal_mpc", 1e-3)])
def test_another_one_goes_on_with_the_memory_as_if_it_had_been_there_all_along(model, tolerance):
    setup = load_setup("icub_v2_7", {"walking.model": model})
    plan = plan_from_start(setup, VelocityCommand(0.19, duration=3.0))
    first, second = (balance_layer(setup.walking.balance, setup.robot) for _ in range(2))
    assert first.memory is None
    for tick in range(100):
        desired(first, setup, plan, tick)
    second.resume(first.memory)
    for tick in range(100, 140):
        before, after = desired(first, setup, plan, tick), desired(second, setup, plan, tick)
        np.testing.assert_allclose(after.com_position, before.com_position, atol=0.1 * tolerance)
        np.testing.assert_allclose(after.zmp_position, before.zmp_position, atol=tolerance)


def test_without_a_memory_it_begins_again():
    setup = load_setup("icub_v2_7")
    plan = plan_from_start(setup, VelocityCommand(0.19, duration=3.0))
    used, fresh = (balance_layer(setup.walking.balance, setup.robot) for _ in range(2))
    for tick in range(50):
        desired(used, setup, plan, tick)
    used.resume(None)
    np.testing.assert_array_equal(
        desired(used, setup, plan, 50).com_position, desired(fresh, setup, plan, 50).com_position
    )


def test_a_law_given_as_an_object_has_its_own_decision_period_and_a_derived_one_its_own_zmp():
    class Ahead(DcmController):
        def zmp(self, state, plan, period):
            return super().zmp(state, plan, period) + np.array([0.01, 0.0])

    class EverySecondTick(Ahead):
        decision_period, asked = 0.02, 0

        def zmp(self, state, plan, period):
            self.asked += 1
            return super().zmp(state, plan, period)

    setup = load_setup("icub_v2_7")
    config = setup.walking.balance
    shipped, ahead = balance_layer(config, setup.robot), balance_layer(config, setup.robot, Ahead(config.law))
    np.testing.assert_allclose(update(ahead).zmp_position - update(shipped).zmp_position, [0.01, 0.0], atol=1e-12)
    law = EverySecondTick(config.law)
    layer = balance_layer(config, setup.robot, law)
    for _ in range(4):
        update(layer)
    assert law.asked == 2
    predictive = DcmMpc(setup.walking.balance_laws["dcm_mpc"], setup.robot)
    assert predictive.decision_period == setup.walking.balance_laws["dcm_mpc"].decision_period
    assert balance_layer(config, setup.robot, predictive).failures == 0


class ByMethod(DcmLaw):
    """Proportional feedback of the DCM error by a gain of 2, in numbers."""

    def zmp(self, state, plan, period):
        dcm = plan.reference.dcm
        return dcm.zmp_position + 2.0 * (state.dcm_position - dcm.position)


class ByEquations(DcmLaw):
    """The same law as expressions."""

    @classmethod
    def equations(cls):
        inputs = {name: cs.SX.sym(name, 2) for name in ("dcm", "dcm_reference", "zmp_reference")}
        inputs |= {name: cs.SX.sym(name) for name in ("period", "gain")}
        zmp = inputs["zmp_reference"] + inputs["gain"] * (inputs["dcm"] - inputs["dcm_reference"])
        return inputs, {"zmp": zmp}

    def attach(self, function):
        super().attach(function)
        function.set(gain=2.0)

    def write(self, state, plan):
        reference = plan.reference.dcm
        self.function.set(
            dcm=state.dcm_position, dcm_reference=reference.position, zmp_reference=reference.zmp_position
        )


def test_a_law_by_its_equations_is_the_law_by_its_method():
    setup = load_setup("icub_v2_7")
    config = setup.walking.balance
    by_method, by_equations = (balance_layer(config, setup.robot, law) for law in (ByMethod(), ByEquations()))
    off = state(dcm=(0.01, -0.01))
    expected, found = update(by_method, off), update(by_equations, off)
    for name in ("zmp_position", "com_position", "com_velocity", "com_acceleration"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-15)
    np.testing.assert_allclose(found.zmp_position, [0.02, -0.02], atol=1e-15)


def test_a_law_without_a_law_and_equations_that_do_not_fit_are_refused():
    class Empty(DcmLaw):
        pass

    class WithoutZmp(DcmLaw):
        @classmethod
        def equations(cls):
            return {}, {}

    class Taken(ByEquations):
        @classmethod
        def equations(cls):
            inputs, outputs = super().equations()
            return inputs | {"com_position": cs.SX.sym("com", 3)}, outputs

    setup = load_setup("icub_v2_7")
    for law, said in (
        (Empty(), r"Empty states neither equations\(\) nor a method zmp"),
        (WithoutZmp(), r"WithoutZmp\.equations: no output 'zmp' of shape \(2, 1\)"),
        (Taken(), "Taken.equations: layer 2 has an input 'com_position' itself"),
    ):
        with pytest.raises(ConfigError, match=said):
            balance_layer(setup.walking.balance, setup.robot, law)


def test_tuned_gains_act_from_the_next_tick_on_as_if_they_had_been_configured():
    off = state(dcm=(0.02, -0.01), com=(0.01, 0.0, 0.5), zmp=(0.03, 0.0))
    gains, law = ZmpComControllerConfig(ZmpComGains(2.0, 1.0), STANDING), DcmControllerConfig(2.0, 0.0, 0.02, 0.0)
    tuned, other = control(), control(DcmController(law))
    update(tuned, off)
    tuned.tune(SimpleNamespace(zmp_com_controller=gains, law=law))
    other.tune(SimpleNamespace(zmp_com_controller=gains, law=law))
    tuned.resume(other.memory)
    np.testing.assert_array_equal(update(tuned, off).zmp_position, update(other, off).zmp_position)
    np.testing.assert_allclose(update(tuned, off).com_velocity[0], 0.1 - 2.0 * (0.04 - 0.03) - 1.0 * 0.01)
