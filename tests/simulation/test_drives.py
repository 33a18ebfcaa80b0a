"""Drives of the simulated robots against closed forms: rotors, friction, play, motors."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest

from gradiva.common import ConfigError, NDArray
from gradiva.robot_model import RobotDescription
from gradiva.setup import load_robot
from gradiva.simulation import MujocoRobot
from gradiva.simulation.drives import (
    FrictionConfig,
    JointFriction,
    MotorConfig,
    MotorLimits,
    TorqueResponse,
    add_play,
    play_of,
    rotor_factors,
)
from gradiva.simulation.ground import choose_ground
from gradiva.simulation.plant import build_plant, load_tree

from .standing import configured, standing_posture


def plant_of(description: RobotDescription, rotor_inertia: float) -> mujoco.MjModel:
    config = configured(plant={"rotor_inertia": rotor_inertia})
    ground = choose_ground(config, description.sole.z, 0)
    tree = load_tree(description)
    model = build_plant(description, tree, config, ground)
    model.opt.gravity[:] = 0.0
    return model


def degrees(description: RobotDescription, model: mujoco.MjModel) -> list[int]:
    """Index of each joint's velocity, in the order of the description."""
    return [int(model.joint(joint).dofadr[0]) for joint in description.joints]


def in_posture(description: RobotDescription, model: mujoco.MjModel) -> mujoco.MjData:
    """The robot in the air, at rest."""
    data = mujoco.MjData(model)
    data.qpos[2] = 10.0
    data.qpos[np.add(degrees(description, model), 1)] = description.posture
    mujoco.mj_forward(model, data)
    return data


def mass_matrix(description: RobotDescription, rotor_inertia: float) -> NDArray:
    """M with the joints in the order of the description."""
    model = plant_of(description, rotor_inertia)
    data, matrix = in_posture(description, model), np.zeros((model.nv, model.nv))
    for column, unit in enumerate(np.eye(model.nv)):
        mujoco.mj_mulM(model, data, matrix[column], unit)
    order = [*range(6), *degrees(description, model)]
    return matrix[np.ix_(order, order)]


@pytest.mark.parametrize("robot", ["icub_v2_7", "g1"])
def test_rotors_add_their_matrix_to_the_joint_block_of_the_mass_matrix(robot: str) -> None:
    description = load_robot(robot)
    rotors = mass_matrix(description, 0.8) - mass_matrix(description, 0.0)
    np.testing.assert_allclose(rotors[6:, 6:], 0.8 * description.rotor_inertia_matrix, atol=1e-9)
    np.testing.assert_allclose(rotors[:6], 0.0, atol=1e-9)


def test_the_rotors_of_a_differential_torso_are_coupled() -> None:
    torso = load_robot("icub_v2_7").rotor_inertia_matrix[:3, :3]
    big, small, ratio = 0.137, 0.08, 1.0 / 0.55
    expected = [
        [2.0 * big, 0.0, 0.0],
        [0.0, 2.0 * big + small, -ratio * small],
        [0.0, -ratio * small, ratio**2 * small],
    ]
    np.testing.assert_allclose(torso, expected, rtol=1e-3)


@pytest.mark.parametrize("joint", ["torso_roll", "l_ankle_roll"])
def test_a_torque_accelerates_links_and_rotors(joint: str) -> None:
    description = load_robot("icub_v2_7")
    model = plant_of(description, 1.0)
    data, order = in_posture(description, model), [*range(6), *degrees(description, model)]
    forces = np.zeros(model.nv)
    forces[6 + description.joints.index(joint)] = 3.0
    data.qfrc_applied[order] = forces
    mujoco.mj_forward(model, data)
    inertia = mass_matrix(description, 0.0)
    inertia[6:, 6:] += description.rotor_inertia_matrix
    np.testing.assert_allclose(data.qacc[order], np.linalg.solve(inertia, forces), rtol=1e-6, atol=1e-9)


# -- One joint against closed forms: friction, play, motors -----------------------------------------------------------

MASS, LENGTH, GRAVITY = 5.0, 0.5, 9.81
INERTIA, WEIGHT = MASS * LENGTH**2, MASS * GRAVITY * LENGTH  # [kg·m²], [N·m]
NO_FRICTION = {
    "coulomb": 0.0,
    "viscous": 0.0,
    "static_ratio": 1.0,
    "stribeck_velocity": 0.05,
    "gear_loss": 0.0,
    "spread": 1.0,
}
IDEAL_MOTOR = {
    "speed_limits": False,
    "speed_scale": 1.0,
    "torque_delay": 0.0,
    "torque_time_constant": 0.0,
    "friction_compensation": 0.0,
    "compensation_time_constant": 0.16,
}


def one_joint(**quantities: float) -> Any:
    """A description of a robot with the joint ``hinge``."""
    return SimpleNamespace(joints=("hinge",), per_joint=lambda name: np.array([quantities.get(name, 0.0)]))


class Pendulum:
    """A point mass on a rod, with the friction and the play of a joint of a robot."""

    def __init__(
        self, gravity: float = GRAVITY, play: float = 0.0, rotor: float = 0.0, mass: float = MASS, **friction: float
    ) -> None:
        nominal = {"coulomb_friction": 1.0, "viscous_friction": 1.0, "gear_loss": 1.0, "gear_play": play}
        description = one_joint(**nominal)
        spec = mujoco.MjSpec()
        spec.compiler.degree = False
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        spec.option.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
        spec.option.timestep, spec.option.gravity = 0.001, [0.0, 0.0, -gravity]
        body = spec.worldbody.add_body(name="rod")
        body.mass, body.ipos, body.inertia = mass, [0.0, 0.0, -LENGTH], [1e-9] * 3
        body.explicitinertial = True
        body.add_joint(name="hinge", type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0.0, 1.0, 0.0], armature=rotor)
        self.friction = JointFriction(FrictionConfig(**(NO_FRICTION | friction)), description, seed=0)
        self.friction.add_to(spec, 0.001)
        add_play(spec, description, play_of(1.0, 0.0, description, seed=0), 0.001)
        self.model = spec.compile()
        self.friction.bind(self.model)
        self.data = mujoco.MjData(self.model)

    @property
    def angle(self) -> float:
        return float(self.data.qpos.sum())

    @property
    def speed(self) -> float:
        return float(self.data.qvel.sum())

    @property
    def energy(self) -> float:
        mujoco.mj_forward(self.model, self.data)
        return float(self.data.energy.sum())

    def step(self, torque: float = 0.0, link_torque: float = 0.0) -> None:
        self.friction.apply(self.data.qvel[:1], np.array([torque]))
        self.data.qfrc_applied[:] = 0.0
        self.data.qfrc_applied[0] = torque
        self.data.qfrc_applied[-1] += link_torque
        mujoco.mj_step(self.model, self.data)


def test_dry_friction_takes_the_same_from_each_half_swing_and_stops_the_pendulum_within_its_dead_band() -> None:
    dry, pendulum = 0.3, Pendulum(coulomb=0.3)
    pendulum.data.qpos[0] = 0.1
    turns, before = [0.1], 0.0
    for _ in range(6000):
        pendulum.step()
        if before * pendulum.speed < 0.0:
            turns.append(abs(pendulum.angle))
        before = pendulum.speed
    losses = -np.diff(turns[:4])
    np.testing.assert_allclose(losses, 2.0 * dry / WEIGHT, rtol=0.02)
    assert abs(pendulum.angle) <= dry / WEIGHT
    assert abs(pendulum.speed) < 1e-3


@pytest.mark.parametrize(
    ("ratio", "torque", "slides"), [(1.0, 0.9, False), (1.0, 1.1, True), (1.4, 1.3, False), (1.4, 1.5, True)]
)
def test_a_joint_sticks_up_to_its_static_friction(ratio: float, torque: float, slides: bool) -> None:
    pendulum = Pendulum(gravity=0.0, coulomb=4.0, static_ratio=ratio)
    for _ in range(300):
        pendulum.step(4.0 * torque)
    assert (abs(pendulum.speed) > 0.02) is slides
    if slides:  # the excess over Coulomb friction accelerates
        np.testing.assert_allclose(pendulum.data.qacc[0], 4.0 * (torque - 1.0) / INERTIA, rtol=0.05)
    else:
        assert abs(pendulum.speed) < 5e-4


def test_a_light_joint_that_sticks_does_not_creep() -> None:
    pendulum = Pendulum(gravity=0.0, coulomb=4.0, mass=0.014 / LENGTH**2)
    for _ in range(300):
        pendulum.step(2.0)
    assert abs(pendulum.speed) < 2e-3  # by the engine's own constraint 0.27 rad/s


def test_viscous_friction_slows_down_exponentially() -> None:
    pendulum = Pendulum(gravity=0.0, viscous=2.0)
    pendulum.data.qvel[0] = 1.5
    for _ in range(500):
        pendulum.step()
    np.testing.assert_allclose(pendulum.speed, 1.5 * np.exp(-2.0 * 0.5 / INERTIA), rtol=1e-3)


def test_friction_grows_with_the_load() -> None:
    pendulum = Pendulum(gravity=0.0, coulomb=1.0, gear_loss=0.25)
    for _ in range(300):
        pendulum.step(20.0)
    np.testing.assert_allclose(pendulum.data.qacc[0], (20.0 - 1.0 - 5.0) / INERTIA, rtol=1e-3)


def test_friction_never_adds_energy() -> None:
    pendulum = Pendulum(coulomb=1.0, viscous=0.7, static_ratio=1.4, gear_loss=0.2, play=0.01, rotor=0.3)
    pendulum.data.qpos[0] = 2.5
    start = lowest = pendulum.energy
    for _ in range(8000):
        pendulum.step()
        energy = pendulum.energy
        assert energy <= lowest + 1e-4 * start
        lowest = min(lowest, energy)
    assert lowest < -0.95 * WEIGHT


def test_a_driven_cycle_takes_at_least_the_energy_that_it_gives() -> None:
    pendulum = Pendulum(coulomb=1.0, viscous=0.5, static_ratio=1.3, play=0.01, rotor=0.3)
    before, work = pendulum.energy, 0.0
    for step in range(5000):
        torque = 12.0 * np.sin(2.0 * np.pi * step / 1000)
        pendulum.step(torque)
        work += 0.001 * torque * pendulum.data.qvel[0]
        assert pendulum.energy - before <= work + 0.02


def test_play_lets_the_link_turn_by_its_width() -> None:
    width, pendulum = 0.01, Pendulum(gravity=0.0, play=0.01, rotor=0.3, coulomb=10.0)
    rests = []
    for push in (1.0, -1.0):
        for _ in range(2000):
            pendulum.step(link_torque=push)
        rests.append(pendulum.data.qpos.copy())
    np.testing.assert_allclose(rests[0][1] - rests[1][1], width, atol=5e-4)
    np.testing.assert_allclose(rests[0][0], rests[1][0], atol=1e-3)  # the motor's side sticks but for the impacts


def test_the_torque_of_a_motor_falls_with_the_speed_and_brakes_in_full() -> None:
    model = plant_of(load_robot("icub_v2_7"), 1.0)
    description = SimpleNamespace(
        per_joint=lambda name: np.full(23, {"no_load_speed": 8.0, "full_torque_speed": 4.0}[name])
    )
    limits = MotorLimits(MotorConfig(**(IDEAL_MOTOR | {"speed_limits": True})), description, model)  # type: ignore[arg-type]
    peaks = model.actuator_forcerange[:, 1].copy()
    for speed, fraction in ((0.0, 1.0), (4.0, 1.0), (6.0, 0.5), (8.0, 0.0), (9.0, 0.0)):
        limits.apply(np.full(23, speed))
        np.testing.assert_allclose(model.actuator_forcerange, np.stack((-peaks, fraction * peaks), axis=1))
        limits.apply(np.full(23, -speed))
        np.testing.assert_allclose(model.actuator_forcerange, np.stack((-fraction * peaks, peaks), axis=1))
    limits.apply(np.full(23, 3.0))
    np.testing.assert_allclose(model.actuator_forcerange, np.stack((-peaks, peaks), axis=1))


@pytest.mark.parametrize("frequency", [2.0, 10.0, 30.0])
def test_torque_control_lags_by_its_bandwidth_and_its_delay(frequency: float) -> None:
    delay, time_constant, step, omega = 0.003, 0.005, 0.0005, 2.0 * np.pi * frequency
    config = MotorConfig(**(IDEAL_MOTOR | {"torque_delay": delay, "torque_time_constant": time_constant}))
    response = TorqueResponse(config, one_joint())
    times = step * np.arange(4000)
    answer = np.array([response.torques(np.array([np.sin(omega * t)]), np.zeros(1), step)[0] for t in times])
    settled = times > 1.0
    basis = np.stack((np.sin(omega * times), np.cos(omega * times)), axis=1)[settled]
    real, imaginary = np.linalg.lstsq(basis, answer[settled], rcond=None)[0]
    phase = -np.arctan(omega * time_constant) - omega * delay
    assert np.arctan2(imaginary, real) == pytest.approx(phase, abs=0.6 * omega * step)
    assert np.hypot(real, imaginary) == pytest.approx(1.0 / np.hypot(1.0, omega * time_constant), rel=0.05)


def test_the_boards_compensate_a_fraction_of_the_nominal_friction_slowly() -> None:
    config = MotorConfig(**(IDEAL_MOTOR | {"friction_compensation": 0.7, "compensation_time_constant": 0.2}))
    response = TorqueResponse(config, one_joint(coulomb_friction=4.0, viscous_friction=2.0))
    speed, step = 0.5, 0.001
    torques = [response.torques(np.zeros(1), np.array([speed * step * k]), step)[0] for k in range(3000)]
    assert torques[-1] == pytest.approx(0.7 * (4.0 + 2.0 * speed), rel=1e-3)
    assert torques[201] == pytest.approx((1.0 - np.exp(-1.0)) * torques[-1], rel=0.01)


def test_what_is_drawn_depends_on_the_seed_and_on_nothing_else() -> None:
    spread = FrictionConfig(**(NO_FRICTION | {"spread": 2.0}))
    factors = spread.factors(500, 1)
    assert 0.5 <= factors.min() < 0.55 < 1.8 < factors.max() <= 2.0
    np.testing.assert_array_equal(
        factors, FrictionConfig(**(NO_FRICTION | {"spread": 2.0, "gear_loss": 0.1})).factors(500, 1)
    )
    assert np.abs(factors - spread.factors(500, 2)).max() > 0.5
    np.testing.assert_array_equal(rotor_factors(0.0, 3, 7), 1.0)
    assert np.abs(rotor_factors(0.2, 300, 7) - 1.0).max() == pytest.approx(0.2, rel=0.02)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"friction": {"spread": 0.5}}, "spread=0.5, must be at least 1"),
        ({"friction": {"coulomb": -1.0}}, "coulomb=-1.0, must not be negative"),
        ({"motors": {"torque_delay": 0.0015}}, "motors.torque_delay=0.0015: must be a multiple"),
        ({"motors": {"speed_scale": 0.0}}, "speed_scale=0.0, must be positive"),
        ({"plant": {"rotor_spread": 1.0}}, r"rotor_spread=1.0, must be in \[0, 1\)"),
    ],
)
def test_drives_out_of_range_are_refused(tables: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        configured(**tables)


def test_a_robot_with_all_of_it_stands() -> None:
    description = load_robot("g1")
    config = configured(
        plant={"rotor_spread": 0.2, "gear_play": 1.0, "gear_play_spread": 0.3},
        friction={"coulomb": 1.0, "viscous": 1.0, "static_ratio": 1.3, "gear_loss": 0.1, "spread": 1.5},
        motors={"speed_limits": True},
    )
    robots = [MujocoRobot(description, config, standing_posture(description), seed) for seed in (3, 3, 4)]
    for robot in robots:
        robot.advance(0.3)
        assert robot.fall is None
    same, other = (one.truth().joint_positions - robots[0].truth().joint_positions for one in robots[1:])
    np.testing.assert_array_equal(same, 0.0)
    assert np.abs(other).max() > 1e-4
