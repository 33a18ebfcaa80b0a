"""Slopes and soft ground on which a robot cannot stand are refused or warned of before the walk."""

import math
import re

import numpy as np
import pytest

from gradiva.common import ConfigError, SoleRectangle
from gradiva.planner import VelocityCommand
from gradiva.setup import GccCompiler, Plant, cache_folder, load_setup
from gradiva.simulated_walk import (
    check_footing,
    check_slope,
    floor_note,
    footing_note,
    joint_notes,
    plan_from_start,
    planned_joints,
    response_note,
    slippery_note,
    slope_note,
)
from gradiva.simulated_walk.fall_evidence import needed_friction
from gradiva.simulated_walk.footing import SlopeFooting, SoftFooting, planned_friction
from gradiva.simulation import slope_components
from gradiva.walking import WalkingLayers

ROOM = (0.0865, 0.121, 0.0735, 0.121)


def on_slope(steepness, heading=0.0, robot="icub_v2_7", **overrides):
    forward, left = slope_components(math.radians(steepness), math.radians(heading))
    slope = {"simulation.ground.slope_forward": forward, "simulation.ground.slope_left": left}
    return load_setup(robot, {**slope, **overrides})


def footing(steepness, uphill, walked=None):
    return SlopeFooting(math.radians(steepness), math.radians(uphill), 0.53, ROOM, friction=1.0, walked=walked)


def test_the_com_is_downhill_of_the_feet_by_its_height():
    np.testing.assert_allclose(footing(5.0, 90.0).com_shift, [0.0, -0.53 * math.tan(math.radians(5.0))], atol=1e-12)
    assert SlopeFooting.of(on_slope(3.0, 90.0)).room == pytest.approx(ROOM)


@pytest.mark.parametrize(("uphill", "edge"), [*zip((180.0, -90.0, 0.0, 90.0), ROOM, strict=True)])
def test_a_robot_at_rest_topples_where_its_com_is_near_the_edge_downhill(uphill, edge):
    steepness = math.degrees(math.atan(0.7 * edge / 0.53))
    assert footing(steepness + 0.01, uphill).topples_at_rest
    assert math.degrees(footing(0.3, uphill).steepest_at_rest) == pytest.approx(steepness)
    assert not footing(steepness - 0.01, uphill).topples_at_rest


def test_a_slope_that_was_seen_to_be_walked_may_bring_the_com_nearer_to_the_edge_but_not_beyond():
    walked = (math.radians(12.0), math.radians(12.0))
    near, beyond = (math.degrees(math.atan(part * ROOM[2] / 0.53)) for part in (0.95, 1.02))
    assert not footing(near, 0.0, walked).topples_at_rest
    assert footing(near, 0.0).topples_at_rest
    assert footing(beyond, 0.0, walked).topples_at_rest


def test_between_the_axes_what_is_walked_is_an_ellipse():
    walked = (math.radians(3.0), math.radians(6.0))
    limit = 1.0 / math.hypot(math.cos(math.radians(45.0)) / 3.0, math.sin(math.radians(45.0)) / 6.0)
    assert footing(limit + 0.01, 45.0, walked).topples_walking
    assert not footing(limit - 0.01, 135.0, walked).topples_walking


@pytest.mark.parametrize("robot", ["icub_v2_7", "icub_v3", "talos", "g1"])
def test_what_was_seen_to_be_walked_is_not_refused_and_what_is_steeper_is(robot):
    for axis, headings in enumerate(((0.0, 180.0), (90.0, -90.0))):
        limit = on_slope(0.0, robot=robot).robot.max_slope_deg[axis]
        for heading in headings:
            check_slope(on_slope(limit - 0.01, heading, robot))
            with pytest.raises(
                ConfigError, match=r"steeper than .* has been seen to walk, as its .*a larger max_slope_deg"
            ):
                check_slope(on_slope(limit + 0.01, heading, robot))


def test_velocity_control_walks_slopes_on_which_position_control_topples():
    check_slope(on_slope(5.0, 180.0, **{"walking.control": "velocity"}))
    with pytest.raises(ConfigError, match="topples"):
        check_slope(on_slope(7.0, 0.0, **{"walking.control": "velocity"}))
    assert slope_note(on_slope(2.0, **{"walking.control": "velocity"})).endswith(
        "how steep it walks by velocity is not known"
    )


def test_torque_control_has_a_limit_of_its_own():
    by_torque = {"walking.control": "torque"}
    ahead, aside = on_slope(0.0, robot="icub_v2_7").robot.max_torque_slope_deg
    check_slope(on_slope(ahead - 0.01, 0.0, **by_torque))
    with pytest.raises(ConfigError, match="a larger max_torque_slope_deg there lets it try"):
        check_slope(on_slope(aside + 0.01, 90.0, **by_torque))
    assert slope_note(on_slope(2.0, **by_torque)).endswith(
        f"torque control has been seen to walk up to {ahead}° ahead or back and {aside}° to the sides"
        " (max_torque_slope_deg in robots/icub_v2_7/robot.toml)"
    )


def test_a_slope_on_which_soles_slip_is_refused_with_what_friction_holds():
    with pytest.raises(ConfigError, match=re.escape("friction=0.05 holds up to 2.9°")):
        check_slope(on_slope(3.0, **{"simulation.ground.friction": 0.05}))


def test_a_slope_is_described_with_its_numbers_and_level_ground_not_at_all():
    assert slope_note(on_slope(0.0)) is None
    note = slope_note(on_slope(3.0, -90.0))
    assert note.startswith("a slope of 3.0° that rises to the right, and a plan for level ground: the CoM is")
    assert "28 mm downhill of where it is planned, the edge of the soles 121 mm; position control" in note
    assert note.endswith("to the sides (max_slope_deg in robots/icub_v2_7/robot.toml)")


THESIS_SOLE = {"sole.x": [-0.0685, 0.1215], "sole.y": [-0.04, 0.05]}


def on_soft(stiffness, control="torque", **overrides):
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
    footing = SoftFooting.of(on_soft(2e6, **patches, **{"simulation.plant.mass_scale": 1.1}))
    assert footing.stiffness == 5e5
    assert footing.weight == pytest.approx(1.1 * 33.06 * 9.81)
    assert (footing.sole.length, footing.sole.width) == pytest.approx((0.16, 0.072))


@pytest.mark.parametrize("setup", [on_soft(8e5), on_soft(5e5), on_soft(3e5, **THESIS_SOLE), on_soft(2e6)], ids=str)
def test_ground_on_which_torque_control_was_seen_to_walk_is_not_refused(setup):
    check_footing(setup)


@pytest.mark.parametrize(("stiffness", "sole"), [(2e4, {}), (2e5, {}), (1.5e5, THESIS_SOLE)])
def test_ground_in_which_a_foot_sinks_too_deep_is_refused_with_what_would_do(stiffness, sole):
    with pytest.raises(ConfigError, match="sinks by") as refusal:
        check_footing(on_soft(stiffness, **sole))
    enough = float(re.search(r"has to have (\S+) N/m³", str(refusal.value)).group(1))
    assert enough > stiffness
    check_footing(on_soft(enough, **sole))
    with pytest.raises(ConfigError):
        check_footing(on_soft(0.95 * enough, **sole))


@pytest.mark.parametrize("stiffness", [3e7, 3.4e7, 4e7])
def test_ground_on_which_position_control_was_seen_to_walk_is_not_refused(stiffness):
    check_footing(on_soft(stiffness, "position"))


@pytest.mark.parametrize("control", ["position", "velocity"])
@pytest.mark.parametrize("stiffness", [2e6, 8e6, 2.5e7])
def test_ground_that_topples_a_robot_of_stiff_joints_is_refused_with_the_remedy(control, stiffness):
    with pytest.raises(ConfigError, match="walk with --control torque") as refusal:
        check_footing(on_soft(stiffness, control))
    enough = float(re.search(r"or on (\S+) N/m³", str(refusal.value)).group(1))
    check_footing(on_soft(enough, control))


def test_other_grounds_are_not_looked_at():
    setup = load_setup("icub_v2_7", {"simulation.viscoelastic.stiffness": 1.0})
    check_footing(setup)
    assert footing_note(setup) is None


def test_ground_that_is_stiff_enough_needs_no_note():
    assert footing_note(on_soft(4e6)) is None
    assert footing_note(on_soft(3e6)).endswith(
        "rolls by 1.2° for each millimetre that the ZMP is off the sole's middle"
    )


def test_torque_control_on_soft_ground_is_told_when_sensors_and_motors_are_too_slow_for_it():
    by_torque = {"walking.control": "torque", "simulation.ground.kind": "viscoelastic"}
    as_robot = load_setup("icub_v3", by_torque, plant=Plant.ROBOT)
    assert "joints that are 2 ms old after 10 ms more" in response_note(as_robot)
    assert response_note(load_setup("icub_v3", by_torque)) is None
    assert response_note(load_setup("icub_v3", {"walking.control": "torque"}, plant=Plant.ROBOT)) is None


def layers_and_plan(robot, speed, **overrides):
    setup = load_setup(robot, overrides)
    layers = WalkingLayers(setup.robot, setup.walking, GccCompiler(cache_folder()))
    return layers, plan_from_start(setup, VelocityCommand(speed, duration=10.0))


@pytest.mark.parametrize("robot", ["icub_v2_7", "icub_v3", "talos", "g1"])
def test_motors_follow_the_plan_at_a_fifth_of_a_metre_per_second(robot):
    layers, plan = layers_and_plan(robot, 0.2)
    speeds, motors = planned_joints(layers, plan).speeds, layers.robot.per_joint("no_load_speed")
    legs = [layers.robot.joints.index(joint) for joint in layers.robot.joint_groups["left_leg"].joints]
    assert speeds[legs].max() > 1.0
    assert (speeds[legs] < 0.65 * motors[legs]).all()
    assert joint_notes(layers, plan) == []


def test_joints_that_a_plan_drives_to_their_limits_are_named_and_a_longer_swing_spares_them():
    layers, plan = layers_and_plan("icub_v3", 0.36)
    knee = layers.robot.joints.index("l_knee")
    speeds = planned_joints(layers, plan).speeds
    assert speeds[knee] == pytest.approx(layers.velocity_limits[knee], rel=1e-6)
    assert re.search(r"drives .*l_knee.*robots/icub_v3/robot\.toml", joint_notes(layers, plan)[0])
    slower = layers_and_plan("icub_v3", 0.36, **{"planner.footsteps.double_support_ratio": 0.15})
    spared = planned_joints(*slower).speeds
    assert spared[knee] < 0.95 * speeds[knee]
    np.testing.assert_array_equal(planned_joints(layers, plan).speeds, speeds)


def test_joints_that_a_plan_bends_to_the_limits_of_their_positions_are_named():
    layers, plan = layers_and_plan("icub_v2_7", 0.19, **{"planner.swing_height": 0.03})
    axes = layers.joint_axes()
    assert {joint: axis for joint, axis in axes.items() if not joint.endswith(axis)} == {
        "l_knee": "pitch",
        "r_knee": "pitch",
    }
    assert len(axes) == 15, "legs and torso"
    notes = joint_notes(layers, plan)
    assert [note for note in notes if "l_ankle_pitch, r_ankle_pitch to position limits" in note]


WALK = VelocityCommand(0.19, duration=10.0)


def floor(plant=None, **settings):
    setup = load_setup("g1", {f"simulation.ground.{key}": value for key, value in settings.items()}, plant=plant)
    return setup, plan_from_start(setup, WALK)


def test_a_plan_needs_as_much_friction_as_its_pendulum_leans():
    assert needed_friction(np.outer(np.linspace(0.0, 1.0, 101), [0.6, 0.8]) * 9.81) == pytest.approx(0.9)
    setup, plan = floor()
    references = [plan.at(time) for time in np.arange(plan.start_time, plan.start_time + 10.0, 0.02).tolist()]
    lean = [np.linalg.norm(each.com_position[:2] - each.dcm.zmp_position) for each in references if each.is_walking]
    height = setup.walking.planner.com_height
    assert planned_friction(plan) == pytest.approx(np.percentile(lean, 90) / height, rel=0.05)
    assert 0.11 < planned_friction(plan) < 0.14
    standing = plan_from_start(setup, VelocityCommand(0.0, duration=1.0))
    assert planned_friction(standing) <= planned_friction(plan)


def test_a_floor_of_less_friction_than_the_plan_needs_is_warned_of_with_both():
    """G1 slides by 130 mm and falls with 0.05, by 8 mm with 0.1, by 1 mm with 0.15."""
    assert slippery_note(*floor(), 0) is None
    assert slippery_note(*floor(friction=0.15), 0) is None
    note = slippery_note(*floor(friction=0.05), 0)
    assert note.startswith(
        f"the simulated floor is more slippery than the plan takes: friction 0.05, the planned CoM needs"
        f" {planned_friction(floor()[1]):.2f} "
    )
    assert slippery_note(*floor(friction=0.05, kind="viscoelastic"), 0) is None  # whose feet do not slide


def test_the_friction_that_is_drawn_counts_and_a_slope_needs_more():
    notes = [slippery_note(*floor(Plant.ROBOT, friction=0.1), seed) for seed in range(20)]
    assert any(notes)
    assert not all(notes)
    assert all("drawn, 0.1 is set" in note for note in notes if note)
    lowest = [slippery_note(*floor(Plant.ROBOT, friction=0.05), seed) or "" for seed in range(20)]
    assert any("friction 0.01 (drawn, 0.05 is set), the planned" in note for note in lowest), "as low as floors get"
    steep = slippery_note(*floor(friction=0.15, slope_forward=math.radians(5.0)), 0)
    assert steep.endswith(", the slope 0.09 more: the feet may slip")


def test_a_note_on_the_floor_names_what_is_soft_and_what_is_slippery():
    assert floor_note(*floor(), 0) is None
    soft = floor_note(*floor(contact_time=60.0), 0)
    assert soft.startswith("the simulated floor is softer than gains are made for: its time constant is 60 ms")
    assert "balance on one foot is unstable there" in soft
    assert "simulation.ground.contact_time of up to 28 physics steps (of 1 ms) is a stiffer floor" in soft
    both = floor_note(*floor(contact_time=60.0, friction=0.05), 0)
    assert both.startswith(soft)
    assert "; the simulated floor is more slippery than the plan takes: friction 0.05" in both
