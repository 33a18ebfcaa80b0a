import pytest

from gradiva.cli.walk_options import idle_settings
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
            "rigid_torque_control.… has no effect in this walk, it needs --control torque",
        ),
        (
            "torque_control.torque_rate=3000",
            POSITION,
            "torque_control.… has no effect in this walk, it needs --control torque",
        ),
        ('rigid_torque_control.form="full"', SOFT, 'torque_control.ground="rigid"'),
        ("compliant_torque_control.search_speed=0.04", RIGID, 'torque_control.ground="compliant"'),
        ("contact_estimator.stiffness=1e6", RIGID, "contact_estimator.…"),
        ("dcm_mpc.horizon=1.0", POSITION, "--model dcm_mpc"),
        ("simulation.viscoelastic.stiffness=1e6", RIGID, "--ground soft"),
        ("simulation.penalty.damping=200.0", POSITION, "--ground penalty"),
        ("joypad.deadzone=0.2", POSITION, "gradiva module"),
    ],
)
def test_a_setting_without_effect_is_reported_with_what_it_needs(setting, choices, told):
    (line,) = lines(setting, choices)
    assert line.startswith("warning: --set ")
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
