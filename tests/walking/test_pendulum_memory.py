"""Layer 2 can go on in another process where it ended in the first one."""

import numpy as np
import pytest
from gradiva.simplified_model.model_control import ModelControl

from gradiva.experiments import plan_from_start
from gradiva.planner import VelocityCommand
from gradiva.setup import load_setup
from gradiva.walking.plan_follower import planned_polygon
from gradiva.walking.walking_layers import model_control_of
from tests.yarp_modules.made_up_state import state_near

PERIOD = 0.01


def desired(control: ModelControl, setup, plan, tick: int):
    reference = plan.at(tick * PERIOD)
    preview = lambda period, count: plan.preview(reference.time, period, count)  # noqa: E731
    polygon = planned_polygon(reference, setup.robot.sole)
    state = state_near(reference, len(setup.robot.joints), tick)
    return control.update(state, reference, polygon, preview, PERIOD, np.full(2, 0.001), state.zmp_position)


@pytest.mark.parametrize("model", ["dcm", "dcm_mpc"])
def test_another_one_goes_on_with_the_memory_as_if_it_had_been_there_all_along(model):
    setup = load_setup("icub_v2_7", {"walking.model": model})
    plan = plan_from_start(setup, VelocityCommand(0.19, duration=3.0))
    first, second = (model_control_of(setup.robot, setup.walking) for _ in range(2))
    assert first.memory is None
    for tick in range(100):
        desired(first, setup, plan, tick)
    second.resume(first.memory)
    for tick in range(100, 140):
        before, after = desired(first, setup, plan, tick), desired(second, setup, plan, tick)
        np.testing.assert_allclose(after.com_position, before.com_position, atol=1e-6 if model == "dcm_mpc" else 0.0)
        np.testing.assert_allclose(after.zmp_position, before.zmp_position, atol=1e-5 if model == "dcm_mpc" else 0.0)


def test_without_a_memory_it_begins_again():
    setup = load_setup("icub_v2_7")
    plan = plan_from_start(setup, VelocityCommand(0.19, duration=3.0))
    used, fresh = (model_control_of(setup.robot, setup.walking) for _ in range(2))
    for tick in range(50):
        desired(used, setup, plan, tick)
    used.resume(None)
    np.testing.assert_array_equal(
        desired(used, setup, plan, 50).com_position, desired(fresh, setup, plan, 50).com_position
    )
