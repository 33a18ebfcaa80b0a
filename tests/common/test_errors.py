import pytest

from gradiva.common import nearest_name


def test_few_names_are_all_listed():
    assert nearest_name("perod", ["period", "model"]) == "; did you mean 'period'? (valid: model, period)"
    assert nearest_name("forward_speed", ["or", "height"]) == " (valid: height, or)"
    assert "'g1'" in nearest_name("unitree_g1", ["g1", "icub_v3"]).split("(")[0]
    assert "'g1'" in nearest_name("G1", ["g1", "icub_v3"]).split("(")[0]


def test_of_many_names_the_nearest_are_listed_and_the_others_counted():
    names = [f"joint_{number}" for number in range(20)]
    assert (
        nearest_name("joint_7x", names) == "; did you mean 'joint_7'? (valid: joint_7, joint_17, joint_9 and 17 others)"
    )


def test_many_names_that_are_all_far_give_no_hint_but_examples():
    message = nearest_name("x", [f"joint_{number}" for number in range(13)])
    assert message.startswith(" (valid: joint_")
    assert message.endswith(" and 10 others)")


def test_a_name_that_holds_what_was_written_is_meant_where_none_is_spelt_like_it():
    assert nearest_name("foot", ["foot_admittance", "safety"]).startswith("; did you mean 'foot_admittance'?")
    assert nearest_name("f", ["foot_admittance", "safety"]).startswith(" (valid")


@pytest.mark.parametrize(("written", "meant"), [("real", "robot"), ("perfect", "ideal"), ("ideel", "ideal")])
def test_a_name_that_means_what_was_written_comes_before_one_that_is_spelt_like_it(written, meant):
    assert nearest_name(written, ["ideal", "noisy", "robot"]).startswith(f"; did you mean '{meant}'? (valid: ideal,")


def test_a_meaning_that_is_not_valid_is_no_hint():
    assert nearest_name("real", ["reel", "noisy"]).startswith("; did you mean 'reel'?")


def test_where_there_is_no_name_none_is_listed():
    assert nearest_name("foot", []) == ""
