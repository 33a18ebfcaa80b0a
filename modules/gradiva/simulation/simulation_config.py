"""All that can be chosen of a simulated robot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradiva.common import ConfigError, configuration, setting
from gradiva.contacts import PenaltyConfig
from gradiva.robot_model import FlexibilityConfig
from gradiva.simulation.drives import FrictionConfig, MotorConfig
from gradiva.simulation.falls import FallConfig, SlipConfig
from gradiva.simulation.faults import Fault
from gradiva.simulation.ground import GroundConfig
from gradiva.simulation.joint_motions import JointMotion
from gradiva.simulation.model_errors import ModelErrorConfig
from gradiva.simulation.plant import PlantConfig
from gradiva.simulation.pushes import Push
from gradiva.simulation.sensors import SensorConfig
from gradiva.simulation.servos import ServoConfig
from gradiva.simulation.transport import TransportConfig
from gradiva.simulation.viscoelastic_ground import ViscoElasticGroundConfig

_WHOLE = 1e-6  # [-] how far a duration may be from a whole number of steps


@configuration
class SimulationConfig:
    """Table ``[simulation]``; its parts are documented at their classes.

    Attributes:
        timestep: Of the physics, [s].
        plant: How the robot differs from its model.
        flexibility: Links that bend; where a file does not say, those of the table ``[flexibility]``.
        model_errors: Ranges from which links, soles and floor are drawn.
        friction: Of the joints.
        motors: Limits of the motors, and of torque control.
        servo: Servos of the joints.
        transport: Of the commands to the servos.
        ground: The floor.
        viscoelastic: The floor where it is of this kind.
        penalty: The floor where it is of this kind.
        grounds: Tables of further grounds, by kind.
        sensors: Faults of the sensors.
        fall: When the robot counts as fallen.
        slip: When a foot counts as standing.
        pushes: Forces from outside.
        faults: Sensors and motors that fail.
        joint_motions: Joints that another program drives.
    """

    timestep: float = setting("s", above=0.0, most=0.005, why="the contacts are unstable beyond")
    plant: PlantConfig
    flexibility: FlexibilityConfig
    model_errors: ModelErrorConfig
    friction: FrictionConfig
    motors: MotorConfig
    servo: ServoConfig
    transport: TransportConfig
    ground: GroundConfig
    viscoelastic: ViscoElasticGroundConfig
    penalty: PenaltyConfig
    grounds: Mapping[str, Any]
    sensors: SensorConfig
    fall: FallConfig
    slip: SlipConfig
    pushes: tuple[Push, ...]
    faults: tuple[Fault, ...]
    joint_motions: tuple[JointMotion, ...]

    def __post_init__(self) -> None:
        durations = {"servo.delay": self.servo.delay, "motors.torque_delay": self.motors.torque_delay}
        durations |= {f"sensors.{name}.period": stream.period for name, stream in self.sensors.streams.items()}
        for name, duration in durations.items():
            if not self.is_multiple(duration):
                raise ConfigError(f"{name}={duration}: must be a multiple of timestep={self.timestep}")

    def steps(self, duration: float) -> int:
        """Number of physics steps nearest to a duration [s]."""
        return round(duration / self.timestep)

    def is_multiple(self, duration: float) -> bool:
        """Whether a duration [s] is a whole number of physics steps."""
        return abs(duration / self.timestep - self.steps(duration)) <= _WHOLE
