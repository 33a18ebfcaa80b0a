"""A walking session with a simulated robot, ticked by the test."""

from copy import copy
from dataclasses import dataclass, field
from functools import lru_cache

from gradiva.safety import SafetySupervisor
from gradiva.session import Coordinator, CoordinatorConfig, WalkingSession, parse_command
from gradiva.setup import GccCompiler, Setup, cache_folder, load_setup
from gradiva.simulation import MujocoRobot
from gradiva.walking import PlanningService, WalkingController, WalkingLayers

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
        self.replies, self.warnings = [], []
        self.session = self.session_with(self.robot)

    def session_with(self, robot):
        return WalkingSession(robot, self.controller, self.coordinator, self.config, self.warn)

    def warn(self, text, *arguments, trace=False):
        self.warnings.append((text % arguments, trace))

    def run(self, duration, until=lambda: False):
        end = self.robot.time + duration - 1e-9
        while self.robot.time < end and not until():
            self.session.tick(self.robot.time)
            self.robot.advance(0.01)

    def run_to(self, state, at_most=20.0):
        self.run(at_most, lambda: self.controller.state == state)
        assert self.controller.state == state, self.controller.reason

    def ask(self, *items):
        replies = []
        self.coordinator.carry_out(parse_command(items), self.robot.time, replies.append)
        return reported(replies[0]) if replies else None

    def answer(self, *items):
        """Return what a client gets that waits for the next tick."""
        return reported(self.session.answer(parse_command(items)))

    def get_ready(self):
        self.run(0.02)
        assert self.ask("prepareRobot", "onTheFly") == OK
        self.run(0.3)
        assert self.ask("startWalking") == OK


def reported(reply):
    return OK if reply.refusal is None else reply.refusal
