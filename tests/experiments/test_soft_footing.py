import re

import pytest

from gradiva.common import ConfigError, SoleRectangle
from gradiva.experiments.soft_footing import SoftFooting, check_footing, footing_note
from gradiva.setup import load_setup

THESIS_SOLE = {"sole.x": [-0.0685, 0.1215], "sole.y": [-0.04, 0.05]}


def on(stiffness, control="torque", **overrides):
    chosen = {"simulation.ground.kind": "viscoelastic", "walking.control": control}
    return load_setup("icub_v2_7", {**chosen, "simulation.viscoelastic.stiffness": stiffness, **overrides})


def test_the_numbers_are_those_of_springs_below_a_rectangle():
    footing = SoftFooting(weight=300.0, com_height=0.5, stiffness=1e6, sole=SoleRectangle((0.0, 0.2), (0.0, 0.1), 0.0))
    assert footing.sinkage == pytest.approx(0.015)
    assert footing.resistance == pytest.approx(1e6 * 0.2 * 0.1**3 / 12.0)
    assert footing.toppling == pytest.approx(150.0)
    assert footing.compliance == pytest.approx(18.0)


def test_the_softest_patch_and_the_true_mass_count():
    patches = {"simulation.viscoelastic.patches": [{"stiffness": 5e5, "damping": 1e4, "after": 3.0}]}
    footing = SoftFooting.of(on(2e6, **patches, **{"simulation.plant.mass_scale": 1.1}))
    assert footing.stiffness == 5e5
    assert footing.weight == pytest.approx(1.1 * 33.06 * 9.81)
    assert (footing.sole.length, footing.sole.width) == pytest.approx((0.16, 0.072))


@pytest.mark.parametrize("setup", [on(8e5), on(5e5), on(3e5, **THESIS_SOLE), on(2e6)], ids=str)
def test_ground_on_which_torque_control_was_seen_to_walk_is_not_refused(setup):
    check_footing(setup)


@pytest.mark.parametrize(("stiffness", "sole"), [(2e4, {}), (2e5, {}), (1.5e5, THESIS_SOLE)])
def test_ground_in_which_a_foot_sinks_too_deep_is_refused_with_what_would_do(stiffness, sole):
    with pytest.raises(ConfigError, match="sinks by") as refusal:
        check_footing(on(stiffness, **sole))
    enough = float(re.search(r"has to have (\S+) N/m³", str(refusal.value)).group(1))
    assert enough > stiffness
    check_footing(on(enough, **sole))
    with pytest.raises(ConfigError):
        check_footing(on(0.95 * enough, **sole))


@pytest.mark.parametrize("stiffness", [3e7, 3.4e7, 4e7])
def test_ground_on_which_position_control_was_seen_to_walk_is_not_refused(stiffness):
    check_footing(on(stiffness, "position"))


@pytest.mark.parametrize("control", ["position", "velocity"])
@pytest.mark.parametrize("stiffness", [2e6, 8e6, 2.5e7])
def test_ground_that_topples_a_robot_of_stiff_joints_is_refused_with_the_remedy(control, stiffness):
    with pytest.raises(ConfigError, match="walk with --control torque") as refusal:
        check_footing(on(stiffness, control))
    enough = float(re.search(r"or on (\S+) N/m³", str(refusal.value)).group(1))
    check_footing(on(enough, control))


def test_other_grounds_are_not_looked_at():
    setup = load_setup("icub_v2_7", {"simulation.viscoelastic.stiffness": 1.0})
    check_footing(setup)
    assert footing_note(setup) is None


def test_ground_that_is_stiff_enough_needs_no_note():
    assert footing_note(on(4e6)) is None
    assert footing_note(on(3e6)).endswith("rolls by 1.2° for each millimetre that the ZMP is off the sole's middle")
