import numpy as np
import pytest
from synthetic_walk import JOINTS, LEG, walk_result

from gradiva.telemetry.time_plots import plot_leg_torques
from gradiva.telemetry.walk_record import WalkRecord


def dashed(axis):
    return sorted(drawn.get_ydata()[0] for drawn in axis.lines if drawn.is_dashed())


def test_each_panel_has_a_joint_of_both_legs_with_its_limits(log):
    figure = plot_leg_torques(WalkRecord(log, JOINTS, walk_result()))
    assert [axis.get_title() for axis in figure.axes] == [f"{joint} [N·m], limit ±5" for joint in LEG]
    left, right = (figure.axes[0].lines[row].get_ydata() for row in range(2))
    column = JOINTS.index("l_hip_pitch")
    assert np.max(left) == pytest.approx(np.max(log["joints_state::torques::command"][:, column]))
    assert not np.array_equal(left, right)
    assert dashed(figure.axes[0]) == [-5.0, 5.0]


def test_a_limit_that_is_far_away_is_only_told(log):
    figure = plot_leg_torques(WalkRecord(log, JOINTS, walk_result() | {"torque_limits": [50.0] * len(JOINTS)}))
    assert dashed(figure.axes[0]) == []
    assert "limit ±50" in figure.axes[0].get_title()
