"""Stability margins of the loop through the foot wrenches: the model against the simulation, and what is refused."""

import math
import multiprocessing
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import ConfigError, ControlMode, Side, altered
from gradiva.common.errors import FAIL, OK, WARN
from gradiva.setup import Plant as PlantName
from gradiva.setup import (
    check_margins,
    has_wrench_loop,
    installed_robot_names,
    load_setup,
    noise_response,
    robot_checks,
    stability_margins,
)
from gradiva.setup.soft_floors import balance_peak
from gradiva.setup.stability_margins import PEAK, Margins, StabilityMargins
from gradiva.setup.standing_plant import Plant, StandingBody
from gradiva.setup.wrench_loop import WrenchLoop
from gradiva.simulated_walk import SimulatedWalk
from tests.conftest import long

FEET = (Side.LEFT, Side.RIGHT)
_COM_GAIN = "zmp_com_controller.walking.com"
CHANNELS = (2, 3, 4)  # f_z, μ_x, μ_y
DECAY = 40  # [ticks] after which what is left of an impulse is slow
FADING = 30  # [ticks] at their end
IMPULSES = (5.0, 0.2, 0.2)  # [N, N·m, N·m] no corner lifts


def impulse_responses(walk: SimulatedWalk) -> np.ndarray:
    """Return the wrenches of both feet that follow impulses in those that the controller reads, (ticks, 6, 6).

    Each in a fork of the same robot, less those that follow no impulse: without its wrenches the robot topples slowly.
    """
    read, cut, noise = walk.robot.read, walk.measurement.contact_wrenches.copy(), np.random.default_rng(0)
    added, exerted = np.zeros_like(cut), []

    def read_cut() -> object:
        measurement = read()
        exerted.append(measurement.contact_wrenches[:, CHANNELS].ravel())
        still = cut + 1e-7 * noise.standard_normal(cut.shape)  # one that is frozen is not trusted
        return altered(measurement, contact_wrenches=still + added)

    def after(channel: int, size: float) -> np.ndarray:
        exerted.clear()
        foot, row = divmod(channel, 3)
        added[foot, CHANNELS[row]] = size
        walk.tick()
        added[:] = 0.0
        walk.run(DECAY * 0.01)
        return np.array(exerted)

    walk.robot.read = read_cut
    walk.run(1.0)
    still = in_fork(after, 0, 0.0)
    responses = [(in_fork(after, c, IMPULSES[c % 3]) - still) / IMPULSES[c % 3] for c in range(6)]
    return np.stack(responses, axis=-1)


def in_fork(run: Callable[..., np.ndarray], *arguments: float) -> np.ndarray:
    """Return what ``run`` returns in a fork of this process, where alone it changes something."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        try:
            sender.send(run(*arguments))
        finally:
            os._exit(0)
    sender.close()
    try:
        return receiver.recv()
    finally:
        os.waitpid(child, 0)


@pytest.mark.parametrize(
    ("control", "age"), [long(ControlMode.POSITION, 0.0), long(ControlMode.VELOCITY, 0.0), (ControlMode.POSITION, 0.01)]
)
def test_the_model_is_the_loop_that_the_simulation_has(control, age, compiler):
    settings = {"walking.control": str(control), "simulation.sensors.wrenches.delay": age}
    settings["foot_admittance.spread_gain"] = 0.0  # by seconds: at these frequencies nothing, and it does not die away
    setup = load_setup("icub_v2_7", settings)
    walk = SimulatedWalk(setup, compiler=compiler)
    assert walk.get_ready()
    responses = impulse_responses(walk)
    loop = WrenchLoop(Plant(StandingBody(setup, FEET), 0.002), setup.walking, setup.walking.zmp_com_controller.standing)
    for frequency in (25.0, 50.0):
        z = np.exp(2j * np.pi * frequency * loop.period)
        weights = z ** -np.arange(len(responses))
        weights[-FADING:] *= np.cos(np.linspace(0.0, 0.5 * np.pi, FADING)) ** 2  # what is left fades by itself, slowly
        identified = np.tensordot(weights, responses, axes=1)
        np.testing.assert_allclose(largest(identified), largest(loop.gain(z)), rtol=0.01)


def largest(gain: np.ndarray) -> np.ndarray:
    """Return the two largest eigenvalues, whose loci come near the critical point."""
    values = np.linalg.eigvals(gain)
    return values[np.argsort(-np.abs(values))[:2]]


@pytest.mark.parametrize("robot", installed_robot_names())
@pytest.mark.parametrize("plant", [PlantName.IDEAL, PlantName.ROBOT])
@pytest.mark.parametrize("control", [ControlMode.POSITION, ControlMode.VELOCITY])
def test_shipped_gains_have_a_margin(robot, plant, control):
    found = stability_margins(load_setup(robot, {"walking.control": str(control)}, plant=plant))
    assert found.margins.gain_db >= 6.0
    assert found.margins.phase_deg >= 30.0
    assert found.margins.peak <= 2.0
    assert not found.balance_peak > 2.0  # not a number by velocity control
    assert found.advice == ""


def test_robots_are_checked_on_both_plants_in_both_modes():
    verdicts = {finding.text.split(": ")[0]: finding.verdict for finding in robot_checks.margin_findings("icub_v2_7")}
    cases = [
        f"{control} control, plant {plant}" for control in ("position", "velocity") for plant in ("ideal", "robot")
    ]
    assert verdicts == dict.fromkeys(cases, OK)


def test_a_robot_without_margin_fails_its_check_but_where_dry_friction_holds_small_oscillations(monkeypatch):
    unstable = StabilityMargins(Margins(-1.0, 0.0, 9.0, 17.0), "double support", 3.0, 1.0, "zmp", 2.0, 1.0)
    monkeypatch.setattr(robot_checks, "stability_margins", lambda setup: unstable)
    findings = list(robot_checks.margin_findings("icub_v2_7"))
    assert [finding.verdict for finding in findings] == [FAIL, FAIL, WARN, WARN]  # ideal, then robot
    assert all("-1.0 dB" in finding.text for finding in findings)
    balance = "balance on one foot on a floor of 28 ms: M_s 3.0 (K_CoM up to 1.0 1/s)"
    assert all(finding.text.endswith(balance) for finding in findings)
    assert {finding.remedy for finding in findings} == {unstable.advice}


def test_dry_friction_makes_gains_without_margin_a_warning():
    setup = load_setup("icub_v2_7", {"zmp_com_controller.walking.zmp": 4.0}, plant=PlantName.ROBOT)
    assert not stability_margins(setup).is_stable
    assert stability_margins(setup).finding().verdict == FAIL
    text = check_margins(setup)
    assert text.startswith("no stability margin, but dry friction, which the model lacks, may hold it: wrench loop")


def test_gains_without_margin_are_refused_by_name_with_the_largest_that_has_it():
    setup = load_setup("icub_v2_7", {"zmp_com_controller.walking.zmp": 4.0})
    with pytest.raises(ConfigError, match="the robot would oscillate: wrench loop") as error:
        check_margins(setup)
    assert error.value.keys == ("zmp_com_controller.walking.zmp",)
    largest_gain = stability_margins(setup).largest
    assert str(error.value).endswith(
        ": wrench loop (foot wrenches, ZMP–CoM law, joints): gain margin -0.1 dB at 50 Hz (double support, gains of"
        " walking, 2 ms floor), phase margin 31°, M_s 84.2; 6 dB, 30° and M_s of at most 2 are wanted; lower"
        f" zmp_com_controller.walking.zmp from 4 to {largest_gain:.3g}, com in proportion"
    )
    less = load_setup("icub_v2_7", {"zmp_com_controller.walking.zmp": 0.99 * largest_gain})
    assert stability_margins(less).margins.is_wide
    assert check_margins(less) == ""


def test_a_key_that_is_not_as_shipped_is_to_blame_before_a_shipped_gain():
    changed = {"inverse_kinematics.com_gain": 100.0, "planner.swing_height": 0.02}
    with pytest.raises(
        ConfigError, match=r"inverse_kinematics.com_gain = 100 \(shipped \d+\) takes most of it"
    ) as error:
        check_margins(load_setup("icub_v2_7", changed))
    assert error.value.keys == ("inverse_kinematics.com_gain",)


def test_a_changed_gain_that_takes_the_phase_margin_or_the_peak_alone_is_to_blame_as_well():
    warning = check_margins(load_setup("icub_v2_7", {"dcm_controller.proportional_gain": 6.0}))
    assert "dcm_controller.proportional_gain = 6 (shipped " in warning
    assert "with the shipped value the margins are 8.3 dB, 48° and M_s 1.9" in warning
    assert "lower" not in warning


def test_keys_of_the_loop_are_looked_at_first_and_a_line_comes_before(monkeypatch):
    """Six keys are looked at, and the eighth in the order of the tables takes the margin."""
    others = {f"planner.footsteps.{name}": 0.5 for name in "abcdefg"}
    module = sys.modules[check_margins.__module__]  # the room's name is that of the function
    key, lines, looked_at = "zmp_com_controller.walking.com", [], []
    little = StabilityMargins(Margins(3.0, 20.0, 3.0, 17.0), "", 1.0, 1.0, "shipped", 2.0, 1.0)

    def margins_without(setup, changed, name):
        assert lines, "the line comes first"
        looked_at.append(name)
        return Margins(9.0 if name == key else 3.0, 20.0, 3.0, 17.0)

    monkeypatch.setattr(module, "stability_margins", lambda setup: little)
    monkeypatch.setattr(module, "changed_keys", lambda setup: others | {key: 5.0})
    monkeypatch.setattr(module, "_margins_without", margins_without)
    assert f"{key} = 5 (shipped" in check_margins(load_setup("icub_v2_7"), lines.append)
    assert looked_at == [key, *list(others)[:5]]
    assert lines == [f"little stability margin: looking which takes it of {', '.join(looked_at)} (some seconds each)"]


@pytest.mark.parametrize(("contact_time", "warns"), [(2.0, False), (20.0, False), (28.0, True)])
def test_a_floor_on_which_the_com_gain_topples_the_robot_is_warned_of(monkeypatch, contact_time, warns):
    wide = StabilityMargins(Margins(9.0, 60.0, 1.5, 17.0), "", 6.0, 1.5)
    monkeypatch.setattr(sys.modules[check_margins.__module__], "stability_margins", lambda setup: wide)
    text = check_margins(load_setup("g1", {"simulation.ground.contact_time": contact_time, _COM_GAIN: 3.0}))
    advice = (
        "balance on one foot on this soft floor (28 ms): M_s is 6.0, at most 2 is wanted;"
        " lower zmp_com_controller.walking.com to 1.5"
    )
    assert bool(text) == (advice in text) == warns
    assert "wrench loop" not in text
    assert replace(wide, balance_peak=math.inf, largest_com_gain=0.0).balance_advice.endswith(
        "it is unstable, at most 2 is wanted; no value of zmp_com_controller.walking.com has that"
    )


def test_a_floor_softer_than_gains_are_made_for_is_said_with_its_m_s_before_the_walk(monkeypatch):
    found = StabilityMargins(Margins(9.0, 60.0, 1.5, 17.0), "", math.inf, 0.0, balance_floor=0.06)
    monkeypatch.setattr(sys.modules[check_margins.__module__], "stability_margins", lambda setup: found)
    text = check_margins(load_setup("g1", {"simulation.ground.contact_time": 60.0}))
    assert text == (
        "the simulated floor is softer than gains are made for: its time constant is 60 ms, they are made for up to"
        " 28 ms; balance on one foot is unstable there (M_s of at most 2 is wanted), no value of"
        " zmp_com_controller.walking.com has that; the robot may slide, tip or fall: simulation.ground.contact_time of"
        " up to 28 physics steps (of 1 ms) is a stiffer floor"
    )
    drawn = check_margins(load_setup("g1", {"simulation.model_errors.floor_contact_time": 0.06}))
    assert "its time constant is 62 ms" in drawn
    assert drawn.endswith("simulation.model_errors.floor_contact_time of up to 0.026 s is a stiffer floor")
    assert (
        found.balance_text == "; balance on one foot on a floor of 60 ms: unstable (more than 2 with lower K_CoM too)"
    )
    found = replace(found, balance_peak=2.9, largest_com_gain=1.14)
    assert "has an M_s of 2.9 there (at most 2 is wanted), lower zmp_com_" in found.balance_in_words
    by_torque = check_margins(load_setup("g1", {"simulation.ground.contact_time": 60.0, "walking.control": "torque"}))
    assert "its time constant is 30 ms" in by_torque  # steps of 0.5 ms
    assert "M_s" not in by_torque


def test_the_list_of_robots_warns_of_a_simulated_floor_that_is_too_soft(monkeypatch):
    found = StabilityMargins(Margins(9.0, 60.0, 1.5, 17.0), "", math.inf, 0.0, balance_floor=0.06)
    monkeypatch.setattr(robot_checks, "stability_margins", lambda setup: found)
    assert {finding.verdict for finding in robot_checks.margin_findings("g1")} == {OK}
    soft = load_setup("g1", {"simulation.ground.contact_time": 60.0})
    monkeypatch.setattr(robot_checks, "load_setup", lambda *_, **__: soft)
    finding = next(robot_checks.margin_findings("g1"))
    assert finding.verdict == WARN
    assert finding.text.endswith("its time constant is 60 ms, they are made for up to 28 ms")
    assert finding.remedy == "simulation.ground.contact_time of up to 28 physics steps (of 1 ms) is a stiffer floor"


def test_m_s_of_balance_is_that_of_the_simulated_floor_where_it_is_softer():
    """G1 falls on a floor of 60 ms; a turn by more than 180° below 0.05 Hz was lost, and M_s of 1.4 was read there."""
    found = stability_margins(load_setup("g1", {"simulation.ground.contact_time": 60.0}))
    assert (found.balance_floor, found.balance_peak, found.largest_com_gain) == (0.06, math.inf, 0.0)
    assert stability_margins(load_setup("g1")).balance_floor == 0.028


def test_a_small_margin_is_a_warning():
    setup = load_setup("icub_v2_7", {"zmp_com_controller.walking.zmp": 1.8})
    assert check_margins(setup).startswith("little stability margin: wrench loop (foot wrenches, ZMP–CoM law, ")


def test_soft_floors_tip_robots_of_compliant_servos_whose_com_gain_is_high():
    """G1 walked a floor of 28 ms with 1.5 on 20 of 20 seeds, with 3 on 13; on 40 ms no gain holds it on one foot."""
    body = StandingBody(load_setup("g1"), (Side.LEFT,))
    found = {}
    for time, com in ((0.002, 3.0), (0.02, 3.0), (0.028, 3.0), (0.028, 1.5), (0.04, 3.0), (0.04, 1.5)):
        config = load_setup("g1", {"zmp_com_controller.walking.com": com}).walking
        found[time, com] = balance_peak(WrenchLoop(Plant(body, time), config, config.zmp_com_controller.walking))
    assert max(found[0.002, 3.0], found[0.02, 3.0]) < 1.2
    assert found[0.028, 1.5] < PEAK < found[0.028, 3.0] < 20.0
    assert found[0.04, 1.5] == found[0.04, 3.0] == math.inf


def test_a_com_gain_too_high_for_soft_floors_is_named_with_the_largest():
    found = stability_margins(load_setup("g1", {_COM_GAIN: 3.0}))
    assert found.margins.is_wide
    assert found.balance_peak > PEAK
    assert found.finding().verdict == OK  # no floor that it is known to stand on
    assert f"K_CoM up to {found.largest_com_gain:.1f} 1/s" in found.text
    assert stability_margins(load_setup("g1", {_COM_GAIN: found.largest_com_gain})).balance_peak <= PEAK


def test_torque_control_has_no_loop_from_wrenches():
    setup = load_setup("icub_v2_7", {"walking.control": "torque"})
    assert not has_wrench_loop(setup)
    assert check_margins(setup) == ""


class Delay:
    """Loop of one channel: a gain behind a delay of one tick, critical at half the rate of the ticks."""

    period, law = 0.01, 0.0

    def gain(self, z: complex) -> np.ndarray:
        return np.array([[-0.5 / z]])

    def of_law(self, z: complex) -> complex:
        return -self.law / z


def test_margins_of_a_loop_that_is_known():
    margins = Margins.of(Delay())
    assert margins.gain_db == pytest.approx(20.0 * math.log10(2.0))
    assert margins.frequency == pytest.approx(50.0)
    assert margins.peak == pytest.approx(2.0)
    assert margins.phase_deg == 180.0


def test_a_law_that_is_unstable_by_itself_has_no_margin_however_wide_that_of_the_other_loci():
    unstable = Delay()
    unstable.law = 1.5
    margins = Margins.of(unstable)
    assert (margins.gain_db, margins.frequency) == pytest.approx((-20.0 * math.log10(1.5), 50.0))


def test_a_dcm_gain_that_answers_its_own_last_zmp_with_a_larger_one_is_refused():
    setup = load_setup("icub_v2_7", {"dcm_controller.proportional_gain": 200.0})
    plant, gains = Plant(StandingBody(setup, FEET), 0.002), setup.walking.zmp_com_controller.walking
    double, own = (
        WrenchLoop(plant, load_setup("icub_v2_7", {"dcm_controller.proportional_gain": gain}).walking, gains)
        for gain in (2.0, 200.0)
    )
    assert own.of_law(-1.0) == pytest.approx(100.0 * double.of_law(-1.0))
    assert 1.0 < own.of_law(-1.0) == pytest.approx(10.0 ** (-stability_margins(setup).margins.gain_db / 20.0))
    with pytest.raises(ConfigError, match=r"the robot would oscillate: .*proportional_gain = 200") as error:
        check_margins(setup)
    assert error.value.keys == ("dcm_controller.proportional_gain",)


def test_noise_of_force_sensors_shakes_no_robot_whose_gains_do_not_read_it():
    others = ("encoders.encoder", "encoders.velocity", "inertial.gyro", "inertial.tilt")
    only = {f"simulation.sensors.{name}_noise": 0.0 for name in others}
    deaf = {f"foot_admittance.{name}_gain": 0.0 for name in ("height", "spread", "tilt")}
    deaf |= {f"zmp_com_controller.{gains}.{name}": 1e-9 for gains in ("walking", "standing") for name in ("zmp", "com")}
    still = load_setup("icub_v2_7", only | deaf, plant=PlantName.NOISY)
    found, shipped = (noise_response(each) for each in (still, load_setup("icub_v2_7", only, plant=PlantName.NOISY)))
    assert found.chatter.foot_force < 1e-6
    assert shipped.source == "force-torque sensors"
    assert 5e-4 < shipped.chatter.foot_force < 5e-3


def test_gyroscope_and_attitude_meet_in_their_filter_and_the_pendulum_carries_the_com_velocity():
    """Noise as the ground shows it, beside that without these filters."""
    off = {"state_estimator.attitude_time_constant": 0.0, "state_estimator.com_velocity_time_constant": 0.02}
    shipped, before = (noise_response(load_setup("icub_v2_7", each, plant=PlantName.NOISY)) for each in ({}, off))
    assert before.chatter.foot_force == pytest.approx(0.0118, rel=0.05)  # 1.15 % in a walk of seed 0
    assert shipped.chatter.foot_force == pytest.approx(0.0076, rel=0.05)  # 0.69 %
    assert shipped.chatter.zmp == pytest.approx(5.4e-4, rel=0.05)  # 0.48 mm


def test_responses_of_the_last_setups_are_kept_and_no_more(monkeypatch):
    asked, module = [], sys.modules["gradiva.setup.stability_margins"]  # whose name in the package is a function
    monkeypatch.setattr(module, "_noise_responses", {})
    monkeypatch.setattr(module, "_digest", lambda setup: str(setup.number))
    monkeypatch.setattr(module, "_noise_response", lambda setup: asked.append(setup.number))
    setup = load_setup("icub_v2_7", plant=PlantName.NOISY)
    for number in [*range(20), 19, 12, 0]:
        noise_response(SimpleNamespace(simulation=setup.simulation, walking=setup.walking, number=number))
    assert asked == [*range(20), 0]
    assert len(module._noise_responses) == 8


@pytest.mark.parametrize("plant", [PlantName.IDEAL, PlantName.ROBOT])
def test_chatter_of_noise_is_known_of_noisy_sensors_without_dry_friction_alone(plant):
    assert noise_response(load_setup("icub_v2_7", plant=plant)) is None
