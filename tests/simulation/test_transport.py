"""Transport of samples and commands: ages, order, losses, late packets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradiva.common import ConfigError, NDArray
from gradiva.simulation.transport import (
    PacketLine,
    SampledStream,
    SensorStreams,
    StreamConfig,
    TransportConfig,
    WrenchSampler,
    effect_generator,
)

from .conftest import MakeRobot
from .standing import positions

STEP = 0.001  # [s]


def transport(**values: Any) -> TransportConfig:
    return TransportConfig(**{"delay": 0.0, "jitter": 0.0, "loss": 0.0, "late_interval": 0.0} | values)


def stream(period: float = 0.0, **values: Any) -> StreamConfig:
    base = transport(**values)
    return StreamConfig(base.delay, base.jitter, base.loss, base.late_interval, period)


def transit_times(config: TransportConfig, packets: int = 4000, interval: float = 0.01, seed: int = 0) -> NDArray:
    """Arrival minus departure of each packet that arrives, found by looking every 0.02 ms."""
    line: PacketLine[float] = PacketLine(config, seed, "test")
    times = []
    for packet in range(packets):
        line.put(interval * packet, interval * packet)
        for look in np.arange(interval * packet, interval * (packet + 1), 2e-5):
            if (sent := line.take(float(look))) is not None:
                times.append(float(look) - sent)
    return np.array(times)


def ages(config: StreamConfig, steps: int = 20000, seed: int = 0) -> NDArray:
    """Age of the newest sample at each physics step, [s]."""
    samples: SampledStream[int] = SampledStream(config, STEP, seed, "joints", 0)
    found = []
    for step in range(steps):
        if samples.is_due(step):
            samples.put(STEP * step, step)
        found.append(STEP * (step - samples.arrived(STEP * step)))
    return np.array(found)[100:]


def test_delays_have_their_mean_and_their_jitter() -> None:
    times = transit_times(transport(delay=0.005, jitter=0.0008))
    assert times.mean() == pytest.approx(0.005, abs=1e-4)
    assert times.std() == pytest.approx(0.0008, rel=0.05)


def test_no_packet_arrives_before_it_was_sent() -> None:
    times = transit_times(transport(delay=0.0005, jitter=0.0005))
    assert times.min() >= 0.0
    assert np.mean(times < 3e-5) == pytest.approx(0.159, abs=0.03)  # as many as the normal distribution has below zero


def test_packets_keep_their_order_however_they_jitter() -> None:
    line: PacketLine[int] = PacketLine(transport(delay=0.01, jitter=0.004), 3, "test")
    arrived = []
    for step in range(3000):
        line.put(STEP * step, step)
        if (packet := line.take(STEP * step)) is not None:
            arrived.append(packet)
    assert arrived == sorted(arrived)
    assert len(arrived) > 500


def test_packets_are_lost_at_their_rate() -> None:
    line: PacketLine[int] = PacketLine(transport(loss=0.05), 1, "test")
    kept = 0
    for packet in range(20000):
        line.put(0.01 * packet, packet)
        kept += line.take(0.01 * packet) is not None
    assert 1.0 - kept / 20000 == pytest.approx(0.05, abs=0.005)


@pytest.mark.parametrize("ticks", [10, 30])
def test_late_packets_come_at_their_rate_within_their_bounds_and_hold_up_those_behind_them(ticks: int) -> None:
    line: PacketLine[int] = PacketLine(transport(late_interval=0.5), 5, "test")
    draws = iter(effect_generator(5, "test.late").random(100000).tolist())
    sent = STEP * np.arange(0, 100000, ticks)
    extra = np.array([0.005 + 0.015 * next(draws) if next(draws) * 0.5 < STEP * ticks else 0.0 for _ in sent])
    arrivals = np.maximum.accumulate(sent + extra)
    newest, found = -1, []
    for step in range(100000):
        if step % ticks == 0:
            line.put(STEP * step, step // ticks)
        packet = line.take(STEP * step)
        newest = newest if packet is None else packet
        found.append(newest)
    expected = np.searchsorted(arrivals, STEP * np.arange(100000) + 1e-9, side="right") - 1
    np.testing.assert_array_equal(found, expected)
    assert np.count_nonzero(extra) == pytest.approx(200, abs=45)  # in 100 s
    assert bool(np.any((arrivals > sent + 1e-9) & (extra == 0.0))) == (ticks == 10)  # none later than 20 ms


def test_the_age_of_a_sample_is_its_delay_and_half_a_period_in_the_mean() -> None:
    of_v2_7 = ages(stream(period=0.01, delay=0.005, jitter=0.002))
    assert of_v2_7.mean() == pytest.approx(0.010, abs=2e-4)
    assert of_v2_7.max() <= 0.024
    assert of_v2_7.std() == pytest.approx(np.sqrt(0.01**2 / 12 + 0.002**2), rel=0.1)


def test_streams_are_sampled_from_a_phase_that_the_seed_draws() -> None:
    phases = []
    for seed in range(60):
        samples: SampledStream[int] = SampledStream(stream(period=0.004), STEP, seed, "joints", 0)
        (phase,) = (step for step in range(4) if samples.is_due(step))
        phases.append(phase)
    assert set(phases) == {0, 1, 2, 3}


def test_without_jitter_the_ages_are_uniform_over_a_period() -> None:
    found, counts = np.unique(np.round(ages(stream(period=0.004, delay=0.002)), 6), return_counts=True)
    np.testing.assert_allclose(found, [0.002, 0.003, 0.004, 0.005])
    assert counts.max() - counts.min() <= 1


def test_the_newest_of_several_arrived_packets_counts_and_once() -> None:
    line: PacketLine[str] = PacketLine(transport(delay=0.002), 0, "test")
    for step, item in enumerate("abcd"):
        line.put(STEP * step, item)
    assert line.take(0.004) == "c"
    assert line.take(0.004) is None
    assert line.take(0.005) == "d"


def test_one_seed_gives_one_run_and_each_effect_its_own_numbers() -> None:
    jittering = transport(delay=0.005, jitter=0.001)
    one, again = transit_times(jittering, 200), transit_times(jittering, 200)
    np.testing.assert_array_equal(one, again)
    assert np.abs(one - transit_times(jittering, 200, seed=1)).max() > 0.0
    late_as_well = transit_times(transport(delay=0.005, jitter=0.001, late_interval=1e9), 200)
    np.testing.assert_array_equal(one, late_as_well)
    assert effect_generator(0, "a").random() != effect_generator(0, "b").random()


def test_a_wrench_is_the_mean_since_the_last_sample() -> None:
    sampler = WrenchSampler(0.0, STEP, np.zeros((1, 6)))
    for step in range(1, 11):
        sampler.add(np.full((1, 6), float(step)))
        if step == 4:
            np.testing.assert_allclose(sampler.sample(4).wrenches, 2.5)
    np.testing.assert_allclose(sampler.sample(10).wrenches, 7.5)
    assert sampler.sample(10) is sampler.sample(10)


def test_the_low_pass_on_wrenches_answers_a_step_with_its_time_constant() -> None:
    sampler = WrenchSampler(0.08, STEP, np.zeros((2, 6)))
    for step in range(1, 161):
        sampler.add(np.ones((2, 6)))
        if step % 10 == 0:
            wrenches = sampler.sample(step).wrenches
            np.testing.assert_allclose(wrenches, 1.0 - np.exp(-STEP * step / 0.08), atol=1e-12)


def test_streams_have_phases_and_ages_of_their_own() -> None:
    streams = SensorStreams(
        {"joints": stream(0.01, delay=0.005), "wrenches": stream(), "imu": stream(0.004)},
        {name: lambda step: step for name in ("joints", "wrenches", "imu")},
        STEP,
        seed=4,
    )
    for step in range(1, 101):
        streams.advance(step)
    joints, wrenches, imu = streams.newest(100)
    assert 85 <= joints <= 95
    assert wrenches == 100
    assert 97 <= imu <= 100


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"delay": -0.1}, r"delay=-0\.1, must not be negative"),
        ({"loss": 1.0}, r"loss=1\.0, must be in \[0, 1\)"),
    ],
)
def test_impossible_transport_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        transport(**values)


def test_each_stream_of_a_robot_carries_its_own_time(make_icub: MakeRobot) -> None:
    robot = make_icub(
        sensors={
            "joints": {"period": 0.01, "delay": 0.005},
            "wrenches": {"delay": 0.003},
            "imu": {"period": 0.002},
        }
    )
    robot.advance(0.1)
    reading = robot.read()
    assert 0.085 - 1e-9 <= reading.time <= 0.095 + 1e-9
    assert reading.wrenches_time == pytest.approx(0.097)
    assert 0.099 - 1e-9 <= reading.imu_time <= 0.1 + 1e-9


def test_a_lost_command_leaves_the_last_one_in_force(make_icub: MakeRobot) -> None:
    robot = make_icub(transport={"loss": 0.5})
    start = robot.position_targets.copy()
    acting = []
    for tick in range(200):
        robot.write(positions(start + 1e-6 * (tick + 1)))
        robot.advance(0.001)
        acting.append(round(float((robot.position_targets - start)[0]) / 1e-6) - 1)
    behind = np.arange(200) - acting
    assert np.mean(behind == 0) == pytest.approx(0.5, abs=0.1)
    assert np.mean(behind == 1) == pytest.approx(0.25, abs=0.1)


def test_commands_act_after_their_delay_with_its_jitter(make_icub: MakeRobot) -> None:
    robot = make_icub(transport={"delay": 0.003, "jitter": 0.001}, servo={"delay": 0.002})
    start, delays = robot.position_targets.copy(), []
    for tick in range(60):
        target = start + 1e-6 * (tick + 1)
        robot.write(positions(target))
        step = 0
        while not np.array_equal(robot.position_targets, target):
            robot.advance(0.001)
            step += 1
        delays.append(step - 1)  # the command acts in the step that begins then
    assert np.mean(delays) == pytest.approx(5.5, abs=0.5)
    assert np.std(delays) == pytest.approx(1.0, abs=0.35)
