r"""Controller of motion as transfer functions from tick to tick, and the loop through the foot wrenches.

With the delay :math:`z^{-1}` of a tick of duration T each low pass is :math:`F(z) = g / (1 - (1 - g) z^{-1})`,
:math:`g = 1 - e^{-T / \tau}`, and each integral :math:`T / (1 - z^{-1})`. Deviations from standing still, per tick:

.. math::
    z^* &= K_p (x + F_v (\dot x + b \, \omega^2 (x - z^{-1} z^*)) / \omega), \\
    \bar z &= F_z z + (F_0 - F_z F_w) z^{-1} z^*, \\
    v &= -K_{ZMP} (z^* - \bar z) - K_{CoM} x, \\
    h &= \tfrac{T}{1 - z^{-1}} \left[\tfrac12 a_h F_a (\Delta f - F_e \Delta f^e) - z^{-1} h / T_{leak}\right],
    \qquad \text{shifts and } \theta \text{ likewise by } a_s \Delta f_{x,y}, a_\theta (\mu - c^e f), \\
    s &= s_d + (T_{lead} - hold \, T) F_\nu \nu + \delta \qquad \text{or} \qquad w = \nu,

where b is what :math:`F_v` and the age of velocities take off, :math:`F_z` lags more than :math:`F_0` on both feet, by
``DOUBLE_SUPPORT_LAG`` ages of the wrenches, with the inverse kinematics of layer 3 for :math:`\nu`, and the servos'
inverse of :math:`M F_\alpha \dot \nu + K_g q_d - J^\top W^e` for :math:`\delta`. Behind ``AttitudeFilter`` the
controller reads roll and pitch q, of rate p and age a, as
:math:`F_R (q + a p) + (1 - F_R) \tfrac T2 \tfrac{1 + z^{-1}}{1 - z^{-1}} p`.

The same loop is cut at :math:`v` instead for balance itself, below 5 Hz: which velocity of the CoM layer 2 asks for
after one that layer 3 is given.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import casadi as cs
import numpy as np

from gradiva.common import GRAVITY, ControlMode, NDArray, Side, low_pass_gain
from gradiva.estimation import DOUBLE_SUPPORT_LAG, BaseSource
from gradiva.robot_model import ServoLaw
from gradiva.setup.standing_plant import CHANNELS, Complex, Plant
from gradiva.simplified_model import ZmpComGains
from gradiva.walking import WalkingConfig, pendulum_wrenches
from gradiva.whole_body import ACCELERATION_TIME_CONSTANT

_PROBE = 1e-4  # [m] of the ZMP, of finite differences


class WrenchLoop:
    """Loop of one robot that stands on given feet, on a floor of a given contact time, cut at the wrenches."""

    def __init__(self, plant: Plant, config: WalkingConfig, gains: ZmpComGains) -> None:
        """Take the robot as it stands.

        Args:
            plant: Robot, servos and floor.
            config: Of the controller; its control mode and period are those of the plant.
            gains: Of the ZMP-CoM law.
        """
        self.period = config.walking.period
        self._plant, self._motion = plant, _MotionController(plant, config, gains)

    def gain(self, z: complex) -> Complex:
        """Return L(z), shape (channels, channels)."""
        by_wrench, by_state = self._motion.command(z)
        wrench, sampled = self._plant.response(z)
        inner = np.eye(len(by_state)) - by_state @ sampled
        return np.asarray(wrench @ np.linalg.solve(inner, by_wrench))

    def of_law(self, z: complex) -> complex:
        """Return the loop of the DCM law alone: from the desired ZMP, by the estimated DCM, to the next desired one."""
        return self._motion.of_law(z)

    def balance(self, z: complex) -> tuple[Complex, Complex]:
        """Return the loop cut at the velocity of the CoM, (2, 2), and the return difference of the commands, (n, n)."""
        held, velocity, moved = self._motion.parts(z)
        exerted = np.vstack(self._plant.response(z))
        still = np.eye(len(held)) - held @ exerted
        asked = velocity @ exerted
        return np.asarray(asked @ np.linalg.solve(still, moved)), np.asarray(still - moved @ asked)

    def unstable_poles(self, radius: float) -> int:
        """Return how many poles the robot has outside of a circle of z while its commands stay as they are."""
        return int(np.count_nonzero(np.abs(self._plant.poles) > radius))

    def noise_gains(self, z: complex) -> tuple[Complex, Complex, Complex]:
        """Return what noise on all that the controller reads makes of the closed loop.

        Columns are (channels, positions, velocities of base and joints).

        Returns:
            Wrenches that the ground exerts (channels), their low-passed ZMP (2) and commands of the joints (n).
        """
        by_read, exerted = np.hstack(self._motion.command(z)), np.vstack(self._plant.response(z))
        command: Complex = np.asarray(np.linalg.solve(np.eye(len(by_read)) - by_read @ exerted, by_read))
        true: Complex = np.asarray(exerted @ command)
        return true[: self._motion.channels], self._motion.true_zmp(z) @ true, command


@dataclass(frozen=True, slots=True, eq=False)
class _Signals:
    """Selections of what the controller reads: wrenches, sampled positions and velocities, as maps of all of it."""

    wrenches: NDArray
    positions: NDArray
    velocities: NDArray


class _MotionController:
    """Transfer function of everything between sensors and servos in position and velocity control."""

    def __init__(self, plant: Plant, config: WalkingConfig, gains: ZmpComGains) -> None:
        body = self._body = plant.body
        self._config, self._gains, self._period = config, gains, config.walking.period
        self._by_velocity = config.walking.control is ControlMode.VELOCITY
        self._frequency = math.sqrt(GRAVITY / config.planner.com_height)
        estimator = config.state_estimator
        self._age = plant.joint_age
        longer = DOUBLE_SUPPORT_LAG * plant.wrench_age if len(body.sides) == len(Side) else 0.0
        self._wrench_lag = estimator.wrench_filter_time_constant + estimator.wrench_age_factor * plant.wrench_age
        self._zmp_lag = estimator.zmp_time_constant + longer
        channels, size = len(CHANNELS) * len(body.sides), body.size
        every = np.eye(channels + 2 * size)
        self.channels = channels
        self._read = _Signals(every[:channels], every[channels : channels + size], every[channels + size :])
        self._zmp_of = self._zmp_of_wrenches()
        self._expected = self._expected_wrenches()
        self._contact = sum(
            body.jacobians[side].T @ self._expected[6 * row : 6 * row + 6] for row, side in enumerate(Side)
        )
        self._law = law = ServoLaw.of(body.setup.robot)
        is_loop, servo = law.velocity_stiffness > 0.0, config.servo_feedforward
        self._damping = servo.velocity * np.where(is_loop, 0.0, (1.0 - law.velocity_feedforward) * law.damping)
        self._lead = servo.velocity * np.where(is_loop, law.lag, 0.0) - servo.hold * self._period
        self._task_gains = self._gains_of_tasks()

    def command(self, z: complex) -> tuple[Complex, Complex]:
        """Return the command for the wrenches, shape (n, channels), and for sampled states, (n, 2 (6 + n))."""
        held, velocity, moved = self.parts(z)
        command = held + moved @ velocity
        return command[:, : self.channels], command[:, self.channels :]

    def parts(self, z: complex) -> tuple[Complex, Complex, Complex]:
        """Return, for all that is read, the command while the CoM is held and the velocity v, and the command for v."""
        zmp, velocity = self._balance(z)
        held = self._kinematics(z, 0.0 * velocity, *self._soles(z, zmp), zmp)
        if self._by_velocity:
            held = held - self._feedback()
        one, none = np.eye(2, dtype=complex), np.zeros((4, 2), dtype=complex)
        moved = self._kinematics(z, one, none[:3], none, none[:2])
        return self._behind_attitude_filter(z, held), self._behind_attitude_filter(z, velocity), moved

    def _low_pass(self, z: complex, time_constant: float) -> complex:
        gain = low_pass_gain(time_constant, self._period)
        return gain / (1.0 - (1.0 - gain) / z)

    def _difference(self, z: complex) -> complex:
        return (1.0 - 1.0 / z) / self._period

    # -- layer 2 -----------------------------------------------------------------------------------------------

    def _balance(self, z: complex) -> tuple[Complex, Complex]:
        """Return desired ZMP and velocity of the CoM, (2, all that is read) each."""
        read, body = self._read, self._body
        to_com = (body.jacobians["com"] - body.jacobians[body.sides[0]][:3])[:2]
        com = to_com @ (read.positions + self._age * read.velocities)
        gain, smooth = self._config.dcm_controller.proportional_gain, self._smooth(z)
        dcm = com + smooth * (to_com @ read.velocities + self._pull * com)
        desired: Complex = np.asarray(gain * dcm / (1.0 - self.of_law(z)))
        velocity = -self._gains.zmp * (desired - self._measured_zmp(z, desired)) - self._gains.com * com
        return desired, np.asarray(velocity)

    def of_law(self, z: complex) -> complex:
        """Return the desired ZMP that the desired one of the last tick makes by its pull on the estimated velocity."""
        return -self._config.dcm_controller.proportional_gain * self._smooth(z) * self._pull / z

    def _smooth(self, z: complex) -> complex:
        """Return the low pass of the CoM velocity over the divergence rate, [s]."""
        return self._low_pass(z, self._config.state_estimator.com_velocity_time_constant) / self._frequency

    @property
    def _pull(self) -> float:
        """Rate of the CoM velocity by the distance of the ZMP, over the age that the estimate takes off, [1/s]."""
        passed = low_pass_gain(self._config.state_estimator.com_velocity_time_constant, self._period)
        return float((self._age + self._period * (1.0 - passed) / passed) * self._frequency**2)

    def true_zmp(self, z: complex) -> Complex:
        """Return the ZMP of the wrenches that the ground exerts behind the low pass of the measured one, (2, ...)."""
        return np.asarray(self._low_pass(z, self._zmp_lag) * self._zmp_of)

    def _behind_attitude_filter(self, z: complex, command: Complex) -> Complex:
        """Return the command for what is read before `AttitudeFilter`, which integrates rates of their age."""
        estimator = self._config.state_estimator
        if estimator.base != BaseSource.ODOMETRY or not estimator.use_imu:
            return command
        passed = self._low_pass(z, estimator.attitude_time_constant)
        turn = slice(self.channels + 3, self.channels + 5)  # roll and pitch; the heading is that of the stance sole
        rate = slice(turn.start + self._body.size, turn.stop + self._body.size)
        integral = 0.5 * (1.0 + 1.0 / z) / self._difference(z)
        filtered = command.copy()
        filtered[:, rate] += (1.0 - passed) * (integral - self._age) * command[:, turn]
        filtered[:, turn] *= passed
        return filtered

    def _measured_zmp(self, z: complex, desired: Complex) -> Complex:
        slow = self._low_pass(z, self._zmp_lag)
        smooth = self._low_pass(z, self._config.state_estimator.zmp_time_constant)
        return np.asarray(slow * self._zmp_of + (smooth - slow * self._low_pass(z, self._wrench_lag)) * desired / z)

    def _zmp_of_wrenches(self) -> NDArray:
        """Return the ZMP for what is read, shape (2, ...): of the channels, and of the feet against each other."""
        body, read = self._body, self._read
        weight, zmp = body.mass * GRAVITY, self._zmp_position()
        total = np.zeros((2, read.wrenches.shape[1]))
        for row, side in enumerate(body.sides):
            _, _, force, x, y = read.wrenches[len(CHANNELS) * row :][: len(CHANNELS)]
            total += np.outer(body.soles[side][:2] - zmp, force) + np.vstack((-y, x))
            apart = (body.jacobians[side] - body.jacobians[body.sides[0]])[:2]
            total += weight / len(body.sides) * apart @ read.positions
        return total / weight

    def _zmp_position(self) -> NDArray:
        points = [self._body.soles[side] + c for side, c in zip(self._body.sides, self._body.centre, strict=True)]
        return np.mean(points, axis=0)[:2]

    def _expected_wrenches(self) -> NDArray:
        """Return both feet's expected wrenches for the desired ZMP, shape (12, 2)."""
        columns = [
            (self._wrenches_at(_PROBE * axis) - self._wrenches_at(-_PROBE * axis)) / (2.0 * _PROBE)
            for axis in np.eye(2)
        ]
        return np.column_stack(columns)

    def _wrenches_at(self, shift: NDArray) -> NDArray:
        body, zmp = self._body, self._zmp_position() + shift
        pull = body.mass * self._frequency**2
        force = np.array([*(pull * (body.com_position[:2] - zmp)), body.mass * GRAVITY])
        feet = [{"position": cs.DM(body.soles[side]), "in_contact": cs.DM(side in body.sides)} for side in Side]
        x, y = self._config.planner.zmp_offset
        points = [cs.DM(body.soles[side][:2] + np.array([x, side.sign * y])) for side in Side]
        level = feet[0]["position"][2], cs.DM.zeros(2)
        return np.array(cs.vertcat(*pendulum_wrenches(cs.DM(force), cs.DM(zmp), feet, points, level)))[:, 0]

    # -- soles -------------------------------------------------------------------------------------------------

    def _soles(self, z: complex, zmp: Complex) -> tuple[Complex, Complex]:
        """Return how the left sole shifts, the right one contrarily, (3, ...), and tilts, (4, ...)."""
        config, read = self._config.foot_admittance, self._read
        width = read.wrenches.shape[1]
        if len(self._body.sides) < 2:
            return np.zeros((3, width), dtype=complex), np.zeros((4, width), dtype=complex)
        rows = [6 * foot + row for foot in range(2) for row in CHANNELS]
        expected = self._low_pass(z, config.expected_time_constant) * (self._expected[rows] @ zmp)
        surplus = self._low_pass(z, config.surplus_time_constant) * (read.wrenches - expected)
        surplus = surplus.reshape(len(Side), len(CHANNELS), width)
        yielded = 1.0 / (self._difference(z) + 1.0 / (config.leak_time_constant * z))
        moments = []
        for foot in range(2):
            _, _, force, x, y = surplus[foot]
            lever_x, lever_y, _ = self._body.centre[foot]
            moments += [x - lever_y * force, y + lever_x * force]
        apart = 0.5 * yielded * (surplus[0] - surplus[1])[:3]
        shifts = np.array([[config.spread_gain], [config.spread_gain], [config.height_gain]]) * apart
        return shifts, config.tilt_gain * yielded * np.vstack(moments)

    # -- layer 3 -----------------------------------------------------------------------------------------------

    def _kinematics(self, z: complex, velocity: Complex, shifts: Complex, tilts: Complex, zmp: Complex) -> Complex:
        """Return set-points or velocities of the joints without feedback of postures, (n, ...)."""
        nothing = 0.0 * shifts[:1]
        feet = [
            np.vstack((sign * shifts, *(row[None] for row in tilts[k : k + 2]), nothing))
            for k, sign in ((0, 1.0), (2, -1.0))
        ]
        targets = np.vstack((*feet, velocity / self._difference(z), nothing))
        rates = np.vstack((*(self._difference(z) * foot for foot in feet), velocity, nothing))
        hard = self._task_gains[:15]
        wanted = rates + hard[:, None] * targets
        if self._by_velocity:
            return np.asarray((self._body.inverse[:, :15] @ wanted)[6:])
        pulled = wanted / (self._difference(z) + hard[:, None] / z)
        return self._set_points(z, self._body.inverse[:, :15] @ pulled, zmp)

    def _gains_of_tasks(self) -> NDArray:
        """Return those of both feet, CoM, torso, pelvis and joints, shape (21 + n,)."""
        gains, size = self._config.inverse_kinematics, self._body.size
        foot = [gains.foot_linear_gain] * 3 + [gains.foot_angular_gain] * 3
        soft = [gains.torso_gain] * 6 + [gains.posture_gain] * (size - 6)
        return np.array([*foot, *foot, *[gains.com_gain] * 3, *soft])

    def _feedback(self) -> Complex:
        """Return the velocities of the joints that velocity control takes off for the tasks' errors."""
        feedback = self._body.inverse * self._task_gains @ self._tasks()
        return np.asarray((feedback @ self._read_positions())[6:])

    def _read_positions(self) -> NDArray:
        return self._read.positions + self._age * self._read.velocities

    def _tasks(self) -> NDArray:
        """Return the Jacobian of the tasks' estimated positions, seen from the stance sole: (21 + n, 6 + n)."""
        jacobians, size = self._body.jacobians, self._body.size
        stance = jacobians[self._body.sides[0]][:3]
        moving = [jacobians[name].copy() for name in ("left", "right", "com")]
        for jacobian in moving:
            jacobian[:3] -= stance
        joints = np.hstack((np.zeros((size - 6, 6)), np.eye(size - 6)))
        return np.vstack((*moving, jacobians["torso"], jacobians["pelvis"], joints))

    def _set_points(self, z: complex, desired: Complex, zmp: Complex) -> Complex:
        """Return the set-points for a desired posture (6 + n, ...), ahead by the servos' lag offset by torques."""
        config, body = self._config.servo_feedforward, self._body
        velocity = self._difference(z) * desired
        smooth = self._low_pass(z, config.velocity_time_constant) * velocity[6:]
        acceleration = self._low_pass(z, ACCELERATION_TIME_CONSTANT) * self._difference(z) * velocity
        torques = config.acceleration * (body.mass_matrix @ acceleration)
        torques += body.stiffness @ desired - self._contact @ zmp
        torques = torques[6:] + self._damping[:, None] * smooth
        return desired[6:] + self._lead[:, None] * smooth + self._offsets(z, torques)

    def _offsets(self, z: complex, torques: Complex) -> Complex:
        """Return what ``ServoInverse`` makes of torques."""
        law = self._law
        stiffness = law.stiffness - (1.0 - law.velocity_feedforward) * law.velocity_stiffness
        if not np.any(law.integral_gain):
            return torques / stiffness[:, None]
        rate = law.velocity_feedforward * law.damping * self._difference(z)
        grown = self._period * law.integral_gain / (z - 1.0)
        return torques / (stiffness + rate + grown)[:, None]
