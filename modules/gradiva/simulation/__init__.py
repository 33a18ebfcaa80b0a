"""Simulated robots: a MuJoCo plant behind the interface of the real ones, and films of what they did."""

from gradiva.simulation.body_probes import BodyProbes, Cut, InertialReading
from gradiva.simulation.falls import Fall, FallConfig, SlipConfig
from gradiva.simulation.faults import Fault, FaultKind
from gradiva.simulation.ground import (
    Ground,
    GroundConfig,
    GroundKind,
    GroundSite,
    ground_name,
    ground_names,
    ground_table,
    slope_components,
)
from gradiva.simulation.mujoco_robot import MujocoRobot
from gradiva.simulation.penalty_ground import LooseBody, PenaltyGround, PenaltyWorld
from gradiva.simulation.plant import PlantConfig
from gradiva.simulation.pushes import Push
from gradiva.simulation.rigid_ground import RigidConfig, RigidGround
from gradiva.simulation.sensors import SensorConfig, VelocitySource
from gradiva.simulation.servos import MixedCommand, ServoConfig
from gradiva.simulation.simulation_config import SimulationConfig
from gradiva.simulation.state_reader import SimulatedState
from gradiva.simulation.urdf import JointRanges, joint_ranges
from gradiva.simulation.viscoelastic_ground import (
    GroundPatch,
    NoiseTarget,
    ViscoElasticGround,
    ViscoElasticGroundConfig,
    WrenchNoiseConfig,
)

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
    "GroundSite",
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
    "RigidConfig",
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
    "ground_name",
    "ground_names",
    "ground_table",
    "joint_ranges",
    "slope_components",
]
