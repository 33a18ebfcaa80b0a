"""From the engine's generalised coordinates to frames, centre of mass and wrenches."""

from __future__ import annotations

import mujoco
import numpy as np

from gradiva.common import BaseMeasurement, ImuMeasurement, NDArray, Side, so3, unchecked
from gradiva.robot_model import RobotDescription
from gradiva.simulation.simulated_state import SimulatedState
from gradiva.simulation.slip_meter import SlipMeter
from gradiva.simulation.snapshot import Snapshot

_BASE = 1  # first body after the world
_SITE = mujoco.mjtObj.mjOBJ_SITE


class StateReader:
    """Computes kinematics beside the simulation, on data of its own: reading never changes a run."""

    def __init__(self, description: RobotDescription, model: mujoco.MjModel, level_rotation: NDArray) -> None:
        """Find joints and sites; ``level_rotation`` is of the world in level axes, shape (3, 3)."""
        self._model = model
        self._data = mujoco.MjData(model)
        self._level_rotation = level_rotation
        self.joint_positions = np.array([int(model.joint(name).qposadr[0]) for name in description.joints])
        self.joint_velocities = np.array([int(model.joint(name).dofadr[0]) for name in description.joints])
        self._base_rotation = self._data.xmat[_BASE].reshape(3, 3)  # a view
        self._imu = model.site(description.imu_frame).id
        self._imu_rotation = self._rotation(self._imu)  # a view
        self._imu_twist = np.empty(6)  # angular first, in the axes of the site
        self._soles = {side: model.site(description.foot_frame(side)).id for side in Side}
        self._middles = {side: description.sole.middle(side) for side in Side}
        self._sensor_rows = {side: description.sensors_of(side) for side in Side}
        names = [sensor.name for sensor in description.force_torque_sensors]
        self._sensors = [model.site(f"sensor:{name}").id for name in names]

    def sensed(self, snapshot: Snapshot) -> tuple[ImuMeasurement, BaseMeasurement]:
        """Return what is measured of the IMU, its attitude against gravity, and of the base link."""
        self._place(snapshot)
        return self._sensed_imu(), self._sensed_base(snapshot)

    def _sensed_imu(self) -> ImuMeasurement:
        mujoco.mj_objectVelocity(self._model, self._data, _SITE, self._imu, self._imu_twist, 1)
        return unchecked(
            ImuMeasurement,
            rotation=self._level_rotation.dot(self._imu_rotation),
            angular_velocity=self._imu_twist[:3].copy(),
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
            left_foot_position=self._data.site_xpos[left],
            left_foot_rotation=self._rotation(left),
            right_foot_position=self._data.site_xpos[right],
            right_foot_rotation=self._rotation(right),
            left_foot_wrench=self._foot_wrench(Side.LEFT, snapshot.wrenches),
            right_foot_wrench=self._foot_wrench(Side.RIGHT, snapshot.wrenches),
            foot_slip_m=slip.largest_slip,
            foot_turn_rad=slip.largest_turn,
        )

    def watch_soles(self, data: mujoco.MjData, wrenches: NDArray, slip: SlipMeter) -> None:
        """Tell the slip meter where the soles of a running simulation are."""
        for side, sole in self._soles.items():
            rotation = data.site_xmat[sole].reshape(3, 3)
            force = sum(
                float(data.site_xmat[self._sensors[row]][6:] @ wrenches[row, :3]) for row in self._sensor_rows[side]
            )
            slip.update(side, data.site_xpos[sole] + rotation @ self._middles[side], rotation, force)

    def _place(self, snapshot: Snapshot) -> None:
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
