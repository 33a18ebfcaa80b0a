"""Keys that differ from the shipped ones, and the values that those have."""

from gradiva.setup import load_setup
from gradiva.setup.changed_keys import changed_in_words, changed_keys, shipped_values

FILTER = "state_estimator.velocity_time_constant"


def test_what_torque_control_brings_along_is_shipped_with_it_and_the_choice_is_a_change():
    setup = load_setup("g1", {"walking.control": "torque", FILTER: 0.007})
    assert changed_keys(setup) == {"walking.control": "torque", FILTER: 0.007}
    shipped = shipped_values(setup)
    by_torque = load_setup("g1", {"walking.control": "torque"}).walking.state_estimator.velocity_time_constant
    assert shipped[FILTER] == by_torque != shipped_values(load_setup("g1"))[FILTER]
    assert shipped["walking.control"] == "position"
    assert changed_in_words(setup, "state_estimator").endswith(f"0.007 (shipped {by_torque:g})")
