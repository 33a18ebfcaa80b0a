"""Runs robot and controller in step with the clock, carries out what the page asks for, reports what happens."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import tomli_w

from gradiva.common import (
    ConfigError,
    LiveSetting,
    PlanarPose,
    RobotInterfaceError,
    Side,
    StateError,
    WalkingError,
    live_settings,
    merge,
    nearest_name,
    so3,
)
from gradiva.page import Page, Picture, picture_type
from gradiva.planner import GoalCommand, StopCommand
from gradiva.session import (
    Coordinator,
    CoordinatorCommand,
    CoordinatorConfig,
    GarbageKeeper,
    Reply,
    Word,
    parse_command,
)
from gradiva.setup import Setup, typed_setup
from gradiva.simplified_model import BalanceLayer, SimplifiedModelControl, balance_law
from gradiva.simulated_walk import ShownFootholds, SimulatedWalk, diagnose_walk, odometry_shift
from gradiva.simulation import Push
from gradiva.telemetry import Footprint, RunFolder, unused_path
from gradiva.walking import WalkingState

_PICTURE = 1.0 / 30.0  # [s] of the machine between two pictures, at least
_STATUS = 0.1  # [s] likewise
_LOOK = 0.02  # [s] between two looks at the page while time stands still
_LATE = 0.25  # [s] behind the clock, from which on what was lost is not caught up
_SETTLING = 1.0  # [s] of standing before the robot may be driven
_HEARTBEAT = 0.5  # [s] of the machine without a word of the driver, after which the robot stops
_KEPT = 300.0  # [s] of the log
_SHOWN = 60  # footholds, the last ones
_PACES = (0.05, 20.0)  # [-] of the clock, beside 0
_NO_TABLES = ("robot", "plant", "run")  # of a configuration: they name what it is for
_LONGEST_PUSH = 5.0  # [s]


class PictureWriter:
    """Writes the present moment of a walk into one record, again and again."""

    def __init__(self, joints: int) -> None:
        """Make the record of a robot with so many joints, those that bend included."""
        self.record: Picture = np.zeros((), picture_type(joints))
        self.bytes = memoryview(self.record.reshape(1).view(np.uint8).data)  # of the record, whatever it holds

    def write(self, walk: SimulatedWalk) -> None:
        """Take the present moment."""
        record, truth, log = self.record, walk.robot.truth(), walk.log
        record["time"] = walk.time
        record["base"], record["rotation"] = truth.base_position, truth.base_rotation
        record["joints"], record["com"] = truth.all_joint_positions, truth.com_position
        for side in Side:
            record[f"{side}_foot"], record[f"{side}_force"] = truth.foot_position(side), truth.foot_wrench(side)[:3]
        for name in ("dcm", "zmp", "believed", "believed_rotation"):
            record[name] = math.nan
        if log is None or log.robot_state is None:
            return
        state, shift = log.robot_state, odometry_shift(truth, log.robot_state)
        record["dcm"], record["zmp"] = state.dcm_position + shift, state.zmp_position + shift
        record["believed"], record["believed_rotation"] = state.base_position, state.base_rotation


class Tuning:
    """Holds the configuration of a walk and the live settings that have another value than it began with.

    Attributes:
        setup: With the present values.
    """

    def __init__(self, setup: Setup) -> None:
        """Begin with a configuration in which nothing has changed."""
        self.setup = self._began = setup
        self._history: list[dict[str, float]] = [{}]

    @property
    def changed(self) -> Mapping[str, float]:
        """Key to present value of the settings that have changed."""
        return self._history[-1]

    def sliders(self, layer: BalanceLayer) -> list[LiveSetting]:
        """Return the settings that may change while ``layer`` balances, with their present values."""
        if not isinstance(layer, SimplifiedModelControl):
            return []
        tables = (f"{balance_law(self.setup.walking.walking.model).table}.", "zmp_com_controller.")
        return [one for one in live_settings(self.setup.walking) if one.key.startswith(tables)]

    def change(self, layer: BalanceLayer, key: str, value: float | None) -> None:
        """Set a live setting of ``layer``; None: as it was configured.

        Raises:
            ConfigError: It is none, or the value is refused; all stays as it was.
        """
        known = {one.key: one for one in self.sliders(layer)}
        if key not in known:
            raise ConfigError(f"'{key}' cannot change while the robot walks{nearest_name(key, known)}")
        before = {one.key: one.value for one in live_settings(self._began.walking)}[key]
        others = {name: old for name, old in self.changed.items() if name != key}
        changed = others if value is None or value == before else {**others, key: float(value)}
        self._apply(layer, changed)
        self._history.append(changed)

    def undo(self, layer: BalanceLayer) -> None:
        """Take the last change back."""
        if len(self._history) > 1:
            self._apply(layer, self._history[-2])
            self._history.pop()

    def overlay(self) -> str:
        """Return what has changed as TOML, which ``--from`` takes."""
        return tomli_w.dumps(self._tables(self.changed))

    def _apply(self, layer: BalanceLayer, changed: Mapping[str, float]) -> None:
        began = {name: table for name, table in self._began.tables.items() if name not in _NO_TABLES}
        with self._began.naming_places():
            typed = typed_setup(self._began.robot, merge(began, self._tables(changed)))
        names = {name: self._began.tables[name] for name in _NO_TABLES if name in self._began.tables}
        layer.tune(typed.walking.balance)
        self.setup = replace(self._began, walking=typed.walking, tables={**typed.tables, **names})

    @staticmethod
    def _tables(changed: Mapping[str, float]) -> dict[str, Any]:
        """Return tables within tables of ``{"table.key": value}``."""
        tables: dict[str, Any] = {}
        for key, value in changed.items():
            table: Any = value
            for name in reversed(key.split(".")):
                table = {name: table}
            tables = merge(tables, table)
        return tables


class Menu(Protocol):
    """Is what may be walked instead: robots, plants, laws."""

    def as_table(self) -> Mapping[str, Any]:
        """Return the present choice and the possible ones by name."""
        ...

    def check(self, chosen: Mapping[str, str]) -> None:
        """Pass where a choice can be walked.

        Raises:
            WalkingError: It cannot.
        """
        ...


class InteractiveWalk:
    """One robot after the other, until the page is closed: each stands first, is driven, and may fall.

    Attributes:
        walk: Of the present robot.
        tuning: Its configuration.
        chosen: What is to be walked instead, as the page has chosen it; `run` ends then.
    """

    def __init__(
        self,
        setup: Setup,
        page: Page,
        seed: int = 0,
        out: Path = Path("runs"),
        menu: Menu | None = None,
        notice: str = "",
    ) -> None:
        """Put the first robot on the ground.

        Args:
            setup: Robot, controller, plant.
            page: That drives it.
            seed: Of the noise.
            out: Folder of what is saved.
            menu: What else may be walked; nothing by default.
            notice: That is shown first.

        Raises:
            WalkingError: The configuration or the model is wrong.
        """
        self.tuning, self._page, self._seed, self._out = Tuning(setup), page, seed, out
        self._menu, self._saved = menu, ""
        self.chosen: Mapping[str, str] | None = None
        self._pace, self._pause_at = 1.0, math.inf
        self._robots, self._garbage = 0, GarbageKeeper()
        self._pictured = self._reported = -math.inf
        self._last_status: Mapping[str, Any] = {}
        self._handlers: dict[str, Callable[[Any], None]] = {
            "drive": self._drive, "command": self._command, "goal": self._goal, "stop": self._stop,
            "push": self._push, "pace": self._set_pace, "advance": self._advance, "reset": self._ask_reset,
            "tune": self._tune, "undo": self._undo, "save": self._save, "choose": self._choose,
        }  # fmt: skip
        self._begin()
        self._notice = notice

    def run(self) -> None:
        """Let robots live until the page is closed, or another walk is chosen."""
        self._garbage.begin()
        try:
            while self._goes_on:
                self._live()
                if self._goes_on:
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
        self._pause_at = math.inf
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
        except RobotInterfaceError as error:
            self._notice = str(error)
        if not self._is_over:
            self._diagnose()
        while not self._is_over:
            self._stand_still()

    @property
    def _is_over(self) -> bool:
        return self._wants_reset or not self._goes_on

    @property
    def _goes_on(self) -> bool:
        return self._page.is_open and self.chosen is None

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
        self._garbage.use_idle_time(self._ahead)
        while (ahead := self._ahead) > _LOOK and not self._is_over:  # in slow motion a stop is answered at once as well
            self._stand_still()
        if ahead > 0.0:
            time.sleep(min(ahead, _LOOK))
        elif ahead < -_LATE:
            self._keep_clock()

    @property
    def _ahead(self) -> float:
        """Time of the machine until the next tick is due, [s]."""
        return (self.walk.time - self._began) / (self._pace or 1.0) - (time.monotonic() - self._wall_began)

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
                except (WalkingError, LookupError, TypeError, ValueError, ArithmeticError, OSError) as error:
                    is_named = isinstance(error, WalkingError | OSError)
                    self._notice = str(error) if is_named else f"not understood: {name}"

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
        """Push a link with a force [N], x and y of the world, or its size and the direction as seen from the robot.

        A force of 0° comes from the robot's back, one of 90° from its right.
        """
        walk, duration = self.walk, float(push["duration"])
        x, y = map(float, push["vector"]) if "vector" in push else self._from_robot(push["force"], push["direction"])
        if not (math.isfinite(x + y) and 0.0 < duration <= _LONGEST_PUSH):
            raise StateError(f"a push lasts at most {_LONGEST_PUSH:g} s, and its numbers are finite")
        walk.robot.push(added := Push(str(push["link"]), (x, y, 0.0), walk.time, duration))
        self._notice = str(added)

    def _from_robot(self, force: Any, degrees: Any) -> tuple[float, float]:
        """Return a horizontal force [N], world, of its size and its direction as seen from the robot, [deg]."""
        heading = so3.roll_pitch_yaw(self.walk.robot.truth().base_rotation)[2] - self._first_heading
        angle = float(heading) + math.radians(float(degrees))
        return float(force) * math.cos(angle), float(force) * math.sin(angle)

    @property
    def _first_heading(self) -> float:
        """Heading of the base frame of a robot that looks ahead, [rad]: some base frames look back."""
        return float(so3.roll_pitch_yaw(self.walk.layers.start_posture.base_rotation)[2])

    def _set_pace(self, pace: Any) -> None:
        """Let time pass faster or slower than the clock, or stand still."""
        if not (pace == 0.0 or _PACES[0] <= pace <= _PACES[1]):
            raise StateError(f"pace={pace}, 0 or {_PACES[0]:g} to {_PACES[1]:g} of the clock")
        self._pace = float(pace)
        self._pause_at = math.inf
        self._keep_clock()

    def _advance(self, duration: Any) -> None:
        """Let some time pass [s], then stand still."""
        pause_at = self.walk.time + float(duration) - 1e-9
        self._set_pace(1.0)
        self._pause_at = pause_at

    def _ask_reset(self, _: Any) -> None:
        self._wants_reset = True
        self._pace = self._pace or 1.0

    def _tune(self, change: Any) -> None:
        value = change["value"]
        self.tuning.change(self.walk.layers.model_control, str(change["key"]), None if value is None else float(value))
        self._notice = ""

    def _undo(self, _: Any) -> None:
        self.tuning.undo(self.walk.layers.model_control)

    def _choose(self, chosen: Any) -> None:
        """End this walk and begin another one: the menu refuses what cannot be walked."""
        if self._menu is None:
            raise StateError("what is walked is chosen on the command line")
        wanted = {str(name): str(value) for name, value in dict(chosen).items() if value}
        self._menu.check(wanted)
        self.chosen = wanted

    def _save(self, what: Any) -> None:
        """Save what has changed as an overlay, or the last minutes of the robot as a run."""
        if what == "run":
            self._saved = str(self._save_run())
            self._notice = f"saved: gradiva view {self._saved}"
            return
        self._out.mkdir(parents=True, exist_ok=True)
        path = unused_path(self._out, "gains", ".toml")
        path.write_text(self.tuning.overlay(), encoding="utf-8")
        self._notice = f"saved: gradiva walk --robot {self.tuning.setup.robot_argument} --from {path}"

    def _save_run(self) -> Path:
        """Save configuration, log and state as a run; return its folder."""
        walk, robot = self.walk, self.walk.setup.robot
        tables = {**self.tuning.setup.tables, "run": {"seed": self._seed, "arguments": []}}
        folder = RunFolder.create(self._out, f"play-{robot.name}", tables)
        folder.write_log(walk.recorder.log, robot.joints, robot.name)
        state, reason = state_in_words(walk)
        folder.write_result({"outcome": state, "reason": reason, "diagnosis": self._diagnosis, "robot": robot.name})
        self._keep_clock()  # time does not make up for the writing
        return folder.path

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
            log = self.walk.recorder.log
            log.forget(self.walk.time - _KEPT)
            if log.newest.size:
                self._page.plot(log.titles, log.newest)
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
            "is_simulated": True,
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
            "run": self._saved,
            "menu": {} if self._menu is None else self._menu.as_table(),
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
