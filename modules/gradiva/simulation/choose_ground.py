"""The ground that the configuration names."""

from __future__ import annotations

from gradiva.robot_model import Compiler, interpreted
from gradiva.simulation.ground import Ground
from gradiva.simulation.ground_config import GroundKind
from gradiva.simulation.penalty_ground import PenaltyGround
from gradiva.simulation.rigid_ground import RigidGround
from gradiva.simulation.simulation_config import SimulationConfig
from gradiva.simulation.viscoelastic_ground import ViscoElasticGround


def choose_ground(config: SimulationConfig, height: float, seed: int, compiler: Compiler = interpreted) -> Ground:
    """Return the ground of ``[simulation.ground] kind``.

    Args:
        config: All tables, since each kind has its own.
        height: Of the surface, world, [m].
        seed: Of its noise.
        compiler: How the equations of soft ground become fast.
    """
    match config.ground.kind:
        case GroundKind.RIGID:
            return RigidGround(config.ground, height)
        case GroundKind.VISCOELASTIC:
            return ViscoElasticGround(config.viscoelastic, config.ground, height, seed, compiler)
        case GroundKind.PENALTY:
            return PenaltyGround(config.penalty, config.ground, height)
