import pytest

from gradiva.common import ConfigError
from gradiva.estimation import ContactDetector, ContactDetectorConfig
from tests.estimation.soft_feet import planned

STANDS, RISES, COMES_DOWN = planned(), planned(False, 0.1), planned(False, -0.1)


@pytest.fixture
def detector():
    return ContactDetector(ContactDetectorConfig(8.0, 1.0, 0.0))


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


def test_forces_in_the_wrong_order_are_refused():
    with pytest.raises(ConfigError, match="release_force=8"):
        ContactDetectorConfig(8.0, 8.0, 0.0)
    with pytest.raises(ConfigError, match="force_time_constant=-1"):
        ContactDetectorConfig(8.0, 1.0, -1.0)
