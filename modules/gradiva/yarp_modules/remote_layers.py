"""Layers 1 and 2 in other processes, seen from whole body: configuration, fingerprints, ports and connections."""

from __future__ import annotations

import hashlib

from gradiva.common import configuration, setting
from gradiva.middleware import Element, PersistentConnections
from gradiva.planner import PlannerConfig
from gradiva.robot_model import RobotDescription
from gradiva.session import PLANNING_LEAD, PLANNING_TIMEOUT
from gradiva.setup import Setup
from gradiva.walking import WalkingConfig
from gradiva.yarp_modules.message_codec import MessageCodec
from gradiva.yarp_modules.message_ports import MessageReader, MessageWriter
from gradiva.yarp_modules.remote_model_control import BalanceReply, BalanceRequest, RemoteModelControl
from gradiva.yarp_modules.remote_planner import PlanAnswer, PlanQuestion, RemotePlanner, plan_codec


def planner_fingerprint(config: PlannerConfig, *own: object) -> str:
    """Return eight letters and digits that differ between two configurations of layer 1.

    Args:
        config: Of the steps.
        own: Name and tables of a planner of the user's own.
    """
    return _fingerprint(config, *own)


def model_control_fingerprint(robot: RobotDescription, config: WalkingConfig) -> str:
    """Return the same of layer 2."""
    return _fingerprint(robot.sole, config.balance)


def _fingerprint(*configurations: object) -> str:
    return hashlib.sha256(repr(configurations).encode()).hexdigest()[:8]


_WAIT_FRACTION = 0.4  # [-] of the period that a tick waits for model control; the rest is for the body: 3 ms of 10
_LOOK_PERIOD = 0.5  # [s] between two attempts at a connection that is not there


@configuration
class RemoteConfig:
    """``[remote]`` in ``config/remote.toml``.

    Attributes:
        max_silent_ticks: In a row without an answer in time that are tolerated.
        lockstep_timeout: That a tick in lockstep waits for model control, [s].
        healthy_look_period: Between two looks at a connection that is, [s].
    """

    max_silent_ticks: int = setting("-", above=0)
    lockstep_timeout: float = setting("s", above=0.0)
    healthy_look_period: float = setting("s", above=0.0)


class RemoteLayers:
    """Makes the two remote layers and keeps them connected.

    ==============================  ==============================
    From                            To
    ==============================  ==============================
    ``<name>/plan-request:o``       ``<planner>/request:i``
    ``<planner>/plan:o``            ``<name>/plan:i``
    ``<name>/state:o``              ``<model control>/state:i``
    ``<model control>/desired:o``   ``<name>/desired:i``
    ==============================  ==============================

    Attributes:
        planner: Layer 1.
        model_control: Layer 2.
    """

    def __init__(self, setup: Setup, is_lockstep: bool = False) -> None:
        """Prepare; no port is opened.

        Args:
            setup: Configuration of all layers, and ``[remote]``.
            is_lockstep: Whether the simulation waits for this process, so that this one may wait for layer 2.

        Raises:
            ConfigError: A value is refused.
        """
        self._config = config = setup.part(RemoteConfig, "remote")
        walking = setup.walking
        codec, plans = MessageCodec(), plan_codec()
        self._requests: MessageWriter[BalanceRequest] = MessageWriter(codec)
        self._desired = MessageReader(BalanceReply, codec)
        self._questions: MessageWriter[PlanQuestion] = MessageWriter(plans)
        self._plans = MessageReader(PlanAnswer, plans)
        self._connections: PersistentConnections | None = None
        self.planner = RemotePlanner(
            planner_fingerprint(walking.planner, walking.walking.planner, walking.planners),
            (self._questions, self._plans),
            0.0 if is_lockstep else PLANNING_LEAD,
            config.lockstep_timeout + PLANNING_TIMEOUT if is_lockstep else PLANNING_TIMEOUT,
            config.lockstep_timeout if is_lockstep else 0.0,
        )
        self.model_control = RemoteModelControl(
            walking.balance,
            model_control_fingerprint(setup.robot, walking),
            (self._requests, self._desired),
            config.lockstep_timeout if is_lockstep else _WAIT_FRACTION * walking.walking.period,
            config.max_silent_ticks,
        )

    def open(
        self, name: str, planner: str = "/planner", model_control: str = "/model-control", carrier: str = "fast_tcp"
    ) -> None:
        """Open the ports and begin to connect.

        Args:
            name: Prefix of the ports of this process.
            planner: Prefix of the planner's ports.
            model_control: Prefix of the ports of model control.
            carrier: Of all connections.

        Raises:
            NetworkError: A port could not be opened.
        """
        self._questions.open(f"{name}/plan-request:o")
        self._plans.open(f"{name}/plan:i")
        self._requests.open(f"{name}/state:o")
        self._desired.open(f"{name}/desired:i")
        pairs = layer_connections(name, planner, model_control, carrier)
        config = self._config
        self._connections = PersistentConnections(pairs, _LOOK_PERIOD, config.healthy_look_period)
        self._connections.start()

    def are_connected(self) -> bool:
        """Return whether all four connections were there at the last look."""
        return self._connections is not None and self._connections.are_connected()

    def unblock(self) -> None:
        """Let a tick wait no more for model control."""
        self._desired.interrupt()

    def close(self) -> None:
        """Close the ports; make no more connections."""
        if self._connections is not None:
            self._connections.stop()
        for port in (self._desired, self._plans, self._requests, self._questions):
            port.close()

    def report(self) -> list[Element]:
        """Return how the exchanges go, as pairs (name value)."""
        return [["planner", self.planner.report()], ["model_control", self.model_control.report()]]


def layer_connections(name: str, planner: str, model_control: str, carrier: str) -> list[tuple[str, str, str]]:
    """Return the connections of the layers, as source, destination and carrier.

    Args:
        name: Prefix of the ports of whole body.
        planner: Prefix of the planner's ports.
        model_control: Prefix of the ports of model control.
        carrier: Of all of them.
    """
    return [
        (f"{name}/plan-request:o", f"{planner}/request:i", carrier),
        (f"{planner}/plan:o", f"{name}/plan:i", carrier),
        (f"{name}/state:o", f"{model_control}/state:i", carrier),
        (f"{model_control}/desired:o", f"{name}/desired:i", carrier),
    ]
