"""A simulated robot with its boards and sensors, without ports."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from gradiva.common import ConfigError, Measurement, NDArray, RobotPosture, so3
from gradiva.middleware import Measurements
from gradiva.robot_model import RobotDescription, RobotPorts
from gradiva.simulation import (
    Fall,
    Fault,
    JointRanges,
    MujocoRobot,
    Push,
    SimulatedState,
    SimulationConfig,
    joint_ranges,
)
from gradiva.yarp_modules.module_options import robot_ports
from gradiva.yarp_modules.simulator.body_sensors import BodySensors
from gradiva.yarp_modules.simulator.simulated_joints import SimulatedJoints
from gradiva.yarp_modules.simulator.simulated_part import SimulatedPart, joint_settings

_IDLE_STIFFNESS = 1e-6  # [N·m/rad] in the place of none: set-points are divided by it
_HELD_STIFFNESS, _HELD_DAMPING = 100.0, 10.0  # [N·m/rad, N·m·s/rad] reported of joints that no physics moves


@dataclass(frozen=True, slots=True, eq=False)
class WorldSample:
    """Holds the readings of one instant.

    Attributes:
        time: [s].
        measurement: Of the sensors of walking; its times are those at which they were sampled.
        sensors: By server; of those that were wanted.
        floating_base: Position, roll pitch yaw, linear and angular velocity, linear and angular acceleration; world,
            shape (18,); None where it was not wanted.
        is_new: Whether the sensors have a new reading; not while they are silent by a fault.
    """

    time: float
    measurement: Measurement
    sensors: Mapping[str, Measurements]
    floating_base: NDArray | None
    is_new: bool = True


class SimulatedWorld:
    """Holds a robot in the engine, its boards and its sensors. It stands in its start posture until commanded.

    Attributes:
        ports: Of the robot.
        parts: Devices behind the control boards, by name.
        joints: All of them.
        metadata: Who the sensors of each server are.
    """

    _robot: MujocoRobot  # begins anew at each reset, as the next one
    _sensors: BodySensors

    def __init__(
        self, description: RobotDescription, config: SimulationConfig, posture: RobotPosture, seed: int = 0
    ) -> None:
        """Put the robot on the ground.

        Raises:
            ConfigError: The robot has no ports, or the configuration is wrong.
            ModelError: The model lacks what the description names.
        """
        self.ports: RobotPorts = robot_ports(description)
        self._description, self._config, self._posture, self._seed = description, config, posture, seed
        names = self.ports.joints
        self._driven = [names.index(joint) for joint in description.joints]
        ranges = joint_ranges(description, names)
        self.joints = SimulatedJoints(names, self._driven, ranges, self._all_positions(ranges))
        self._begin(0.0)
        self.parts = self._make_parts()
        self.metadata = self._sensors.metadata()
        self._gains_are_new = False

    @property
    def time(self) -> float:
        """Time of the simulation, which goes on when the robot is put back, [s]."""
        return self._offset + self._robot.time

    @property
    def contacts(self) -> tuple[str, ...]:
        """Sensors of the ground's wrenches, in the order of the measurement's rows."""
        return tuple(sensor.name for sensor in self._description.real_force_torque_sensors)

    @property
    def timestep(self) -> float:
        """Time step of the physics, [s]."""
        return self._config.timestep

    @property
    def fall(self) -> Fall | None:
        """The robot's fall; its time is that since it was put there last."""
        return self._robot.fall

    def truth(self) -> SimulatedState:
        """Return the state without noise."""
        return self._robot.truth()

    def flexible_joints(self) -> list[tuple[str, float, float, float, float]]:
        """Return of each flexible joint name, stiffness [N·m/rad], position [rad], velocity [rad/s], torque [N·m]."""
        joints = self._config.flexibility.flexible_joints(self._description.name, self._description.joints)
        if not joints:
            return []
        truth = self.truth()
        motion = np.stack((truth.flexible_positions, truth.flexible_velocities, truth.flexible_torques), axis=1)
        return [(joint.name, joint.stiffness, *row) for joint, row in zip(joints, motion.tolist(), strict=True)]

    @property
    def robot_time(self) -> float:
        """Since the robot was put there last, [s]: the time of faults."""
        return self._robot.time

    @property
    def base_height(self) -> float:
        """True height of the base above the floor, [m]."""
        return float(self.truth().base_position[2])

    @property
    def tilt(self) -> float:
        """True tilt of the base from its start attitude, heading aside, [rad]."""
        return so3.tilt(self.truth().base_rotation @ self._posture.base_rotation.T)

    def inject(self, fault: Fault) -> None:
        """Let a sensor or a motor fail; the fault's times count from `robot_time` zero.

        Raises:
            ConfigError: Nothing reads the sensor.
            ModelError: The robot has no such joint or sensor.
        """
        self._robot.inject(fault)
        self._sensors.note_fault(fault)

    def advance(self, duration: float) -> None:
        """Let ``duration`` [s] pass, a whole number of physics steps; set-points that arrive meanwhile act."""
        for _ in range(round(duration / self.timestep)):
            if self._gains_are_new:
                self._set_gains()
            command = self.joints.next_command(self.time, self.timestep)
            if command is not None:
                self._robot.write(command)
            self._robot.advance(self.timestep)

    def sample(self, wanted: Collection[str] | None = None) -> WorldSample:
        """Read the sensors: of the ``wanted`` servers and, by its name, the floating base; or all.

        Raises:
            RobotInterfaceError: The simulation has diverged.
        """
        measurement, time = self._robot.read().shifted(self._offset), self.time
        self.joints.observe(measurement, self._robot.position_gains[0])
        wanted = (*self.metadata, self.ports.floating_base) if wanted is None else wanted
        base = self._floating_base(time) if self.ports.floating_base in wanted else None
        readings = self._sensors.read(measurement, time, wanted)
        return WorldSample(time, measurement, readings, base, is_new=not self._robot.is_silent)

    def push(self, link: str, force: tuple[float, ...], torque: tuple[float, ...], duration: float) -> Push:
        """Push a link from now on, at its centre of mass; world, [N], [N·m], [s].

        Raises:
            ConfigError: A number is not finite, or the duration not positive.
            ModelError: The model has no such link.
        """
        if not all(map(math.isfinite, (*force, *torque, duration))):
            raise ConfigError(f"push on '{link}': not all numbers are finite")
        push = Push(link, (force[0], force[1], force[2]), self._robot.time, duration, (torque[0], torque[1], torque[2]))
        self._robot.push(push)
        return push

    def reset(self) -> None:
        """Put the robot back to its start posture, held in position mode; time goes on, settings stay."""
        self._begin(self.time)
        self.joints.reset(self._all_positions(self.joints.ranges), self._robot.position_targets)
        self._gains_are_new = True

    # ----------------------------------------------------------------------------------------------------------

    def _begin(self, offset: float) -> None:
        self._offset = offset
        self._robot = MujocoRobot(self._description, self._config, self._posture, self._seed)
        self._sensors = BodySensors(self._description, self.ports, self._robot.probes())
        for fault in self._config.faults:
            self._sensors.note_fault(fault)
        self._last_base: tuple[float, NDArray] | None = None
        self.joints.hold(self._robot.position_targets)

    def _all_positions(self, ranges: JointRanges) -> NDArray:
        """Return where all joints start: ideal ones at zero, or as near as their limits let them."""
        positions = np.zeros(len(self.ports.joints))
        positions[self._driven] = self._posture.joint_positions
        return np.clip(positions, ranges.lower, ranges.upper)

    def _make_parts(self) -> dict[str, SimulatedPart]:
        number = len(self.ports.joints)
        stiffness, damping = np.full(number, _HELD_STIFFNESS), np.full(number, _HELD_DAMPING)
        stiffness[self._driven], damping[self._driven] = self._robot.position_gains
        parts: dict[str, SimulatedPart] = {}
        for name, joints in self.ports.boards.items():
            some = [self.ports.joints.index(joint) for joint in joints]
            settings = joint_settings(some, self.joints.ranges, stiffness, damping)
            parts[name] = SimulatedPart(name, self.joints, some, settings)
            parts[name].gains_changed = self._note_gains
        return parts

    def _note_gains(self) -> None:
        self._gains_are_new = True

    def _set_gains(self) -> None:
        self._gains_are_new = False
        stiffness, damping = (
            np.concatenate(both) for both in zip(*(part.gains() for part in self.parts.values()), strict=True)
        )
        floor = np.maximum(stiffness[self._driven], _IDLE_STIFFNESS)
        self._robot.set_position_gains(floor, damping[self._driven])

    def _floating_base(self, time: float) -> NDArray:
        truth = self._robot.truth()
        accelerations = np.zeros(6)
        if self._last_base is not None and time > self._last_base[0]:
            accelerations = (truth.base_twist - self._last_base[1]) / (time - self._last_base[0])
        self._last_base = (time, truth.base_twist)
        angles = so3.roll_pitch_yaw(truth.base_rotation)
        return np.concatenate([truth.base_position, angles, truth.base_twist, accelerations])
