"""Simulated robots: a MuJoCo plant behind the interface of the real ones, and films of what they did."""

from gradiva.simulation.body_probes import BodyProbes, InertialReading
from gradiva.simulation.fall_detector import Fall, FallConfig
from gradiva.simulation.fault import Fault, FaultKind
from gradiva.simulation.ground import Ground
from gradiva.simulation.ground_config import GroundConfig, GroundKind, slope_components
from gradiva.simulation.inner_cuts import Cut
from gradiva.simulation.joint_ranges import JointRanges, joint_ranges
from gradiva.simulation.loose_body import LooseBody, PenaltyWorld
from gradiva.simulation.mixed_command import MixedCommand
from gradiva.simulation.mujoco_robot import MujocoRobot
from gradiva.simulation.penalty_ground import PenaltyGround
from gradiva.simulation.plant import PlantConfig
from gradiva.simulation.push import Push
from gradiva.simulation.rigid_ground import RigidGround
from gradiva.simulation.sensors import SensorConfig, VelocitySource
from gradiva.simulation.servo import ServoConfig
from gradiva.simulation.simulated_state import SimulatedState
from gradiva.simulation.simulation_config import SimulationConfig
from gradiva.simulation.slip_meter import SlipConfig
from gradiva.simulation.viscoelastic_config import (
    GroundPatch,
    NoiseTarget,
    ViscoElasticGroundConfig,
    WrenchNoiseConfig,
)
from gradiva.simulation.viscoelastic_ground import ViscoElasticGround

__all__ = [
    "BodyProbes",
    "Cut",
    "Fall",
    "FallConfig",
    "Fault",
    "FaultKind",
    "Ground",
    "GroundConfig",
    "GroundKind",
    "GroundPatch",
    "InertialReading",
    "JointRanges",
    "LooseBody",
    "MixedCommand",
    "MujocoRobot",
    "NoiseTarget",
    "PenaltyGround",
    "PenaltyWorld",
    "PlantConfig",
    "Push",
    "RigidGround",
    "SensorConfig",
    "ServoConfig",
    "SimulatedState",
    "SimulationConfig",
    "SlipConfig",
    "VelocitySource",
    "ViscoElasticGround",
    "ViscoElasticGroundConfig",
    "WrenchNoiseConfig",
    "joint_ranges",
    "slope_components",
]
