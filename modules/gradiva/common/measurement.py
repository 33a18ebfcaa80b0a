"""What the sensors of a robot say at one instant."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.common.arrays import NDArray, freeze_arrays


@dataclass(frozen=True, slots=True, eq=False)
class ImuMeasurement:
    """Attitude and angular rate of one inertial unit.

    Attributes:
        rotation: Of the IMU frame in world, shape (3, 3); its tilt is against gravity, its heading counts from an
            arbitrary direction that does not drift.
        angular_velocity: Of the IMU, in the axes of the IMU frame, [rad/s], shape (3,).
    """

    rotation: NDArray
    angular_velocity: NDArray

    def __post_init__(self) -> None:
        freeze_arrays(self, rotation=(3, 3), angular_velocity=(3,))


@dataclass(frozen=True, slots=True, eq=False)
class BaseMeasurement:
    """Pose and twist of the base link, as a simulator or a motion capture sees them; world, mixed representation.

    Attributes:
        position: [m], shape (3,).
        rotation: Shape (3, 3).
        twist: Linear then angular velocity, [m/s, rad/s], shape (6,).
    """

    position: NDArray
    rotation: NDArray
    twist: NDArray

    def __post_init__(self) -> None:
        freeze_arrays(self, position=(3,), rotation=(3, 3), twist=(6,))


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """One sample of all sensors; joints in the order of the robot's description.

    Attributes:
        time: When it was taken, [s].
        joint_positions: Encoders, [rad], shape (n,).
        joint_velocities: Encoders, [rad/s], shape (n,).
        joint_torques: Exerted by the motors, [N·m], shape (n,), NaN where nothing measures them.
        contact_wrenches: One row a force-torque sensor, in the order of the description: force then torque that
            the ground exerts on the foot, in the axes and about the origin of the sensor's frame, [N, N·m],
            shape (sensors, 6), averaged over the time since the last sample where the sensor runs faster.
        imu: The inertial unit, or None where the robot has none.
        base: The base link, or None where nothing measures it.
        motor_temperatures: [°C], shape (n,), NaN for a motor without sensor; None where the robot gives none.
    """

    time: float
    joint_positions: NDArray
    joint_velocities: NDArray
    joint_torques: NDArray
    contact_wrenches: NDArray
    imu: ImuMeasurement | None = None
    base: BaseMeasurement | None = None
    motor_temperatures: NDArray | None = None

    def __post_init__(self) -> None:
        freeze_arrays(
            self,
            joint_positions=(None,),
            joint_velocities=(None,),
            joint_torques=(None,),
            contact_wrenches=(None, 6),
        )
        if self.motor_temperatures is not None:
            freeze_arrays(self, motor_temperatures=(None,))
