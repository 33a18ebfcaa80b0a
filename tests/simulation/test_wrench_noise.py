from __future__ import annotations

import numpy as np
import pytest

from gradiva.simulation.viscoelastic_config import NoiseTarget, WrenchNoiseConfig
from gradiva.simulation.wrench_noise import WrenchNoise


def drawn(interval: float, timestep: float, steps: int = 4000, soles: int = 2) -> np.ndarray:
    config = WrenchNoiseConfig(force=5.0, moment=0.5, interval=interval, target=NoiseTarget.BOTH)
    noise = WrenchNoise(config, soles, timestep, seed=1)
    return np.array([noise.at(step) for step in range(steps)])


def test_forces_and_moments_have_their_deviations_and_no_mean() -> None:
    samples = drawn(0.001, 0.001)
    np.testing.assert_allclose(samples.std(axis=0)[:, :3], 5.0, rtol=0.04)
    np.testing.assert_allclose(samples.std(axis=0)[:, 3:], 0.5, rtol=0.04)
    np.testing.assert_allclose(samples.mean(axis=0)[:, :3], 0.0, atol=0.3)


def test_soles_are_disturbed_independently_and_one_draw_tells_nothing_of_the_next() -> None:
    samples = drawn(0.001, 0.001)[:, :, 2]
    assert abs(np.corrcoef(samples.T)[0, 1]) < 0.05
    assert abs(np.corrcoef(samples[:-1, 0], samples[1:, 0])[0, 1]) < 0.05


def test_a_draw_is_held_for_its_interval() -> None:
    samples = drawn(0.002, 0.0005, steps=12)
    held = samples.reshape(3, 4, 2, 6)
    np.testing.assert_array_equal(held, np.repeat(held[:, :1], 4, axis=1))
    assert np.abs(held[0, 0] - held[1, 0]).min() > 0.0


def test_of_draws_within_a_step_the_step_sees_the_mean() -> None:
    samples = drawn(1e-5, 0.001)
    np.testing.assert_allclose(samples.std(axis=0)[:, :3], 0.5, rtol=0.04)


def test_noise_of_no_deviation_is_exactly_none() -> None:
    noise = WrenchNoise(WrenchNoiseConfig(0.0, 0.0, 0.001, NoiseTarget.ROBOT), 2, 0.001, seed=0)
    np.testing.assert_array_equal(noise.at(0), np.zeros((2, 6)))


@pytest.mark.parametrize("interval", [1e-5, 0.001])
def test_the_power_of_the_noise_does_not_depend_on_the_physics_step(interval: float) -> None:
    powers = [(drawn(interval, step, steps=8000, soles=1)[:, 0, 0].std() ** 2) * step for step in (0.0005, 0.001)]
    if interval == 0.001:
        powers[0] *= 2.0  # held for two steps
    assert powers[0] == pytest.approx(powers[1], rel=0.08)
