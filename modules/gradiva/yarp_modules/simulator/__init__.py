"""The simulator: a robot in the engine behind the ports that Gazebo's YARP plug-ins open."""

from gradiva.yarp_modules.simulator.simulated_world import SimulatedWorld, WorldSample

__all__ = ["SimulatedWorld", "WorldSample"]
