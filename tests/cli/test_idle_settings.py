import pytest

from gradiva.cli.idle_settings import idle_settings
from gradiva.setup import load_setup

POSITION: list[str] = []
RIGID = ['walking.control="torque"']
SOFT = [*RIGID, 'simulation.ground.kind="viscoelastic"']


def lines(setting, choices):
    return idle_settings([setting], load_setup("icub_v2_7", [*choices, setting]))


@pytest.mark.parametrize(
    ("setting", "choices", "told"),
    [
        (
            'rigid_torque_control.form="full"',
            POSITION,
            "rigid_torque_control.… in this walk, but --control torque",
        ),
        ("torque_control.torque_rate=3000", POSITION, "torque_control.… in this walk, but --control torque would"),
        ('rigid_torque_control.form="full"', SOFT, 'torque_control.ground="rigid" would'),
        ("compliant_torque_control.search_speed=0.04", RIGID, 'torque_control.ground="compliant" would'),
        ("contact_estimator.stiffness=1e6", RIGID, "contact_estimator.…"),
        ("dcm_mpc.horizon=1.0", POSITION, "--model dcm_mpc would"),
        ("simulation.viscoelastic.stiffness=1e6", RIGID, "--ground soft would"),
        ("simulation.penalty.damping=200.0", POSITION, "--ground penalty would"),
        ("joypad.deadzone=0.2", POSITION, "gradiva module would"),
    ],
)
def test_a_setting_that_nobody_reads_is_told_with_what_would_read_it(setting, choices, told):
    (line,) = lines(setting, choices)
    assert line.startswith("warning: nobody reads --set ")
    assert told in line


@pytest.mark.parametrize(
    ("setting", "choices"),
    [
        ('rigid_torque_control.form="full"', RIGID),
        ("torque_control.torque_rate=3000", SOFT),
        ("compliant_torque_control.search_speed=0.04", SOFT),
        ("contact_estimator.stiffness=1e6", SOFT),
        ("simulation.viscoelastic.stiffness=1e6", SOFT),
        ("dcm_mpc.horizon=1.0", ['walking.model="dcm_mpc"']),
        ("planner.swing_height=0.03", POSITION),
    ],
)
def test_what_is_read_is_not_told(setting, choices):
    assert lines(setting, choices) == []


def test_a_table_is_told_once():
    settings = ["dcm_mpc.horizon=1.0", "dcm_mpc.horizon=1.5"]
    assert len(idle_settings(settings, load_setup("icub_v2_7", settings))) == 1
