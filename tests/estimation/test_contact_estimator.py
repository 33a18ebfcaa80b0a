"""Contacts with soft ground: detection, rest pose, normal forces."""

import dataclasses

import numpy as np
import pytest

from gradiva.common import ConfigError, FootContact, Side, so3
from gradiva.contacts import SoleMotion, ViscoElasticContact
from gradiva.estimation import (
    ContactDetector,
    ContactEstimator,
    ContactEstimatorConfig,
)
from gradiva.estimation.contact_estimator import normal_force_function
from gradiva.robot_model import interpreted
from tests.estimation.soft_feet import (
    PERIOD,
    REST,
    SOLE,
    SoftGround,
    in_the_air,
    planned,
    reference,
    state,
    swaying,
)

STANDS, RISES, COMES_DOWN = planned(), planned(False, 0.1), planned(False, -0.1)


@pytest.fixture
def detector():
    return ContactDetector()


def answers(detector, forces, reference):
    return [detector.update(force, reference) for force in forces]


def test_between_both_forces_a_contact_keeps_what_it_was(detector):
    forces = [0.0, 5.0, 8.0, 8.1, 5.0, 1.0, 0.9, 5.0, 8.0, 9.0]
    expected = [False, False, False, True, True, True, False, False, False, True]
    assert answers(detector, forces, STANDS) == expected


def test_a_foot_that_meets_the_ground_before_its_time_stands_and_goes_on_standing(detector):
    assert answers(detector, [0.0, 9.0], COMES_DOWN) == [False, True]
    assert detector.update(50.0, planned(False, 0.0))
    assert detector.update(100.0, STANDS)


def test_a_foot_that_the_plan_lifts_is_released_with_its_last_load_on_it(detector):
    assert detector.update(100.0, STANDS)
    assert answers(detector, [30.0, 20.0, 9.0], planned(False, 0.0)) == [False] * 3
    assert answers(detector, [50.0, 0.0], RISES) == [False] * 2


def test_a_foot_that_loses_its_load_against_the_plan_is_released_until_it_finds_ground(detector):
    detector.update(100.0, STANDS)
    assert answers(detector, [0.5, 0.0, 4.0, 12.0], STANDS) == [False, False, False, True]


def test_after_a_reset_the_foot_is_in_the_air(detector):
    detector.update(100.0, STANDS)
    detector.reset()
    assert not detector.update(5.0, STANDS)


def test_a_negative_time_constant_is_refused():
    with pytest.raises(ConfigError, match=r"force_time_constant=-1\.0, must not be negative"):
        dataclasses.replace(CONFIG, force_time_constant=-1.0)


NORMAL = 2


def foot(random):
    """Return the motion of a sole that is about halfway in the ground, and its contact."""
    rotation = so3.exp(random.normal(size=3) * [0.1, 0.1, 0.5])
    position = random.normal(size=3) * [0.2, 0.2, 0.003] - [0.0, 0.0, SOLE.z]
    rest = FootContact(True, np.zeros(3) - [0.0, 0.0, SOLE.z], so3.rotation_z(0.2), *random.uniform(1e4, 1e6, size=2))
    return SoleMotion(position, rotation, 0.05 * random.normal(size=6)), rest


def inputs_of(side, motion, contact):
    return {
        f"{side}_position": motion.position,
        f"{side}_rotation": motion.rotation,
        f"{side}_twist": motion.twist,
        f"{side}_rest_position": contact.rest_position,
        f"{side}_rest_rotation": contact.rest_rotation,
        f"{side}_ground": (contact.stiffness, contact.damping),
    }


def test_both_feet_have_the_regressors_and_areas_of_a_single_sole():
    function, random = normal_force_function(SOLE, interpreted), np.random.default_rng(11)
    areas = []
    for _ in range(20):
        feet = {side: foot(random) for side in Side}
        function.set(**{name: value for side in Side for name, value in inputs_of(side, *feet[side]).items()})
        outputs = function()
        for side, (motion, contact) in feet.items():
            model = ViscoElasticContact(SOLE, side)
            area = model.loaded_moments(motion, contact).area
            expected = (*model.regressor(motion, contact)[NORMAL], area)
            np.testing.assert_allclose(outputs[f"{side}_normal_force"], expected, rtol=1e-9, atol=1e-15)
            areas.append(area)
    assert min(areas) < 0.3 * max(areas)


def test_a_sole_in_the_air_has_no_area():
    function = normal_force_function(SOLE, interpreted)
    motion = SoleMotion(np.array([0.0, 0.0, 0.05]), np.eye(3), np.zeros(6))
    function.set(**inputs_of(Side.LEFT, motion, FootContact(True, np.zeros(3), np.eye(3), 1e6, 1e4)))
    assert function()["left_normal_force"].tolist() == pytest.approx([0.0, 0.0, 0.0], abs=0.0)


CONFIG = ContactEstimatorConfig(1e6, 1e4, True, 0.0, 0.0)
STANDING = reference(planned())


def watch(estimator, ground, motion_at, times):
    """The estimated contact of the left foot at each time [s]."""
    contacts = []
    for time in times:
        motion = motion_at(time)
        contacts.append(estimator.update(state(motion, ground.wrench(motion)), STANDING, time)[0])
    return contacts


def errors(contacts, ground):
    """Relative errors of k and b."""
    stiffness = np.array([contact.stiffness for contact in contacts]) / ground.stiffness - 1.0
    damping = np.array([contact.damping for contact in contacts]) / ground.damping - 1.0
    return np.abs(stiffness), np.abs(damping)


def estimator_from(stiffness, damping):
    """An estimator that assumes this ground."""
    return ContactEstimator(SOLE, dataclasses.replace(CONFIG, stiffness=stiffness, damping=damping))


def seconds(duration, start=0.0):
    return (start + np.arange(0.0, duration, PERIOD)).tolist()


@pytest.mark.parametrize("prior", [1.0 / 3.0, 3.0])
@pytest.mark.parametrize(("stiffness", "damping"), [(2e6, 1e4), (8e5, 1e4), (1e6, 1e3)])
def test_a_moving_foot_tells_stiffness_and_damping(prior, stiffness, damping):
    ground = SoftGround(stiffness, damping)
    contacts = watch(estimator_from(prior * stiffness, prior * damping), ground, swaying, seconds(0.4))
    of_stiffness, of_damping = errors(contacts, ground)
    assert of_stiffness[50:].max() < 0.1
    assert of_damping[250:].max() < 0.1
    assert max(of_stiffness[-1], of_damping[-1]) < 0.02


@pytest.mark.parametrize("prior", [1.0 / 3.0, 3.0])
def test_through_noise_it_takes_less_than_a_second(prior):
    ground = SoftGround(1e6, 1e4, noise=5.0)
    contacts = watch(estimator_from(prior * 1e6, prior * 1e4), ground, swaying, seconds(1.5))
    of_stiffness, of_damping = errors(contacts[1000:], ground)
    assert of_stiffness.max() < 0.01
    assert of_damping.max() < 0.1


def test_ground_that_changes_under_the_foot_is_followed():
    estimator, before, after = estimator_from(2e6, 1e4), SoftGround(2e6, 1e4, 1.0), SoftGround(8e5, 5e3, 1.0)
    watch(estimator, before, swaying, seconds(0.5))
    of_stiffness, of_damping = errors(watch(estimator, after, swaying, seconds(1.0, start=0.5)), after)
    assert of_stiffness[50:].max() < 0.1
    assert of_damping[-1] < 0.1


@pytest.mark.parametrize(("stiffness", "damping"), [(2e6, 1e4), (2e6, 1e3)])
def test_wrenches_that_are_older_than_the_poses_are_compared_with_older_poses(stiffness, damping):
    ground, age = SoftGround(stiffness, damping), 0.00075
    config = dataclasses.replace(CONFIG, stiffness=stiffness / 3, damping=damping / 3)
    knowing, ignorant = ContactEstimator(SOLE, config, age), ContactEstimator(SOLE, config)
    for time in seconds(0.4):
        measured = state(swaying(time), ground.wrench(swaying(time - age)))
        known, mistaken = (estimator.update(measured, STANDING, time)[0] for estimator in (knowing, ignorant))
    assert known.damping == pytest.approx(damping, rel=0.05)
    assert mistaken.damping == pytest.approx(max(damping - stiffness * age, 100.0), rel=0.1)


def test_a_single_outlier_is_not_believed():
    estimator, ground = estimator_from(1e6, 1e4), SoftGround(1e6, 1e4)
    watch(estimator, ground, swaying, seconds(0.2))
    motion = swaying(0.2)
    struck = state(motion, ground.wrench(motion) + np.array([0, 0, 500, 0, 0, 0]))
    contact, _ = estimator.update(struck, STANDING, 0.2)
    assert contact.stiffness == pytest.approx(1e6, rel=1e-3)


def test_a_foot_that_stands_still_keeps_the_damping_that_was_assumed():
    ground = SoftGround(2e6, 1e4, 5.0)
    still = watch(estimator_from(1e6, 5e3), ground, lambda time: swaying(time, amplitude=0.0), seconds(0.5))
    assert still[-1].damping == 5e3
    assert still[-1].stiffness == pytest.approx(2e6, rel=0.01)


def test_a_partly_loaded_foot_tells_the_stiffness_too():
    ground = SoftGround(1e6, 1e4)
    contacts = watch(estimator_from(2e6, 1e4), ground, lambda time: swaying(time, depth=0.0, rate=20.0), seconds(0.3))
    assert contacts[-1].stiffness == pytest.approx(1e6, rel=0.05)


def test_parameters_that_are_not_to_be_learned_stay_as_they_are():
    estimator = ContactEstimator(SOLE, dataclasses.replace(CONFIG, learns=False))
    contact = watch(estimator, SoftGround(3e6, 3e4), swaying, seconds(0.1))[-1]
    assert (contact.stiffness, contact.damping) == (1e6, 1e4)


def test_the_rest_pose_is_level_on_the_ground_where_the_foot_touched_and_stays_there():
    estimator, ground = ContactEstimator(SOLE, dataclasses.replace(CONFIG, ground_height=-0.003)), SoftGround(1e6, 1e4)
    tilted = swaying(0.1)
    first, _ = estimator.update(state(tilted, ground.wrench(tilted)), STANDING, 0.0)
    assert first.is_active
    np.testing.assert_allclose(first.rest_position, [*tilted.position[:2], -0.003])
    np.testing.assert_allclose(first.rest_rotation, so3.rotation_z(so3.yaw(tilted.rotation)))
    for contact in watch(estimator, ground, swaying, seconds(0.1, start=0.1)):
        np.testing.assert_array_equal(contact.rest_position, first.rest_position)
        np.testing.assert_array_equal(contact.rest_rotation, first.rest_rotation)


def test_a_foot_in_the_air_would_rest_below_where_it_is():
    airborne = in_the_air()
    contact, other = ContactEstimator(SOLE, CONFIG).update(state(airborne, np.zeros(6)), STANDING, 0.0)
    assert not contact.is_active
    assert not other.is_active
    np.testing.assert_allclose(contact.rest_position, [*REST[:2], 0.0])
    np.testing.assert_allclose(contact.rest_rotation[:, 2], [0, 0, 1])


def test_each_touch_down_has_its_rest_pose_and_keeps_what_was_learned():
    estimator, ground = estimator_from(3e5, 1e4), SoftGround(1e6, 1e4)
    watch(estimator, ground, swaying, seconds(0.2))
    estimator.update(state(in_the_air(), np.zeros(6)), STANDING, 0.2)
    moved = dataclasses.replace(state(swaying(0.3), np.array([0, 0, 50, 0, 0, 0])), left_foot_position=REST + 0.1)
    contact, _ = estimator.update(moved, STANDING, 0.201)
    np.testing.assert_allclose(contact.rest_position, [*(REST + 0.1)[:2], 0.0])
    assert contact.stiffness == pytest.approx(1e6, rel=0.01)


def test_after_a_touch_down_other_ground_is_believed_at_once():
    estimator, before, after = estimator_from(1e6, 1e4), SoftGround(1e6, 1e4), SoftGround(2e6, 1e4)
    watch(estimator, before, swaying, seconds(0.2))
    without = watch(estimator, after, swaying, seconds(0.005, start=0.2))
    assert without[-1].stiffness == pytest.approx(1e6, rel=0.01)  # a large innovation, left out at first
    estimator.update(state(in_the_air(), np.zeros(6)), STANDING, 0.205)
    touched = watch(estimator, after, swaying, seconds(0.005, start=0.206))
    assert touched[-1].stiffness == pytest.approx(2e6, rel=0.05)


def test_a_foot_that_lands_early_is_a_contact_and_one_that_is_lifted_is_none():
    estimator, loaded = ContactEstimator(SOLE, CONFIG), np.array([0, 0, 60.0, 0, 0, 0])
    landing, lifted = reference(planned(False, -0.1)), reference(planned(False, 0.0))
    assert estimator.update(state(swaying(0.0), loaded), landing, 0.0)[0].is_active
    assert estimator.update(state(swaying(0.0), loaded), STANDING, 0.001)[0].is_active
    assert not estimator.update(state(swaying(0.0), loaded), lifted, 0.002)[0].is_active


def test_the_force_may_be_filtered_so_that_noise_makes_no_contact():
    random = np.random.default_rng(0)
    filtered = ContactEstimator(SOLE, dataclasses.replace(CONFIG, force_time_constant=0.01))
    unfiltered, false = ContactEstimator(SOLE, CONFIG), [0, 0]
    for time in seconds(0.2):
        noisy = state(in_the_air(), random.normal(scale=5.0, size=6))
        for index, estimator in enumerate((filtered, unfiltered)):
            false[index] += estimator.update(noisy, STANDING, time)[0].is_active
    assert false[0] == 0 < false[1]


def test_after_a_reset_the_ground_is_as_it_was_assumed():
    estimator = estimator_from(3e5, 1e3)
    watch(estimator, SoftGround(1e6, 1e4), swaying, seconds(0.1))
    estimator.reset()
    contact, _ = estimator.update(state(in_the_air(), np.zeros(6)), STANDING, 0.0)
    assert (contact.stiffness, contact.damping) == (3e5, 1e3)


def test_a_state_takes_contacts_and_keeps_the_rest():
    before = state(swaying(0.0), np.zeros(6))
    contacts = ContactEstimator(SOLE, CONFIG).update(before, STANDING, 0.0)
    after = before.with_contacts(*contacts)
    assert (after.left_contact, after.right_contact) == contacts
    assert before.left_contact is None
    assert after.left_foot_position is before.left_foot_position


def test_ground_without_stiffness_is_refused():
    with pytest.raises(ConfigError, match="stiffness=0"):
        dataclasses.replace(CONFIG, stiffness=0.0)
