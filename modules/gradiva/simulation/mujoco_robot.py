"""MujocoRobot: a robot simulated in this process by MuJoCo."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from gradiva.common import (
    GRAVITY,
    ConfigError,
    ControlMode,
    JointCommand,
    Measurement,
    NDArray,
    RobotInterfaceError,
    RobotPosture,
    Side,
    altered,
    sealed,
    unchecked,
)
from gradiva.robot_model import Compiler, RobotDescription, interpreted
from gradiva.simulation.body_probes import BodyProbes
from gradiva.simulation.drives import JointFriction, MotorLimits, drawn_friction, drawn_play
from gradiva.simulation.engine import mujoco
from gradiva.simulation.falls import Fall, FallDetector, SlipMeter
from gradiva.simulation.faults import Fault, FaultKind, MotorFaults, SensorFaults
from gradiva.simulation.ground import Ground, choose_ground
from gradiva.simulation.joint_motions import JointMotions
from gradiva.simulation.model_errors import ModelErrors
from gradiva.simulation.plant import (
    build_plant,
    check_springs,
    load_tree,
    sink_to_weight,
    standing_torques,
    weight_of,
)
from gradiva.simulation.pushes import Push, Pusher
from gradiva.simulation.rigid_tree import quaternion
from gradiva.simulation.sensors import Sensors
from gradiva.simulation.servos import MixedCommand, ServoBank
from gradiva.simulation.simulation_config import SimulationConfig
from gradiva.simulation.soles import sole_boxes
from gradiva.simulation.state_reader import SimulatedState, Snapshot, StateReader
from gradiva.simulation.transport import DrawnValues, PacketLine, SensorStreams, WrenchSample, WrenchSampler

_WATCH_PERIOD = 0.01  # [s] falls and slips are looked for this often
_DEEPEST_START = 0.005  # [m] a sole that starts deeper in a floor that is not soft would be shot out of it


class MujocoRobot:
    """A robot on a floor in MuJoCo, sensed and commanded as the real one; a ``RobotInterface``.

    The soles stand on the floor when their frames are at z = 0. Its links bend as the configuration of the simulation
    says, whatever the description does, and begin unbent. The servos first hold the start posture,
    with the torques of standing still. One seed and one sequence of calls give bit-equal runs.
    """

    def __init__(
        self,
        description: RobotDescription,
        config: SimulationConfig,
        posture: RobotPosture,
        seed: int = 0,
        compiler: Compiler = interpreted,
    ) -> None:
        """Put the robot at its start posture, at rest.

        Args:
            description: Of the robot.
            config: Of the simulation.
            posture: Where it starts.
            seed: Of the noise and of all that is drawn.
            compiler: How the equations of soft ground become fast.

        Raises:
            ConfigError: The posture has a wrong size, is not finite, or has a sole inside the floor.
            ModelError: The robot's model lacks what the description names, or has another mass.
        """
        silence_engine()
        self._errors = errors = ModelErrors(config.model_errors, seed)
        self._config = config = replace(config, ground=errors.of_floor(config.ground, config.timestep))
        self._joints = len(description.joints)
        self._description = description
        self._seed = seed
        self._step = 0
        self._build_body(compiler)
        self._build_drives()
        self._build_sensors()
        self._build_watch(posture)
        self._pusher = Pusher(self._tree, self._model, description.torso_frame)
        self._pushes: list[Push] = []
        self._faults: list[Fault] = []
        for push in config.pushes:
            self.push(push)
        for fault in config.faults:
            self.inject(fault)
        self._start(description, posture)

    def _build_body(self, compiler: Compiler) -> None:
        """Build links, soles, friction and floor, as the seed has drawn them."""
        config, seed = self._config, self._seed
        flexible = config.flexibility.flexible_joints(self._description.name, self._description.joints)
        self._description = description = replace(self._description, flexible_joints=flexible)
        exact = load_tree(description.with_flexible_joints())
        self._tree = tree = self._errors.of_links(exact, description.torso_frame)
        soles = self._errors.of_soles(sole_boxes(description, tree))
        self._sole_names = [sole.sensor for sole in soles]
        self._sole_reach = config.model_errors.sole_reach(soles)
        self._ground = choose_ground(config, description.sole.z, seed, compiler)
        self._friction = JointFriction(config.friction, description, seed)
        self._model = build_plant(description, tree, config, self._ground, soles, self._friction, seed)
        self._data = mujoco.MjData(self._model)

    def _build_drives(self) -> None:
        """Build motors and servos, their faults, and the line of the commands to them."""
        description, config, model = self._description, self._config, self._model
        self._motors = MotorLimits(config.motors, description, model)
        self._servos = ServoBank(description, config.servo, config.motors, model)
        limits = model.jnt_range[[model.joint(joint).id for joint in description.joints]]
        self._motions = JointMotions(config.joint_motions, description, limits, self._seed)
        self._motor_faults = MotorFaults(model, self._motors.limits)
        to_servos = replace(config.transport, delay=config.servo.delay + config.transport.delay)
        self._commands: PacketLine[MixedCommand] = PacketLine(to_servos, self._seed, "commands")
        self._positive_work, self._no_power = np.zeros((2, self._joints))  # of each joint; work over the time step

    def _build_sensors(self) -> None:
        """Build sensors and their faults."""
        description, config = self._description, self._config
        self._reader = StateReader(description, self._model, config.ground.world_rotation)
        self._sensors = Sensors(config.sensors, self._joints, len(description.force_torque_sensors), self._seed)
        self._sensor_faults = SensorFaults(description)
        self._is_sensed = np.array([sensor.is_real for sensor in description.force_torque_sensors])
        self._last_read: list[Any] = []  # newest samples of the streams

    def _build_watch(self, posture: RobotPosture) -> None:
        """Build the detectors of falls and slips."""
        com_height = self._description.com_height - self._description.sole.z
        self._falls = FallDetector(self._config.fall, posture.base_position, posture.base_rotation, com_height)
        self._slip = SlipMeter(self._config.slip.least_load(self._description.mass * GRAVITY))
        self._watch_steps = max(1, self._config.steps(_WATCH_PERIOD))
        self._fall: Fall | None = None

    @property
    def time(self) -> float:
        """Since the start, [s]."""
        return self._step * self._config.timestep

    @property
    def fall(self) -> Fall | None:
        """Reason and time of the robot's fall; None while it is upright."""
        return self._fall

    def drawn_values(self) -> list[DrawnValues]:
        """Return the constants that the seed has chosen, effect by effect; none of an effect that is off."""
        robot, config = self._description, self._config
        bodies = [body.name for body in self._tree.bodies]
        sensors = [sensor.name for sensor in robot.force_torque_sensors]
        found = [
            drawn_friction(self._friction, config.friction, robot.joints),
            drawn_play(config.plant.gear_play, config.plant.gear_play_spread, robot, self._seed),
            *self._errors.drawn(bodies, self._sole_names),
            *self._sensors.drawn(robot.joints, sensors),
        ]
        return [drawn for drawn in found if drawn.labels]

    @property
    def positive_work_j(self) -> float:
        r"""Positive work of the servos (thesis 7.3.1): :math:`\sum_j \int \max(0, \tau_j \dot s_j) dt`, [J]."""
        return self._config.timestep * float(self._positive_work.sum())

    def read(self) -> Measurement:
        """Return the newest sample of all sensors; wrenches are means over the time since the last reading.

        Raises:
            RobotInterfaceError: The simulation has diverged.
        """
        self._mean_wrenches = self._mean_sampler.sample(self._step).wrenches
        joints, wrenches, imu = newest = self._streams.newest(self._step)
        if not math.isfinite(joints.positions.dot(joints.positions) + joints.velocities.dot(joints.velocities)):
            raise RobotInterfaceError(f"the simulation diverged before {self.time:.3f} s")
        are_new = [new is not old for new, old in zip(newest, self._last_read, strict=True)]
        self._last_read = newest
        truth = self._sensor_faults.misplace(self._true_measurement(joints, wrenches, imu), self.time)
        return self._as_read(self._sensor_faults.spoil(self._sensors.measure(truth, *are_new), self.time))

    def _as_read(self, measurement: Measurement) -> Measurement:
        """Return the measurement without the wrenches that no sensor measures."""
        if self._is_sensed.all():
            return measurement
        wrenches = np.where(self._is_sensed[:, None], measurement.contact_wrenches, np.nan)
        taken = measurement.contact_wrenches_time if self._is_sensed.any() else None
        return altered(measurement, contact_wrenches=sealed(wrenches), contact_wrenches_time=taken)

    @property
    def is_silent(self) -> bool:
        """Whether a fault keeps all sensors from sending."""
        return self._sensor_faults.are_silent(self.time)

    def write(self, command: JointCommand | MixedCommand) -> None:
        """Hand a command, of all joints in one mode or each in its own, to the servos, which obey it after their delay.

        Raises:
            RobotInterfaceError: The command has a wrong size or is not finite.
        """
        if command.values.shape != (self._joints,):
            raise RobotInterfaceError(f"{command.values.size} values commanded to {self._joints} joints")
        mixed = command if isinstance(command, MixedCommand) else MixedCommand.of(command)
        if np.count_nonzero(np.isfinite(command.values)) < self._joints:
            joint = int(np.argmin(np.isfinite(command.values)))
            name = self._model.actuator(joint).name
            mode = mixed.modes[joint]
            raise RobotInterfaceError(f"{mode} command of joint '{name}' is {command.values[joint]}")
        self._commands.put(self.time, self._motions.applied(mixed, self.time))

    def advance(self, duration: float) -> None:
        """Let ``duration`` [s] pass, a whole number of physics steps.

        Raises:
            RobotInterfaceError: It is not.
        """
        steps = self._config.steps(duration)
        if steps < 0 or abs(steps * self._config.timestep - duration) > 1e-9:
            raise RobotInterfaceError(f"{duration} s is no multiple of the step {self._config.timestep} s")
        for _ in range(steps):
            self._advance_step()

    def push(self, push: Push) -> None:
        """Apply a push, beside those of the configuration; its start counts from the robot's start.

        Raises:
            ConfigError: It is over already.
            ModelError: The model has no such link.
        """
        if push.end <= self.time:
            raise ConfigError(f"the {push} comes too late: the robot is at {self.time:.2f} s")
        self._pusher.add(push)
        self._pushes.append(push)

    @property
    def pushes(self) -> tuple[Push, ...]:
        """Pushes of the configuration, and those that were added."""
        return tuple(self._pushes)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Faults of the configuration, and those that were injected."""
        return tuple(self._faults)

    def inject(self, fault: Fault) -> None:
        """Let a sensor or a motor fail, beside those of the configuration; its start counts from the robot's start.

        Raises:
            ConfigError: Nothing reads the sensor.
            ModelError: The robot has no such joint or sensor.
        """
        self._sensor_faults.add(fault)
        self._faults.append(fault)
        if fault.kind is FaultKind.WEAK_MOTOR:
            self._motor_faults.add(fault)

    def truth(self) -> SimulatedState:
        """Return the state without noise or delay, for scoring."""
        return self._reader.truth(self._snapshot(self._step), self.time, self._slip)

    def mean_load(self) -> tuple[NDArray, NDArray]:
        """Return the ground's normal forces on left and right foot [N] and the ZMP on the floor, world [m], (2,) each.

        They are true means over the time between the last two readings, whatever the sensors measured of them; the ZMP
        is not a number where no foot carries.
        """
        return self._reader.load(self._data, self._mean_wrenches)

    def external_wrench(self, com_position: NDArray) -> NDArray:
        """Return force of the pushes that act now and moment about the CoM, world, [N, N·m], shape (6,)."""
        return self._pusher.wrench(self._data, self._step, com_position)

    @property
    def ground(self) -> Ground:
        """Ground that the robot stands on; reading it never changes a run."""
        return self._ground

    @property
    def position_targets(self) -> NDArray:
        """Targets of the position servos, [rad], shape (n,); means nothing for joints in other modes."""
        return self._servos.position_targets

    @property
    def position_gains(self) -> tuple[NDArray, NDArray]:
        """Stiffness [N·m/rad] and damping [N·m·s/rad] of the position servos, shape (n,) each."""
        return self._servos.position_gains

    def set_position_gains(self, stiffness: NDArray, damping: NDArray) -> None:
        """Change the position servos: stiffness [N·m/rad], damping [N·m·s/rad], shape (n,) each; targets stay."""
        self._servos.set_position_gains(stiffness, damping)

    def probes(self) -> BodyProbes:
        """Return sensors beside those of walking; reading them never changes a run."""
        return BodyProbes(self._description, self._tree, self._model, self._data, self._config)

    def _start(self, description: RobotDescription, posture: RobotPosture) -> None:
        model, data = self._model, self._data
        if posture.joint_positions.shape != (self._joints,):
            raise ConfigError(f"the posture has {posture.joint_positions.size} of {self._joints} joints")
        data.qpos[:3] = posture.base_position
        data.qpos[3:7] = quaternion(posture.base_rotation)
        data.qpos[self._reader.joint_positions] = posture.joint_positions
        self._motions.begin(posture.joint_positions)
        if not np.isfinite(data.qpos).all():
            raise ConfigError("the start posture is not finite")
        mujoco.mj_forward(model, data)
        feet = (description.left_foot_frame, description.right_foot_frame)
        deepest = max(_DEEPEST_START, self._ground.deepest_rest(weight_of(model)))
        for side, foot in zip(Side, feet, strict=True):
            if data.site(foot).xpos[2] < -deepest:
                raise ConfigError(f"the {side} sole starts {-data.site(foot).xpos[2]:.3f} m below the floor")
        joints, flexible = self._reader.joint_velocities, self._reader.flexible_velocities
        if flexible.size:
            check_springs(model, data, flexible)
        torques = standing_torques(model, data, feet, 0.0, joints, flexible if flexible.size else None)
        self._servos.hold((ControlMode.POSITION,) * self._joints, posture.joint_positions, torques)
        data.ctrl[:] = self._servos.control(posture.joint_positions, 0.0)
        sink_to_weight(model, data, self._ground, feet, self._sole_reach)
        self._wrenches = self._ground.wrenches(data)
        self._start_sensing()

    def _start_sensing(self) -> None:
        sensors, timestep = self._config.sensors, self._config.timestep
        self._wrench_sampler = WrenchSampler(sensors.force_torque.time_constant, timestep, self._wrenches)
        self._mean_sampler, self._mean_wrenches = WrenchSampler(0.0, timestep, self._wrenches), self._wrenches
        takers = {"joints": self._snapshot, "wrenches": self._wrench_sampler.sample, "imu": self._snapshot}
        self._last_snapshot: Snapshot | None = None
        self._streams = SensorStreams(sensors.streams, takers, timestep, self._seed)
        self._last_read = [None] * len(takers)

    def _advance_step(self) -> None:
        data, timestep = self._data, self._config.timestep
        positions, torques = data.actuator_length, data.actuator_force
        command = self._commands.take(self.time)
        if command is not None:
            self._servos.command(command, positions, torques)
        data.ctrl[:] = self._servos.control(positions, timestep)
        self._friction.apply(data.actuator_velocity, torques)
        self._motors.apply(data.actuator_velocity)
        self._pusher.apply(data, self._step)
        self._motor_faults.apply(self.time)
        self._ground.step(self._model, data)
        self._step += 1
        self._wrenches = self._ground.wrenches(data)
        self._wrench_sampler.add(self._wrenches)
        self._mean_sampler.add(self._wrenches)
        power = torques * data.actuator_velocity
        self._positive_work += np.maximum(power, self._no_power, out=power)
        self._streams.advance(self._step)
        if self._step % self._watch_steps == 0:
            self._watch()

    def _watch(self) -> None:
        """Look for falls and slips; frames are those at the beginning of the last step."""
        data = self._data
        if self._fall is None:
            self._fall = self._falls.check(self.time, data.qpos[:3], data.xmat[1].reshape(3, 3))
        self._reader.watch_soles(data, self._wrenches, self._slip)

    def _snapshot(self, step: int) -> Snapshot:
        """Return the state after the present physics step; streams that are due at the same step share it."""
        data, last = self._data, self._last_snapshot
        if last is not None and last.step == step:
            return last
        self._last_snapshot = unchecked(
            Snapshot,
            step=step,
            positions=data.qpos.copy(),
            velocities=data.qvel.copy(),
            torques=data.actuator_force.copy(),
            wrenches=self._wrenches,
        )
        return self._last_snapshot

    def _true_measurement(self, joints: Snapshot, wrenches: WrenchSample, imu: Snapshot) -> Measurement:
        timestep = self._config.timestep
        sensed_imu, base = self._reader.sensed(joints, imu, imu.step * timestep)
        return unchecked(
            Measurement,
            time=joints.step * timestep,
            joint_positions=joints.positions[self._reader.joint_positions],
            joint_velocities=joints.velocities[self._reader.joint_velocities],
            joint_torques=joints.torques,
            contact_wrenches=wrenches.wrenches,
            imu=sensed_imu,
            base=base,
            motor_temperatures=None,
            contact_wrenches_time=wrenches.step * timestep,
            deflections=self._reader.deflections(joints),
        )


def silence_engine() -> None:
    """Keep MuJoCo's warnings off the terminal, and from a log file of its own in the working folder.

    They report that a simulation diverges; ``MujocoRobot.read`` reports that by name.
    """
    mujoco.set_mju_user_warning(_ignore)


def _ignore(warning: str) -> None:
    pass
