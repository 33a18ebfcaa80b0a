"""Reads kinematics of a simulated state, for the sensors and for scoring."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gradiva.common import (
    NO_JOINTS,
    BaseMeasurement,
    ImuMeasurement,
    NDArray,
    Side,
    TwoFeet,
    freeze_arrays,
    so3,
    unchecked,
)
from gradiva.robot_model import RobotDescription
from gradiva.simulation.engine import mujoco
from gradiva.simulation.falls import SlipMeter

_BASE = 1  # first body after the world


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedState(TwoFeet):
    """State of the plant without noise or delay; world (its xy plane is the floor), mixed representation.

    Attributes:
        time: [s].
        base_position: [m], shape (3,).
        base_rotation: Shape (3, 3).
        base_twist: Linear then angular velocity, [m/s, rad/s], shape (6,).
        joint_positions: [rad], shape (n,).
        joint_velocities: [rad/s], shape (n,).
        joint_torques: Of the servos during the last physics step, [N·m], shape (n,).
        com_position: [m], shape (3,).
        com_velocity: [m/s], shape (3,).
        angular_momentum: About the CoM, rotors left out, [N·m·s], shape (3,).
        left_foot_position: Left sole frame, [m], shape (3,).
        left_foot_rotation: Shape (3, 3).
        right_foot_position: Right sole frame, [m], shape (3,).
        right_foot_rotation: Shape (3, 3).
        left_foot_wrench: Ground on foot during the last physics step, about the sole origin, shape (6,).
        right_foot_wrench: The same of the right foot.
        foot_slip_m: Largest horizontal slip of a sole in one stance phase so far, [m].
        foot_turn_rad: Largest turn of a sole about the vertical in one stance phase so far, [rad].
        flexible_positions: Deflections of the flexible joints, [rad], shape (f,); empty for a rigid robot.
        flexible_velocities: Their velocities, [rad/s], shape (f,).
        flexible_torques: Torques of their springs and dampers, [N·m], shape (f,).
    """

    time: float
    base_position: NDArray
    base_rotation: NDArray
    base_twist: NDArray
    joint_positions: NDArray
    joint_velocities: NDArray
    joint_torques: NDArray
    com_position: NDArray
    com_velocity: NDArray
    angular_momentum: NDArray
    left_foot_position: NDArray
    left_foot_rotation: NDArray
    right_foot_position: NDArray
    right_foot_rotation: NDArray
    left_foot_wrench: NDArray
    right_foot_wrench: NDArray
    foot_slip_m: float
    foot_turn_rad: float
    flexible_positions: NDArray = field(default_factory=lambda: NO_JOINTS)
    flexible_velocities: NDArray = field(default_factory=lambda: NO_JOINTS)
    flexible_torques: NDArray = field(default_factory=lambda: NO_JOINTS)

    def __post_init__(self) -> None:
        freeze_arrays(
            self,
            base_position=(3,),
            base_rotation=(3, 3),
            base_twist=(6,),
            joint_positions=(None,),
            joint_velocities=(None,),
            joint_torques=(None,),
            com_position=(3,),
            com_velocity=(3,),
            angular_momentum=(3,),
            left_foot_position=(3,),
            left_foot_rotation=(3, 3),
            right_foot_position=(3,),
            right_foot_rotation=(3, 3),
            left_foot_wrench=(6,),
            right_foot_wrench=(6,),
            flexible_positions=(None,),
            flexible_velocities=(None,),
            flexible_torques=(None,),
        )

    @property
    def all_joint_positions(self) -> NDArray:
        """Positions of the joints, then of the flexible ones, [rad], shape (n + f,)."""
        return np.concatenate((self.joint_positions, self.flexible_positions))


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """Positions and velocities after a physics step, forces of this step; read-only.

    Attributes:
        step: Number of the step.
        positions: Generalised positions of the engine.
        velocities: Generalised velocities of the engine.
        torques: Of the servos, [N·m], shape (n,).
        wrenches: Of the sensors, [N, N·m], shape (sensors, 6).
    """

    step: int
    positions: NDArray
    velocities: NDArray
    torques: NDArray
    wrenches: NDArray


class StateReader:
    """Computes kinematics beside the simulation, on data of its own: reading never changes a run."""

    def __init__(self, description: RobotDescription, model: mujoco.MjModel, level_rotation: NDArray) -> None:
        """Find joints and sites; ``level_rotation`` is of the world in level axes, shape (3, 3)."""
        self._model = model
        self._data = mujoco.MjData(model)
        self._placed: Snapshot | None = None
        self._level_rotation = level_rotation
        joints, flexible = description.joints, [joint.name for joint in description.flexible_joints]
        self.joint_positions = np.array([int(model.joint(name).qposadr[0]) for name in joints])
        self.joint_velocities = np.array([int(model.joint(name).dofadr[0]) for name in joints])
        self.flexible_positions = np.array([int(model.joint(name).qposadr[0]) for name in flexible], dtype=int)
        self.flexible_velocities = np.array([int(model.joint(name).dofadr[0]) for name in flexible], dtype=int)
        self._stiffness = np.array([joint.stiffness for joint in description.flexible_joints])
        self._damping = np.array([joint.damping for joint in description.flexible_joints])
        self._base_rotation = self._data.xmat[_BASE].reshape(3, 3)  # a view
        self._imu = model.site(description.imu_frame).id
        self._imu_rotation = self._rotation(self._imu)  # a view
        self._imu_twist = np.empty(6)  # angular first, in the axes of the site
        self._soles = {side: model.site(description.foot_frame(side)).id for side in Side}
        self._middles = {side: description.sole.middle(side) for side in Side}
        self._sensor_rows = {side: description.sensors_of(side) for side in Side}
        names = [sensor.name for sensor in description.force_torque_sensors]
        self._sensors = [model.site(f"sensor:{name}").id for name in names]

    def sensed(self, joints: Snapshot, imu: Snapshot, imu_time: float) -> tuple[ImuMeasurement, BaseMeasurement]:
        """Return what is measured of the IMU at ``imu_time`` [s], and of the base link, in the sample of the joints."""
        self._place(joints)
        base = self._sensed_base(joints)
        if imu is not joints:
            self._place(imu)
        return self._sensed_imu(imu_time), base

    def deflections(self, snapshot: Snapshot) -> NDArray | None:
        """Return positions and velocities of the flexible joints, [rad, rad/s], (2, f); None of a rigid robot."""
        if not self.flexible_positions.size:
            return None
        return np.stack((snapshot.positions[self.flexible_positions], snapshot.velocities[self.flexible_velocities]))

    def _sensed_imu(self, time: float) -> ImuMeasurement:
        mujoco.mj_objectVelocity(self._model, self._data, mujoco.mjtObj.mjOBJ_SITE, self._imu, self._imu_twist, 1)
        return unchecked(
            ImuMeasurement,
            rotation=self._level_rotation.dot(self._imu_rotation),
            angular_velocity=self._imu_twist[:3].copy(),
            time=time,
        )

    def _sensed_base(self, snapshot: Snapshot) -> BaseMeasurement:
        return unchecked(
            BaseMeasurement,
            position=snapshot.positions[:3],
            rotation=self._base_rotation.copy(),
            twist=self._base_twist(snapshot),
        )

    def _base_twist(self, snapshot: Snapshot) -> NDArray:
        velocities = snapshot.velocities
        return np.concatenate((velocities[:3], self._base_rotation.dot(velocities[3:6])))

    def truth(self, snapshot: Snapshot, time: float, slip: SlipMeter) -> SimulatedState:
        """Return the whole state."""
        self._place(snapshot)
        mujoco.mj_subtreeVel(self._model, self._data)
        left, right = self._soles[Side.LEFT], self._soles[Side.RIGHT]
        bent, bending = snapshot.positions[self.flexible_positions], snapshot.velocities[self.flexible_velocities]
        return SimulatedState(
            time=time,
            base_position=snapshot.positions[:3],
            base_rotation=self._base_rotation,
            base_twist=self._base_twist(snapshot),
            joint_positions=snapshot.positions[self.joint_positions],
            joint_velocities=snapshot.velocities[self.joint_velocities],
            joint_torques=snapshot.torques,
            com_position=self._data.subtree_com[_BASE],
            com_velocity=self._data.subtree_linvel[_BASE],
            angular_momentum=self._data.subtree_angmom[_BASE],
            left_foot_position=self._data.site_xpos[left],
            left_foot_rotation=self._rotation(left),
            right_foot_position=self._data.site_xpos[right],
            right_foot_rotation=self._rotation(right),
            left_foot_wrench=self._foot_wrench(Side.LEFT, snapshot.wrenches),
            right_foot_wrench=self._foot_wrench(Side.RIGHT, snapshot.wrenches),
            foot_slip_m=slip.largest_slip,
            foot_turn_rad=slip.largest_turn,
            flexible_positions=bent,
            flexible_velocities=bending,
            flexible_torques=-self._stiffness * bent - self._damping * bending,
        )

    def watch_soles(self, data: mujoco.MjData, wrenches: NDArray, slip: SlipMeter) -> None:
        """Give the slip meter the poses of the soles of a running simulation."""
        for side, sole in self._soles.items():
            rotation = data.site_xmat[sole].reshape(3, 3)
            force = sum(
                float(data.site_xmat[self._sensors[row]][6:] @ wrenches[row, :3]) for row in self._sensor_rows[side]
            )
            slip.update(side, data.site_xpos[sole] + rotation @ self._middles[side], rotation, force)

    def load(self, data: mujoco.MjData, wrenches: NDArray) -> tuple[NDArray, NDArray]:
        """Return the feet's normal forces [N] and the ZMP on the floor [m], (2,) each, of a running simulation."""
        forces, moment = np.zeros(2), np.zeros(2)
        for foot, side in enumerate(Side):
            for row in self._sensor_rows[side]:
                site = self._sensors[row]
                rotation = data.site_xmat[site].reshape(3, 3)
                force = rotation @ wrenches[row, :3]
                torque = rotation @ wrenches[row, 3:] + so3.cross(data.site_xpos[site], force)
                forces[foot] += force[2]
                moment += (-torque[1], torque[0])
        load = float(forces.sum())
        return forces, moment / load if load > 0.0 else np.full(2, np.nan)

    def _place(self, snapshot: Snapshot) -> None:
        """Compute the kinematics of a snapshot; sensors and the truth of one step share it."""
        if snapshot is self._placed:
            return
        self._placed = snapshot
        self._data.qpos[:] = snapshot.positions
        self._data.qvel[:] = snapshot.velocities
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_comPos(self._model, self._data)
        mujoco.mj_comVel(self._model, self._data)

    def _rotation(self, site: int) -> NDArray:
        return self._data.site_xmat[site].reshape(3, 3)

    def _foot_wrench(self, side: Side, wrenches: NDArray) -> NDArray:
        """Sum of a foot's sensors: turned into world axes, moved to the origin of the sole."""
        total = np.zeros(6)
        origin = self._data.site_xpos[self._soles[side]]
        for row in self._sensor_rows[side]:
            site = self._sensors[row]
            force = self._rotation(site) @ wrenches[row, :3]
            arm = self._data.site_xpos[site] - origin
            total[:3] += force
            total[3:] += self._rotation(site) @ wrenches[row, 3:] + so3.cross(arm, force)
        return total
