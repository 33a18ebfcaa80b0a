"""Simulated robots: a MuJoCo plant behind the interface of the real ones, and films of what they did."""

from gradiva.simulation.body_probes import BodyProbes, Cut, InertialReading
from gradiva.simulation.falls import Fall, FallConfig, SlipConfig, SlipMeter
from gradiva.simulation.faults import Fault, FaultKind
from gradiva.simulation.ground import (
    GROUNDS,
    Bump,
    Ground,
    GroundConfig,
    GroundKind,
    GroundSite,
    floor_rotation,
    ground_name,
    ground_names,
    ground_table,
    slope_components,
)
from gradiva.simulation.joint_motions import JointMotion
from gradiva.simulation.mjcf import JointDrive, write_urdf_of_mjcf
from gradiva.simulation.mujoco_robot import MujocoRobot
from gradiva.simulation.penalty_ground import LooseBody, PenaltyGround, PenaltyWorld
from gradiva.simulation.plant import PlantConfig, build_plant, load_tree
from gradiva.simulation.pushes import Push
from gradiva.simulation.rigid_ground import RigidConfig, RigidGround
from gradiva.simulation.rigid_tree import RigidBody, RigidTree, weld
from gradiva.simulation.scene import find_mesh, read_stl
from gradiva.simulation.sensors import SensorConfig, VelocitySource
from gradiva.simulation.servos import MixedCommand, ServoConfig
from gradiva.simulation.simulation_config import SimulationConfig
from gradiva.simulation.soles import SoleBodies, SoleBox, add_sole_body, sole_boxes
from gradiva.simulation.state_reader import SimulatedState
from gradiva.simulation.urdf import JointRanges, Shape, Urdf, add_origin, joint_ranges, numbers, origin_pose, read_urdf
from gradiva.simulation.viscoelastic_ground import (
    GroundPatch,
    NoiseTarget,
    ViscoElasticGround,
    ViscoElasticGroundConfig,
    WrenchNoiseConfig,
)

__all__ = [
    "GROUNDS",
    "BodyProbes",
    "Bump",
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
    "JointDrive",
    "JointMotion",
    "JointRanges",
    "LooseBody",
    "MixedCommand",
    "MujocoRobot",
    "NoiseTarget",
    "PenaltyGround",
    "PenaltyWorld",
    "PlantConfig",
    "Push",
    "RigidBody",
    "RigidConfig",
    "RigidGround",
    "RigidTree",
    "SensorConfig",
    "ServoConfig",
    "Shape",
    "SimulatedState",
    "SimulationConfig",
    "SlipConfig",
    "SlipMeter",
    "SoleBodies",
    "SoleBox",
    "Urdf",
    "VelocitySource",
    "ViscoElasticGround",
    "ViscoElasticGroundConfig",
    "WrenchNoiseConfig",
    "add_origin",
    "add_sole_body",
    "build_plant",
    "find_mesh",
    "floor_rotation",
    "ground_name",
    "ground_names",
    "ground_table",
    "joint_ranges",
    "load_tree",
    "numbers",
    "origin_pose",
    "read_stl",
    "read_urdf",
    "slope_components",
    "sole_boxes",
    "weld",
    "write_urdf_of_mjcf",
]
