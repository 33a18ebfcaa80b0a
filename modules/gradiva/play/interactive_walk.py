"""Runs robot and controller in step with the clock, carries out what the page asks for, reports what happens."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

from gradiva.common import PlanarPose, RobotInterfaceError, Side, StateError, WalkingError, so3
from gradiva.planner import GoalCommand, StopCommand
from gradiva.play.newest_value import NewestValue
from gradiva.play.picture import PictureWriter
from gradiva.play.tuning import Tuning
from gradiva.session import (
    Coordinator,
    CoordinatorCommand,
    CoordinatorConfig,
    GarbageKeeper,
    Reply,
    Word,
    parse_command,
)
from gradiva.setup import Setup
from gradiva.simulated_walk import ShownFootholds, SimulatedWalk, diagnose_walk, odometry_shift
from gradiva.simulation import Push
from gradiva.telemetry import Footprint, unused_path
from gradiva.walking import WalkingState

_PICTURE = 1.0 / 30.0  # [s] of the machine between two pictures, at least
_STATUS = 0.1  # [s] likewise
_LOOK = 0.02  # [s] between two looks at the page while time stands still
_LATE = 0.25  # [s] behind the clock, from which on what was lost is not caught up
_STARTING = 120.0  # [s] at most until the page is there: meshes that were never decimated take long
_SETTLING = 1.0  # [s] of standing before the robot may be driven
_HEARTBEAT = 0.5  # [s] of the machine without a word of the driver, after which the robot stops
_COMING_TO_REST = 3.0  # [s] in which a robot that falls comes to rest
_SHOWN = 60  # footholds, the last ones
_PACES = (0.0, 20.0)  # [-] of the clock
_LONGEST_PUSH = 5.0  # [s]


class Page(Protocol):
    """Is the page, as the walk sees it: neither call waits."""

    is_open: bool

    def messages(self) -> Iterator[Mapping[str, Any]]:
        """Yield what has come from the page."""
        ...

    def show(self, picture: memoryview) -> None:
        """Replace the picture."""
        ...

    def report(self, status: Mapping[str, Any]) -> None:
        """Replace the status."""
        ...


class PageLink:
    """Reaches the page in its own process, by shared memory and a pipe."""

    def __init__(self, picture: NewestValue, status: NewestValue, inbox: Connection) -> None:
        """Take the channels to the page, and the pipe from it."""
        self._picture, self._status, self._inbox = picture, status, inbox
        self.is_open = True

    def link(self) -> str:
        """Return the link of the page, as soon as it is there.

        Raises:
            StateError: It has not come.
        """
        with suppress(EOFError, OSError):
            if self._inbox.poll(_STARTING):
                return str(json.loads(self._inbox.recv_bytes())["link"])
        raise StateError("the page could not be opened: its process has said why")

    def messages(self) -> Iterator[Mapping[str, Any]]:
        """See ``Page.messages``; a page whose process has ended is closed."""
        try:
            while self._inbox.poll():
                yield json.loads(self._inbox.recv_bytes())
        except (EOFError, OSError):
            self.is_open = False

    def show(self, picture: memoryview) -> None:
        """See ``Page.show``."""
        self._picture.write(picture)

    def report(self, status: Mapping[str, Any]) -> None:
        """See ``Page.report``."""
        self._status.write(json.dumps(status).encode())


class InteractiveWalk:
    """One robot after the other, until the page is closed: each stands first, is driven, and may fall.

    Attributes:
        walk: Of the present robot.
        tuning: Its configuration.
    """

    def __init__(self, setup: Setup, page: Page, seed: int = 0, out: Path = Path("runs")) -> None:
        """Put the first robot on the ground.

        Args:
            setup: Robot, controller, plant.
            page: That drives it.
            seed: Of the noise.
            out: Folder of what is saved.

        Raises:
            WalkingError: The configuration or the model is wrong.
        """
        self.tuning, self._page, self._seed, self._out = Tuning(setup), page, seed, out
        self._pace, self._pause_at = 1.0, math.inf
        self._robots, self._garbage = 0, GarbageKeeper()
        self._pictured = self._reported = -math.inf
        self._last_status: Mapping[str, Any] = {}
        self._handlers: dict[str, Callable[[Any], None]] = {
            "drive": self._drive, "command": self._command, "goal": self._goal, "stop": self._stop,
            "push": self._push, "pace": self._set_pace, "advance": self._advance, "reset": self._ask_reset,
            "tune": self._tune, "undo": self._undo, "save": self._save,
        }  # fmt: skip
        self._begin()

    def run(self) -> None:
        """Let robots live until the page is closed."""
        self._garbage.begin()
        try:
            while self._page.is_open:
                self._live()
                if self._page.is_open:
                    self._begin()
        finally:
            self._garbage.end()

    # -- one robot -------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Put a robot on the ground."""
        setup = self.tuning.setup
        self.walk = SimulatedWalk(setup, self._seed, observers=(self._after_tick,))
        config = setup.part(CoordinatorConfig, "coordinator")
        self._coordinator = Coordinator(self.walk.controller, config, setup.walking.planner)
        self._footholds = ShownFootholds()
        self._picture = PictureWriter(len(setup.simulated_robot.joints))
        self._wants_reset, self._notice, self._diagnosis = False, "", dict[str, Any]()
        self._prepared, self._driven = math.inf, math.inf  # [s] since when it is prepared; of the last word
        self._robots += 1
        self._keep_clock()

    def _live(self) -> None:
        """Let the robot stand, be driven, and lie where it has fallen."""
        walk = self.walk
        try:
            if walk.get_ready(_SETTLING):
                for word in (Word.PAUSE, Word.START):  # by the coordinator, which takes goals from then on
                    self._carry_out(CoordinatorCommand(word))
            while not self._is_over and walk.robot.fall is None:
                self._before_tick()
                walk.tick()
            if walk.robot.fall is not None and not self._is_over:
                walk.come_to_rest(_COMING_TO_REST)
        except RobotInterfaceError as error:
            self._notice = str(error)
        if not self._is_over:
            self._diagnose()
        while not self._is_over:
            self._stand_still()

    @property
    def _is_over(self) -> bool:
        return self._wants_reset or not self._page.is_open

    def _before_tick(self) -> None:
        """Follow the driver, start a robot that is prepared."""
        walk, coordinator = self.walk, self._coordinator
        coordinator.joint_positions = walk.measurement.joint_positions
        if time.monotonic() - self._driven > _HEARTBEAT:
            self._drive((0.0, 0.0, 0.0))
            self._driven = math.inf
            self._notice = "the driver is silent: closing the feet"
        is_prepared = walk.controller.state is WalkingState.PREPARED
        self._prepared = min(self._prepared, walk.time) if is_prepared else math.inf
        if walk.time - self._prepared > _SETTLING:
            self._carry_out(CoordinatorCommand(Word.START))
        coordinator.update(walk.time)

    def _after_tick(self, walk: SimulatedWalk) -> None:
        self._serve()
        self._publish()
        if walk.time >= self._pause_at:
            self._set_pace(0.0)
        while self._pace == 0.0 and not self._is_over:
            self._stand_still()
        ahead = (walk.time - self._began) / (self._pace or 1.0) - (time.monotonic() - self._wall_began)
        self._garbage.use_idle_time(ahead)
        if ahead > 0.0:
            time.sleep(ahead)
        elif ahead < -_LATE:
            self._keep_clock()

    def _stand_still(self) -> None:
        self._serve()
        self._publish()
        time.sleep(_LOOK)

    def _keep_clock(self) -> None:
        """Let simulated time go on from here at the chosen pace."""
        self._began, self._wall_began = self.walk.time, time.monotonic()

    def _diagnose(self) -> None:
        """Find out why the robot fell."""
        with suppress(WalkingError):
            table = diagnose_walk(self.walk).as_table()
            advice = table["advice"] and self.walk.setup.with_files(table["advice"])
            self._diagnosis = {"cause": table["text"], "first_sign": table["first_sign"], "advice": advice}

    # -- what the page asks for ------------------------------------------------------------------------------------

    def _serve(self) -> None:
        """Carry out what has come from the page; what is refused is the notice."""
        for message in self._page.messages():
            for name, value in message.items():
                try:
                    self._handlers[name](value)
                except (WalkingError, KeyError, TypeError, ValueError) as error:
                    self._notice = str(error) if isinstance(error, WalkingError) else f"not understood: {name}"

    def _answer(self, reply: Reply) -> None:
        self._notice = reply.refusal or ""

    def _drive(self, deflection: Any) -> None:
        """Take ahead, turn and sideways, from −1 to 1; the walk follows as from ``goal:i``."""
        self._coordinator.take_goal(deflection, self.walk.time)
        is_driving = any(deflection)
        self._driven = time.monotonic() if is_driving else math.inf
        self._notice = "" if is_driving else self._notice

    def _command(self, items: Any) -> None:
        """Carry out a command as RPC clients write it."""
        command = parse_command(items)
        if command is None:
            raise StateError(f"no such command: {items}")
        self._carry_out(command)

    def _carry_out(self, command: CoordinatorCommand) -> None:
        if command.word is Word.EMERGENCY_STOP or command.word is Word.SET_GOAL:
            self._driven = math.inf
        self._coordinator.carry_out(command, self.walk.time, self._answer)

    def _goal(self, place: Any) -> None:
        """Walk to a place of the shown world, [m], and a heading, [deg] or None; the robot knows it by its odometry."""
        x, y, degrees = place
        yaw = None if degrees is None else math.radians(float(degrees))
        state = self.walk.log.robot_state if self.walk.log else None
        if state is None:
            raise StateError("the robot does not balance yet")
        shift = odometry_shift(self.walk.robot.truth(), state)
        goal = state.plan_origin @ PlanarPose(float(x) - shift[0], float(y) - shift[1], yaw or 0.0)
        command = GoalCommand(float(goal.x), float(goal.y), None if yaw is None else goal.yaw)
        self._carry_out(CoordinatorCommand(Word.SET_GOAL, command))

    def _stop(self, _: Any) -> None:
        """Close the feet and stand; no driver and no goal go on."""
        self._drive((0.0, 0.0, 0.0))
        if self.walk.controller.state is WalkingState.WALKING:
            self._carry_out(CoordinatorCommand(Word.SET_GOAL, StopCommand()))
        self._notice = self._notice or "stopped by the button"

    def _push(self, push: Any) -> None:
        """Push a link with a force [N] that comes from the robot's back at 0° and from its right at 90°."""
        walk = self.walk
        link, force, degrees, duration = (push[name] for name in ("link", "force", "direction", "duration"))
        heading = so3.roll_pitch_yaw(walk.robot.truth().base_rotation)[2] - self._first_heading
        angle = float(heading) + math.radians(float(degrees))
        size = float(force)
        if not (math.isfinite(angle + size) and 0.0 < float(duration) <= _LONGEST_PUSH):
            raise StateError(f"a push lasts at most {_LONGEST_PUSH:g} s, and its numbers are finite")
        vector = (size * math.cos(angle), size * math.sin(angle), 0.0)
        walk.robot.push(added := Push(str(link), vector, walk.time, float(duration)))
        self._notice = str(added)

    @property
    def _first_heading(self) -> float:
        """Heading of the base frame of a robot that looks ahead, [rad]: some base frames look back."""
        return float(so3.roll_pitch_yaw(self.walk.layers.start_posture.base_rotation)[2])

    def _set_pace(self, pace: Any) -> None:
        """Let time pass faster or slower than the clock, or stand still."""
        self._pace = min(max(float(pace), _PACES[0]), _PACES[1])
        self._pause_at = math.inf
        self._keep_clock()

    def _advance(self, duration: Any) -> None:
        """Let some time pass [s], then stand still."""
        self._set_pace(1.0)
        self._pause_at = self.walk.time + float(duration) - 1e-9

    def _ask_reset(self, _: Any) -> None:
        self._wants_reset = True
        self._pace = self._pace or 1.0

    def _tune(self, change: Any) -> None:
        value = change["value"]
        self.tuning.change(self.walk.layers.model_control, str(change["key"]), None if value is None else float(value))
        self._notice = ""

    def _undo(self, _: Any) -> None:
        self.tuning.undo(self.walk.layers.model_control)

    def _save(self, what: Any) -> None:
        """Save what has changed as an overlay."""
        self._out.mkdir(parents=True, exist_ok=True)
        path = unused_path(self._out, "gains", ".toml")
        path.write_text(self.tuning.overlay(), encoding="utf-8")
        self._notice = f"saved: gradiva walk --robot {self.tuning.setup.robot_argument} --from {path}"

    # -- what the page shows ---------------------------------------------------------------------------------------

    def _publish(self) -> None:
        """Show a new picture and report a status that has changed, when they are due."""
        now = time.monotonic()
        if now - self._pictured >= _PICTURE:
            self._pictured = now
            self._picture.write(self.walk)
            self._page.show(self._picture.bytes)
        if now - self._reported >= _STATUS:
            self._reported = now
            self._footholds.update(self.walk)
            status = self.status()
            if status != self._last_status:
                self._page.report(status)
                self._last_status = status

    def status(self) -> dict[str, Any]:
        """Return the state of the walk in words, and what the page offers."""
        walk, controller = self.walk, self.walk.controller
        state, reason = state_in_words(walk)
        notice = self._notice or self._coordinator.notice
        return {
            "robot": walk.setup.robot.title,
            "how": f"{walk.setup.walking.walking.control} control, {walk.model}, plant {walk.setup.plant}",
            "number": self._robots,
            "state": state,
            "reason": reason,
            "notice": notice,
            "time": round(walk.time, 1),
            "pace": self._pace,
            "stepping": str(controller.step_adaptation),
            "diagnosis": self._diagnosis,
            "gains": [one._asdict() for one in self.tuning.sliders(walk.layers.model_control)],
            "changed": dict(self.tuning.changed),
            "footprints": [_numbers(one) for one in self._footholds.footprints[-_SHOWN:]],
            "nominal": [_numbers(one) for one in self._footholds.nominal[-_SHOWN:]],
        }


def state_in_words(walk: SimulatedWalk) -> tuple[str, str]:
    """Return the state of a walk in a few words, and its reason."""
    controller, fall, plan = walk.controller, walk.robot.fall, walk.controller.plan
    if fall is not None:
        return "fell", f"{fall.reason} at {fall.time:.2f} s"
    is_moving = plan is not None and plan.end_time > walk.time
    words = {
        WalkingState.CONFIGURED: "stands, without balance",
        WalkingState.PREPARING: "moves to its start posture",
        WalkingState.PREPARED: "stands and balances",
        WalkingState.WALKING: "walks" if is_moving else "stands, ready",
        WalkingState.PAUSED: "stands, ready",
        WalkingState.STOPPED: "stopped",
        WalkingState.FAULT: "frozen",
    }
    return words[controller.state], controller.reason


def _numbers(footprint: Footprint) -> list[float]:
    """Return whether it is the left one, place, heading and time, as `footprint_of` reads them."""
    place = (*footprint.position.tolist(), footprint.yaw, footprint.time)
    return [float(footprint.side is Side.LEFT), *(round(value, 4) for value in place)]
