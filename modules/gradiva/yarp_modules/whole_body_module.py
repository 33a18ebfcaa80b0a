"""The whole-body module: layer 3, estimation and the robot; layers 1 and 2 in other processes."""

from __future__ import annotations

from typing import ClassVar

from gradiva.robot_model import RobotDescription
from gradiva.walking import PlanningService, WalkingLayers
from gradiva.yarp_modules.module_options import ModuleOption, ModuleOptions
from gradiva.yarp_modules.remote_layers import RemoteLayers
from gradiva.yarp_modules.walking_module import WalkingModule
from pureyarp.wire.elements import Element

_NAME = "/whole-body"


class WholeBodyModule(WalkingModule):
    """The walking module with layers 1 and 2 behind ports.

    State machine, safety supervision and the coordinator's RPC stay with the motors. Its ports to the other layers
    begin with ``/whole-body``, or lie below its own name where it was given one.

    Attributes:
        remote: Layers 1 and 2.
    """

    TITLE: ClassVar[str] = "whole_body"
    SUMMARY: ClassVar[str] = "Layer 3, estimation and the robot; planner and model_control are other processes."
    OPTIONS: ClassVar[tuple[ModuleOption, ...]] = (
        *WalkingModule.OPTIONS,
        ModuleOption("planner", "prefix of the planner's ports (default /planner)", "/NAME"),
        ModuleOption("model-control", "prefix of the ports of model control (default /model-control)", "/NAME"),
        ModuleOption("carrier", "of the connections to both (default fast_tcp)", "CARRIER"),
    )

    def __init__(self, options: ModuleOptions) -> None:
        """Read the configuration; layer 3 is built and the others are reached when the ports are open.

        Raises:
            WalkingError: The options or the configuration are wrong.
        """
        super().__init__(options)
        self.remote = RemoteLayers(self.setup, options.lockstep)

    def make_layers(self, robot: RobotDescription) -> WalkingLayers:
        """Return the layers, with the second one behind ports."""
        layers = super().make_layers(robot)
        layers.model_control = self.remote.model_control
        return layers

    def make_planning(self, layers: WalkingLayers) -> PlanningService:
        """Return the planner behind ports."""
        return self.remote.planner

    def open_layers(self) -> None:
        """Open the ports to the other layers and begin to connect."""
        extras = self.options.extras
        self.remote.open(
            f"{self.options.name}{_NAME}",
            extras.get("planner", "/planner"),
            extras.get("model-control", "/model-control"),
            extras.get("carrier", "fast_tcp"),
        )

    def close_layers(self) -> None:
        """Close the ports to the other layers."""
        super().close_layers()
        self.remote.close()

    def unblock(self) -> None:
        """Let a tick wait no more for model control."""
        super().unblock()
        self.remote.unblock()

    def layer_status(self) -> list[Element]:
        """Return how the exchanges with the other layers go."""
        return self.remote.report()
