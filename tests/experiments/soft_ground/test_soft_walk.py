import pytest

from gradiva.common import GRAVITY
from gradiva.contacts import ViscoElasticParameters
from gradiva.experiments.planned_walk import plan_from_start
from gradiva.experiments.soft_ground.soft_walk import LENGTH, STEP_LENGTH, WIDTH, SoftWalk, sinkage
from gradiva.setup import load_robot
from gradiva.simulation import GroundKind
from gradiva.walking import GroundModel

GROUND = ViscoElasticParameters(8e5, 1e3)


@pytest.mark.parametrize("steps", [2, 16])
def test_the_plan_has_as_many_steps_as_asked_for_and_they_are_as_long(steps):
    trial = SoftWalk(GROUND, steps).trial()
    plan = plan_from_start(trial.setup(), trial.command)
    assert len(plan.steps) == steps
    feet = plan.at(plan.start_time + 0.5 * (plan.end_time - plan.start_time))
    apart = abs(feet.left_foot.position[0] - feet.right_foot.position[0])
    assert apart <= STEP_LENGTH + 1e-9
    assert steps == 2 or apart > 0.5 * STEP_LENGTH


def test_plant_and_controller_have_the_sole_of_the_thesis_and_the_ground_that_is_asked_for():
    setup = SoftWalk(GROUND, 2, prior=3.0, learns=True, controller=GroundModel.RIGID).trial().setup()
    sole = setup.robot.sole
    assert (sole.x[1] - sole.x[0], sole.y[1] - sole.y[0]) == pytest.approx((LENGTH, WIDTH))
    assert setup.simulation.ground.kind is GroundKind.VISCOELASTIC
    assert setup.simulation.viscoelastic.spring(0.0, 0.0) == GROUND
    estimator = setup.walking.contact_estimator
    assert (estimator.stiffness, estimator.damping, estimator.learns) == (2.4e6, 3e3, True)
    assert setup.walking.torque_control.ground is GroundModel.RIGID


def test_the_centre_of_mass_is_lower_by_what_the_soles_sink():
    heights = [
        SoftWalk(ViscoElasticParameters(stiffness, 1e4), 2).trial().setup().robot.com_height for stiffness in (8e5, 2e6)
    ]
    assert heights[1] - heights[0] == pytest.approx(sinkage(8e5) - sinkage(2e6))
    weight = 2.0 * LENGTH * WIDTH * 8e5 * sinkage(8e5)
    assert weight == pytest.approx(load_robot("icub_v2_7").mass * GRAVITY)
