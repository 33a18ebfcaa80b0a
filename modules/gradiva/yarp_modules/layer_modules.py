"""The modules of the three layers in processes of their own: planner, model_control and whole_body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

from gradiva.middleware import Element
from gradiva.robot_model import RobotDescription
from gradiva.session import PLANNING_LEAD
from gradiva.session.tick_timing import give_way_to_ticks
from gradiva.simplified_model import balance_layer
from gradiva.walking import PlanningService, WalkingLayers
from gradiva.yarp_modules.gradiva_module import GradivaModule
from gradiva.yarp_modules.message_codec import MessageCodec
from gradiva.yarp_modules.message_ports import Message, MessageHeader, MessageReader, MessageWriter
from gradiva.yarp_modules.module_options import ModuleOption, ModuleOptions, setup_of
from gradiva.yarp_modules.network_clock import present_time
from gradiva.yarp_modules.remote_layers import RemoteLayers, model_control_fingerprint, planner_fingerprint
from gradiva.yarp_modules.remote_model_control import BalanceRequest, ModelControlService
from gradiva.yarp_modules.remote_planner import PlannerService, PlanQuestion, plan_codec
from gradiva.yarp_modules.rpc_commands import is_called, ok
from gradiva.yarp_modules.walking_module import WalkingModule, solver_status

_LOOK = 0.1  # [s] between two looks at whether the module stops
_NAME = "/whole-body"


class Service(Protocol):
    """Answers the requests of a `ServiceModule`.

    Attributes:
        configuration: Fingerprint of its configuration.
        answered: Requests with a result.
        refused: Requests without.
    """

    configuration: str
    answered: int
    refused: int

    def answer(self, request: Any, /) -> Message:
        """Return the reply to ``request``."""
        ...

    def refuse(self, header: MessageHeader, reason: str) -> Message:
        """Return the reply without a result to the request of ``header``, and count it."""
        ...


class ServiceModule(GradivaModule):
    """Ticks once for each request. It keeps no state that its clients cannot send again: it may be restarted at any
    time, and so may the clients, which make the connections.
    """

    REQUEST_PORT: ClassVar[str] = ""
    REPLY_PORT: ClassVar[str] = ""
    COMMANDS = ("getStatus   how many messages were answered, refused, lost",)

    def __init__(
        self, options: ModuleOptions, service: Service, messages: tuple[type, MessageCodec], period: float
    ) -> None:
        """Take the service.

        Args:
            options: How the module was started.
            service: Answers.
            messages: Class of the requests, and the codec.
            period: Within which an answer is useful, [s].
        """
        super().__init__(options, period)
        self._service = service
        self._requests: MessageReader[Message] = MessageReader(*messages)
        self._requests.on_malformed = self._refuse
        self._replies: MessageWriter[Message] = MessageWriter(messages[1])
        self._request: Message | None = None
        self._next_request = 0.0

    def open_ports(self) -> None:
        """Open the ports of requests and replies."""
        self._replies.open(self.port_name(self.REPLY_PORT))
        self._requests.open(self.port_name(self.REQUEST_PORT))

    def close_ports(self) -> None:
        """Close them."""
        self._requests.close()
        self._replies.close()

    def unblock(self) -> None:
        """End the wait for a request."""
        self._requests.interrupt()

    def wait_for_tick(self) -> int | None:
        """Wait for a request, up to a tenth of a second."""
        self._request = self._requests.take(_LOOK)
        self.health.state = "answering" if self._request is not None else "waiting"
        if self._request is None:
            return None
        self._next_request = present_time() + self.health.period
        return 0

    def time_left(self) -> float:
        """Return the time until the next request, if there is one each period, [s]."""
        return self._next_request - present_time() if self._request is not None else self.health.period

    def tick(self) -> bool:
        """Answer the request."""
        if self._request is not None:
            self._replies.write(self._service.answer(self._request))
        return True

    def answer(self, command: Sequence[Element]) -> list[Element] | None:
        """Answer ``getStatus``."""
        if not is_called(command[0], "getStatus"):
            return None
        service = self._service
        return ok(
            ["configuration", service.configuration],
            ["answered", service.answered],
            ["refused", service.refused],
            *self._requests.report(),
        )

    def _refuse(self, header: MessageHeader, why: str) -> None:
        """Answer a malformed request: its client would otherwise take this module for absent."""
        self._replies.write(self._service.refuse(header, why))


class PlannerModule(ServiceModule):
    """Answers `PlanQuestion` at ``/planner/request:i`` by `PlanAnswer` at ``/planner/plan:o``."""

    TITLE = "planner"
    SUMMARY = "Layer 1: from commands to footsteps and references over time."
    NAME = "/planner"
    REQUEST_PORT = "request:i"
    REPLY_PORT = "plan:o"

    def __init__(self, options: ModuleOptions) -> None:
        """Make the planner.

        Raises:
            WalkingError: The configuration is wrong.
        """
        config = setup_of(options).walking
        planner = config.make_planner()
        service = PlannerService(planner, planner_fingerprint(config.planner, config.walking.planner, config.planners))
        super().__init__(options, service, (PlanQuestion, plan_codec()), PLANNING_LEAD)


class ModelControlModule(ServiceModule):
    """Answers `BalanceRequest` at ``/model-control/state:i`` by `BalanceReply` at ``/model-control/desired:o``."""

    TITLE = "model_control"
    SUMMARY = "Layer 2: from the estimated state and the plan to the ZMP and the CoM that the body should have."
    NAME = "/model-control"
    REQUEST_PORT = "state:i"
    REPLY_PORT = "desired:o"

    def __init__(self, options: ModuleOptions) -> None:
        """Make layer 2.

        Raises:
            WalkingError: The configuration is wrong.
        """
        setup = setup_of(options)
        self._model = setup.walking.walking.model
        self._layer = layer = balance_layer(setup.walking.balance, setup.robot)
        layer.thread_begins = give_way_to_ticks
        service = ModelControlService(layer, model_control_fingerprint(setup.robot, setup.walking))
        super().__init__(options, service, (BalanceRequest, MessageCodec()), setup.walking.walking.period)

    def tick(self) -> bool:
        """Answer the request, then begin what the answer did not wait for."""
        goes_on = super().tick()
        self._layer.work_ahead()
        return goes_on

    def answer(self, command: Sequence[Element]) -> list[Element] | None:
        """Answer ``getStatus``, also which law it is and how the decisions of an MPC go."""
        reply = super().answer(command)
        return None if reply is None else [*reply, ["model", self._model], *solver_status(self._layer)]


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
