"""A walking session with a simulated robot, ticked by the test."""

from copy import copy
from dataclasses import dataclass, field
from functools import lru_cache

from gradiva.common import ControlClock
from gradiva.middleware import yarp
from gradiva.middleware.bottles import as_items
from gradiva.safety import SafetySupervisor
from gradiva.setup import GccCompiler, Setup, cache_folder, load_setup
from gradiva.simulation import MujocoRobot
from gradiva.walking import PlanningService, WalkingController, WalkingLayers
from gradiva.session.coordinator import Coordinator
from gradiva.session.coordinator_commands import CoordinatorConfig, parse_command
from gradiva.yarp_modules.rpc_commands import is_ok
from gradiva.session.walking_session import WalkingSession

OK = "ok"


@lru_cache
def shared_setup() -> Setup:
    return load_setup("icub_v2_7", ["walking.prepare_duration=0.3"])


@lru_cache
def shared_layers() -> WalkingLayers:
    """Return layers that are built once a process."""
    setup = shared_setup()
    return WalkingLayers(setup.robot, setup.walking, GccCompiler(cache_folder()))


def fresh_layers() -> WalkingLayers:
    """Return the shared layers, which a prepared robot resets, with a safety supervision without events."""
    layers, setup = copy(shared_layers()), shared_setup()
    layers.safety = SafetySupervisor(setup.walking.safety, setup.robot, layers.joint_bounds, layers.start_posture)
    return layers


@dataclass
class WalkingDouble:
    """The session, its robot, and commands of a test: `ask` returns ``ok`` or the reason of a refusal."""

    planning: PlanningService | None = None
    setup: Setup = field(default_factory=shared_setup)

    def __post_init__(self):
        self.layers = fresh_layers()
        self.config = self.setup.part(CoordinatorConfig, "coordinator")
        self.robot = MujocoRobot(self.setup.robot, self.setup.simulation, self.layers.start_posture, 0)
        self.controller = WalkingController(self.layers, planning=self.planning)
        self.coordinator = Coordinator(self.controller, self.config, self.setup.walking.planner)
        self.session = WalkingSession(self.robot, self.controller, self.coordinator, self.config, self.clock)
        self.replies = []

    def clock(self):
        return ControlClock(self.setup.walking.walking.period, self.setup.walking.safety.clock)

    def run(self, duration, until=lambda: False):
        end = self.robot.time + duration - 1e-9
        while self.robot.time < end and not until():
            self.session.tick(self.robot.time)
            self.robot.advance(0.01)

    def run_to(self, state, at_most=20.0):
        self.run(at_most, lambda: self.controller.state == state)
        assert self.controller.state == state, self.controller.reason

    def ask(self, text):
        replies = []
        self.coordinator.carry_out(parse_command(as_items(yarp.Bottle(text))), self.robot.time, replies.append)
        return _said(replies[0]) if replies else None

    def get_ready(self):
        self.run(0.02)
        assert self.ask("prepareRobot onTheFly") == OK
        self.run(0.3)
        assert self.ask("startWalking") == OK


def _said(reply):
    return OK if is_ok(reply) else reply[1]
