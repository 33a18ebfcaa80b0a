import math
import re

import numpy as np
import pytest

from gradiva.common import ConfigError
from gradiva.experiments.slope_footing import SlopeFooting, check_slope, slope_note
from gradiva.setup import load_setup
from gradiva.simulation import slope_components

ROOM = (0.0765, 0.121, 0.0835, 0.121)


def on(steepness, heading=0.0, robot="icub_v2_7", **overrides):
    forward, left = slope_components(math.radians(steepness), math.radians(heading))
    slope = {"simulation.ground.slope_forward": forward, "simulation.ground.slope_left": left}
    return load_setup(robot, {**slope, **overrides})


def footing(steepness, uphill, walked=None):
    return SlopeFooting(math.radians(steepness), math.radians(uphill), 0.53, ROOM, friction=1.0, walked=walked)


def test_the_com_is_downhill_of_the_feet_by_its_height():
    np.testing.assert_allclose(footing(5.0, 90.0).com_shift, [0.0, -0.53 * math.tan(math.radians(5.0))], atol=1e-12)
    assert SlopeFooting.of(on(3.0, 90.0)).room == pytest.approx(ROOM)


@pytest.mark.parametrize(("uphill", "edge"), [*zip((180.0, -90.0, 0.0, 90.0), ROOM, strict=True)])
def test_a_robot_at_rest_topples_where_its_com_is_near_the_edge_downhill(uphill, edge):
    steepness = math.degrees(math.atan(0.7 * edge / 0.53))
    assert footing(steepness + 0.01, uphill).topples_at_rest
    assert not footing(steepness - 0.01, uphill).topples_at_rest


def test_between_the_axes_what_is_walked_is_an_ellipse():
    walked = (math.radians(3.0), math.radians(6.0))
    limit = 1.0 / math.hypot(math.cos(math.radians(45.0)) / 3.0, math.sin(math.radians(45.0)) / 6.0)
    assert footing(limit + 0.01, 45.0, walked).topples_walking
    assert not footing(limit - 0.01, 135.0, walked).topples_walking


@pytest.mark.parametrize("robot", ["icub_v2_7", "icub_v3", "talos", "g1"])
def test_what_was_seen_to_be_walked_is_not_refused_and_what_is_steeper_is(robot):
    for axis, headings in enumerate(((0.0, 180.0), (90.0, -90.0))):
        limit = on(0.0, robot=robot).robot.max_slope_deg[axis]
        for heading in headings:
            check_slope(on(limit - 0.01, heading, robot))
            with pytest.raises(ConfigError, match="topples, as its plan is for level ground"):
                check_slope(on(limit + 0.01, heading, robot))


def test_velocity_control_walks_slopes_on_which_position_control_topples():
    check_slope(on(5.0, 180.0, **{"walking.control": "velocity"}))
    with pytest.raises(ConfigError, match="topples"):
        check_slope(on(7.0, 0.0, **{"walking.control": "velocity"}))


def test_a_slope_on_which_soles_slip_is_refused_with_what_friction_holds():
    with pytest.raises(ConfigError, match=re.escape("friction=0.05 holds up to 2.9°")):
        check_slope(on(3.0, **{"simulation.ground.friction": 0.05}))


def test_a_slope_is_described_with_its_numbers_and_level_ground_not_at_all():
    assert slope_note(on(0.0)) is None
    note = slope_note(on(3.0, -90.0))
    assert note.startswith("a slope of 3.0° that rises to the right, and a plan for level ground: the CoM is")
    assert "28 mm downhill of where it is planned, the edge of the soles 121 mm; position control" in note
    assert note.endswith(
        "up to 3.5° ahead or back and 8.5° to the sides (max_slope_deg in robots/icub_v2_7/robot.toml)"
    )
