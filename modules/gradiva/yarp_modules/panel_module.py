"""The operator's panel: the page of ``gradiva play`` for a robot whose controller is reached over ports."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from gradiva.common import GRAVITY, NDArray, Side, StateError
from gradiva.middleware import (
    NAMED_ERRORS,
    Element,
    PersistentConnections,
    VectorsCollectionClient,
    VectorsSample,
    fill_bottle,
    is_there,
    open_port,
    registered_names,
    yarp,
)
from gradiva.page import LOOPBACK, Page, PageAddress, PageLink, page_in_its_process, picture_type
from gradiva.robot_model import Environment, RobotDescription
from gradiva.session import Word
from gradiva.telemetry import rotations_from_rpy
from gradiva.yarp_modules.application import ApplicationNetwork
from gradiva.yarp_modules.coordinator_client import COORDINATOR, CoordinatorClient
from gradiva.yarp_modules.gradiva_module import GradivaModule
from gradiva.yarp_modules.module_options import ModuleOption, ModuleOptions, robot_ports, setup_of
from gradiva.yarp_modules.rpc_commands import as_text, is_ok, pairs_in, word

_PERIOD = 1.0 / 30.0  # [s]
_REPORT = 0.1  # [s] between two rows of signals, and two states
_ASK = 0.2  # [s] between two questions for the coordinator's state
_SILENCE = 1.5  # [s] without its answer, after which it is shown as gone
_HEARTBEAT = 0.5  # [s] without a word of the driver, after which the stick is let go
_LOOK = 0.5  # [s] between two looks at a module
_SEARCH = 2.0  # [s] between two looks for modules that came
_LOGGED = 30  # commands
_DUMP = 30.0  # [s] for the reply to a dump, which is written before it
_LANDED = 0.03  # m, from the last footprint of a foot: it has made a step
_LOAD = 0.3  # [weights] on a foot that stands
_FOOTPRINTS = 60
_DEFAULT_PORT = 8080
_HANDS_OFF = (0.0, 0.0, 0.0)
_UNKNOWN = math.nan
_WORDS = {
    "configured": "connected, not prepared",
    "preparing": "moves to its start posture",
    "prepared": "stands and balances",
    "walking": "takes goals",
    "paused": "stands, paused",
    "stopped": "stopped",
    "fault": "frozen",
    "compiling": "compiles its controller",
    "waiting": "waits for the robot",
}


class SignalRow:
    """Makes rows of all signals, and pictures, of the messages of a walking logger.

    Attributes:
        titles: Names of the columns of `row`, behind the time; one object while they stay so.
        row: The newest one; empty before the first.
    """

    def __init__(self, robot: RobotDescription, shown: RobotDescription) -> None:
        """Take a robot as its controller knows it, and as it is drawn."""
        self._robot, self._places = robot, {name: index for index, name in enumerate(shown.joints)}
        self._picture = np.zeros((), picture_type(len(shown.joints)))
        self.bytes = memoryview(self._picture.reshape(1).view(np.uint8).data)
        self._vectors: Mapping[str, NDArray] = {}
        self._names: Mapping[str, Sequence[str]] = {}
        self._layout: tuple[tuple[str, int], ...] = ()
        self.titles: tuple[str, ...] = ()
        self.row: NDArray = np.empty(0)
        self.footprints: deque[list[float]] = deque(maxlen=_FOOTPRINTS)

    def take(self, sample: VectorsSample, names: Mapping[str, Sequence[str]]) -> None:
        """Take a message."""
        layout = tuple((name, len(values)) for name, values in sample.vectors.items())
        if (layout, names) != (self._layout, self._names):
            self._layout, self._names = layout, names
            self.titles = tuple(title for name, size in layout for title in _titles(name, size, names.get(name, ())))
        moment = time.monotonic() if sample.time is None else sample.time
        self.row = np.array([moment, *(value for values in sample.vectors.values() for value in values)])
        self._vectors = {name: np.asarray(values) for name, values in sample.vectors.items()}
        self._note_steps()

    def draw(self) -> bool:
        """Write the picture of the last message into `bytes`; return whether base and joints are known."""
        picture, known = self._picture, self._vectors
        names = (
            "root_link::position::measured",
            "root_link::orientation::measured",
            "joints_state::positions::measured",
        )
        if any(name not in known for name in names):
            return False
        base, angles, joints = (known[name] for name in names)
        picture["time"], picture["base"], picture["rotation"] = self.row[0], base, rotations_from_rpy(angles[None])[0]
        self._draw_joints(self._robot.joints, joints)
        bends = "flexible_joints::positions::estimated"
        self._draw_joints(self._names.get(bends, ()), known.get(bends, ()))
        for field, name in (("com", "com::position"), ("dcm", "dcm::position"), ("zmp", "zmp")):
            picture[field] = known.get(f"{name}::measured", _UNKNOWN)
        for side in Side:
            picture[f"{side}_foot"] = known.get(f"{side}_foot::position::measured", _UNKNOWN)
            picture[f"{side}_force"] = known.get(f"{side}_foot::linear_force::measured", _UNKNOWN)
        picture["believed"] = picture["believed_rotation"] = _UNKNOWN  # it is what is drawn
        return True

    @property
    def shift(self) -> NDArray:
        """From a place of the picture to that of a goal, horizontal, [m]: the world of the plan is where it began."""
        base, plan = (
            self._vectors.get(name) for name in ("root_link::position::measured", "odometry::root_link::position")
        )
        if base is None or plan is None:
            raise StateError("the robot does not balance yet")
        shift: NDArray = plan[:2] - base[:2]
        return shift

    def _draw_joints(self, names: Sequence[str], positions: Any) -> None:
        for name, position in zip(names, positions, strict=False):
            if name in self._places:
                self._picture["joints"][self._places[name]] = position

    def _note_steps(self) -> None:
        """Keep a footprint where a foot stands that stood elsewhere."""
        least = _LOAD * self._robot.mass * GRAVITY
        for side in Side:
            parts = [
                f"{side}_foot::{name}"
                for name in ("position::measured", "orientation::measured", "linear_force::measured")
            ]
            if any(name not in self._vectors for name in parts):
                continue
            place, angles, force = (self._vectors[name] for name in parts)
            is_left = float(side is Side.LEFT)
            last = next((one for one in reversed(self.footprints) if one[0] == is_left), None)
            if force[2] > least and (last is None or np.linalg.norm(place[:2] - last[1:3]) > _LANDED):
                numbers = (*place.tolist(), float(angles[2]), float(self.row[0]))
                self.footprints.append([is_left, *(round(value, 4) for value in numbers)])


def _titles(name: str, size: int, elements: Sequence[str]) -> list[str]:
    """Return the names of the columns of a vector, as an exported log has them."""
    known = elements if len(elements) == size else [f"element_{index}" for index in range(size)]
    return [f"{name}::{element}" for element in known] if size > 1 else [name]


class HealthWatch:
    """Looks at modules, boards and sensors twice a second, each in a thread of its own.

    One that hangs delays the look at no other. Modules are found by their names; one that was there and does not
    answer any more stays in the list.
    """

    def __init__(self, modules: Sequence[str], others: Mapping[str, str]) -> None:
        """Take prefixes of modules that are expected, and ports of others by their titles."""
        self._network, self._stop = ApplicationNetwork(), threading.Event()
        self._others, self._expected = others, modules
        self._rows: dict[str, tuple[bool, str]] = {}
        self._changing = threading.Lock()

    def start(self) -> None:
        """Begin to look."""
        for prefix in self._expected:
            self._follow(prefix, self._module)
        for title, port in self._others.items():
            self._follow(title, lambda _, port=port: _presence(port))  # type: ignore[misc]
        threading.Thread(target=self._search, name="panel search", daemon=True).start()

    def stop(self) -> None:
        """Look no more; a look in progress ends by itself."""
        self._stop.set()

    def table(self) -> list[list[object]]:
        """Return name, whether it is well, and words, of each."""
        with self._changing:
            return [[name, *row] for name, row in self._rows.items()]

    def is_well(self, name: str) -> bool:
        """Return whether one answered at the last look."""
        with self._changing:
            return self._rows.get(name, (False, ""))[0]

    def _follow(self, name: str, look: Callable[[str], tuple[bool, str]]) -> None:
        with self._changing:
            self._rows[name] = (False, "is looked for")
        threading.Thread(target=self._watch, args=(name, look), name=f"panel {name}", daemon=True).start()

    def _watch(self, name: str, look: Callable[[str], tuple[bool, str]]) -> None:
        while not self._stop.is_set():
            row = look(name)
            with self._changing:
                self._rows[name] = row
            self._stop.wait(_LOOK)

    def _search(self) -> None:
        while not self._stop.is_set():
            names = registered_names()
            found = {name.removesuffix("/health:o") for name in names if name.endswith("/health:o")}
            for prefix in sorted(found - self._rows.keys()):
                if f"{prefix}/rpc" in names:
                    self._follow(prefix, self._module)
            self._stop.wait(_SEARCH)

    def _module(self, prefix: str) -> tuple[bool, str]:
        health = self._network.health(prefix)
        if not health:
            return False, "does not answer"
        counted = {what: health.get(name) for name, what in (("overruns", "ticks left out"), ("errors", "errors"))}
        counts = [f"{count} {what}" for what, count in counted.items() if isinstance(count, int) and count]
        return True, ", ".join([word(health.get("state", "")) or "runs", *counts])


def _presence(port: str) -> tuple[bool, str]:
    is_present = is_there(port, 1.0)
    return is_present, "is there" if is_present else "does not answer"


class PanelModule(GradivaModule):
    """Shows coordinator, modules, boards and robot on a page, and sends the coordinator what its driver asks for."""

    TITLE: ClassVar[str] = "panel"
    SUMMARY: ClassVar[str] = "The operator's page in the browser: the robot, its modules, commands, plots."
    NAME: ClassVar[str] = "/panel"
    OPTIONS: ClassVar[tuple[ModuleOption, ...]] = (
        ModuleOption("remote", f"prefix of the coordinator's ports (default {COORDINATOR})", "/NAME"),
        ModuleOption("port", f"of the page (default {_DEFAULT_PORT}); the next free one if in use", "N"),
        ModuleOption("listen", "serve other machines too, at this address of ours; needs TLS", "ADDRESS"),
        ModuleOption("tls-cert", "certificate chain of the page", "FILE.pem"),
        ModuleOption("tls-key", "private key of the certificate", "FILE.pem"),
    )
    IS_CLOCK: ClassVar[bool] = True  # a simulated clock may stand still: that is to be seen

    def __init__(self, options: ModuleOptions) -> None:
        """Read the configuration.

        Raises:
            WalkingError: The options or the configuration are wrong.
        """
        super().__init__(options, _PERIOD)
        setup, extras = setup_of(options), options.extras
        is_simulated = options.environment is Environment.SIMULATION
        self._robot, self._shown = setup.robot, setup.simulated_robot if is_simulated else setup.robot
        self._remote = extras.get("remote", COORDINATOR)
        files = [Path(extras[name]) if name in extras else None for name in ("tls-cert", "tls-key")]
        port = int(options.number("port", _DEFAULT_PORT))
        self._address = PageAddress(port, extras.get("listen", LOOPBACK[0]), files[0], files[1])
        self._signals = SignalRow(self._robot, self._shown)
        self._health = HealthWatch([self._remote], boards_of(self._robot, options.environment))
        names = ("rpc:o", "emergency:o", "pause:o", "status:o")
        self._commands, self._emergency, self._pause, self._status = (
            CoordinatorClient(self.port_name(name), self._take_reply) for name in names
        )
        self._dump = CoordinatorClient(self.port_name("dump:o"), self._take_reply, _DUMP)
        self._clients = (self._emergency, self._pause, self._commands, self._dump, self._status)
        self._logger = VectorsCollectionClient(f"{self._remote}/logger", self.port_name("logger"), "fast_tcp", False)
        self._goal = yarp.BufferedPortBottle()
        self._connections = PersistentConnections(self._wanted_connections())
        self._names: tuple[int | None, dict[str, list[str]]] = (None, {})
        self._stack = ExitStack()
        self.page: Page | None = None
        self._stick, self._driven = _HANDS_OFF, math.inf
        self._reported = self._asked = -math.inf
        self._answered = -math.inf
        self._coordinator: dict[str, Any] = {}
        self._log, self._notice = deque[list[str]](maxlen=_LOGGED), ""
        self._noting = threading.Lock()  # replies are noted in the threads of their connections
        self._last: dict[str, Any] = {}

    def open_page(self) -> Page:
        """Open the page in its process, and print its link; a test puts another page here."""
        page: PageLink = self._stack.enter_context(page_in_its_process(self._shown, self._address))
        sys.stdout.write(f"panel   {page.link()}\n")
        sys.stdout.flush()
        return page

    # -- GradivaModule ---------------------------------------------------------------------------------------------

    def open_ports(self) -> None:
        """Open page and ports, begin to connect and to look at the others."""
        self.page = self.open_page()
        open_port(self._goal, self.port_name("goal:o"))
        self._logger.open(should_connect=False)
        for client in self._clients:
            client.open()
        self._connections.start()
        self._health.start()

    def close_ports(self) -> None:
        """Let the stick go, close ports and page."""
        self._drive(_HANDS_OFF)
        self._health.stop()
        self._connections.stop()
        for client in self._clients:
            client.close()
        self._logger.close()
        self._goal.interrupt()
        self._goal.close()
        self._stack.close()

    def tick(self) -> bool:
        """Send what the page asks for, show what has come; the end of the page ends the module."""
        assert self.page is not None, "the ports are open"
        for message in self.page.messages():
            self._take(message)
        now = time.monotonic()
        if now - self._driven > _HEARTBEAT:
            self._drive(_HANDS_OFF)
            self._notice = "the driver is silent: the stick is let go"
        if any(self._stick):
            self._send_stick()
        if now - self._asked >= _ASK and self._status.is_idle and self._status.is_connected:
            self._asked = now
            self._status.send(str(Word.STATUS))
        self._show(self.page, now)
        self.health.state = str(self._coordinator.get("state", ""))
        return self.page.is_open

    # -- what the page asks for --------------------------------------------------------------------------------------

    def _take(self, message: Mapping[str, Any]) -> None:
        for name, value in message.items():
            try:
                self._carry_out(name, value)
            except (LookupError, TypeError, ValueError, *NAMED_ERRORS) as error:
                self._notice = str(error) if isinstance(error, NAMED_ERRORS) else f"not understood: {name}"

    def _carry_out(self, name: str, value: Any) -> None:
        match name:
            case "drive":
                forward, turn, left = (min(1.0, max(-1.0, float(each))) for each in value)
                self._drive((forward, turn, left))
                self._notice = "" if any(self._stick) else self._notice
            case "stop":
                self._drive(_HANDS_OFF)
                self._note(str(Word.PAUSE))
                self._pause.send(str(Word.PAUSE))
            case "goal":
                x, y, degrees = value
                place = (np.array([float(x), float(y)]) + self._signals.shift).round(4).tolist()
                self._command([Word.SET_GOAL, [*place, *([] if degrees is None else [float(degrees)])]])
            case "command":
                self._command(value)
            case _:
                raise StateError(f"over ports there is no {name}")

    def _command(self, items: Any) -> None:
        """Send a command; an emergency stop waits for no other one's reply, and none for that of a dump."""
        command = _elements(items)
        if command[0] in (str(Word.EMERGENCY_STOP), str(Word.SET_GOAL)):
            self._drive(_HANDS_OFF)
        apart = {str(Word.EMERGENCY_STOP): self._emergency, str(Word.DUMP): self._dump}
        client = apart.get(str(command[0]), self._commands)
        if not client.is_connected:
            raise StateError(f"{self._remote} is not connected: {as_text(command)} was not sent")
        self._note(as_text(command))
        client.send(*command)

    def _drive(self, stick: tuple[float, float, float]) -> None:
        """Take a stick: sent at once when it is let go, with each tick as long as it is held."""
        was_held, self._stick = any(self._stick), stick
        self._driven = time.monotonic() if any(stick) else math.inf
        if was_held and not any(stick):
            self._send_stick()

    def _send_stick(self) -> None:
        fill_bottle(self._goal.prepare(), list(self._stick))
        self._goal.write()

    # -- what the page shows -----------------------------------------------------------------------------------------

    def _take_reply(self, command: list[Element], reply: list[Element] | None) -> None:
        """Take a reply; called in the thread of its connection."""
        if command == [str(Word.STATUS)]:
            if reply and is_ok(reply):
                table = pairs_in(reply[2:])
                self._coordinator, self._answered = {"state": word(reply[1]), **table}, time.monotonic()
            return
        done = f"done: {as_text(reply[1:])}" if reply and command == [str(Word.DUMP)] else "done"  # into which folder
        outcome = "no answer" if reply is None else done if is_ok(reply) else f"refused: {as_text(reply[1:])}"
        self._note(as_text(command), outcome)
        self._notice = "" if reply and is_ok(reply) else f"{as_text(command)}: {outcome}"

    def _note(self, command: str, outcome: str = "sent") -> None:
        """Note a command, or the reply to it, in the log; newest first."""
        with self._noting:
            sent = (one for one in self._log if outcome != "sent" and one[1:] == [command, "sent"])
            if (entry := next(sent, None)) is not None:
                entry[2] = outcome
            else:
                self._log.appendleft([time.strftime("%H:%M:%S"), command, outcome])

    def _noted(self) -> list[list[str]]:
        """Return a copy of the log."""
        with self._noting:
            return [list(entry) for entry in self._log]

    def _show(self, page: Page, now: float) -> None:
        """Show a new picture, and signals and state that are due."""
        if (sample := self._logger.read()) is not None:
            self._signals.take(sample, self._names_of(sample))
            if self._signals.draw():
                page.show(self._signals.bytes)
        if now - self._reported < _REPORT:
            return
        self._reported = now
        if self._signals.row.size:
            page.plot(self._signals.titles, self._signals.row)
        status = self.status(now)
        if status != self._last:
            page.report(status)
            self._last = status

    def _names_of(self, sample: VectorsSample) -> dict[str, list[str]]:
        """Return the names of the elements; asked for when they are others, and again if that fails."""
        if self._names[0] != sample.version:
            try:
                self._names = (sample.version, self._logger.element_names())
            except NAMED_ERRORS:
                self._logger.forget_names()
        return self._names[1]

    def status(self, now: float) -> dict[str, Any]:
        """Return what the page shows beside picture and plots, at ``now`` [s]."""
        state, reason = self._state_in_words(now)
        about = self._coordinator
        return {
            "is_simulated": False,
            "robot": self._robot.title,
            "how": f"over ports, {self._remote}",
            "state": state,
            "reason": reason,
            "notice": self._notice,
            "time": round(float(about.get("time", 0.0)), 1),
            "pace": 1.0,
            "stepping": str(about.get("step_adaptation", "")),
            "health": self._health.table(),
            "log": self._noted(),
            "footprints": list(self._signals.footprints),
            "nominal": [],
        }

    def _state_in_words(self, now: float) -> tuple[str, str]:
        if now - self._answered > _SILENCE:
            return "no answer of the coordinator", f"{self._remote}/rpc is silent, or was never there"
        about = self._coordinator
        known = [str(about.get(name, "")) for name in ("reason", "notice")]
        return _WORDS.get(about["state"], about["state"]), "; ".join(filter(None, known))

    def _wanted_connections(self) -> list[tuple[str, str, str]]:
        rpc = f"{self._remote}/rpc"
        return [
            *((client.name, rpc, "tcp") for client in self._clients),
            (self.port_name("goal:o"), f"{self._remote}/goal:i", "fast_tcp"),
            *self._logger.connections,
        ]


def boards_of(robot: RobotDescription, environment: Environment) -> dict[str, str]:
    """Return a port of each board that walking uses, and of each of its sensor servers, by name.

    Raises:
        ConfigError: The robot has no ports.
    """
    ports = robot_ports(robot)
    boards = dict.fromkeys(ports.board_of(joint) for joint in robot.joints)
    servers = [server.name for server in ports.force_torque_servers if any(sensor.contact for sensor in server.sensors)]
    servers.append(ports.imu()[0].name)
    names = [*((name, f"{name}/stateExt:o") for name in boards), *((name, f"{name}/measures:o") for name in servers)]
    return {name: ports.full_name(environment, port) for name, port in names}


def _elements(items: Any) -> list[Element]:
    """Return the items of a message of a page as those of a command: words, numbers, and lists of them.

    Raises:
        ValueError: There is something else in it.
    """
    if not isinstance(items, list) or not items:
        raise ValueError("an empty command")
    return [_elements(item) if isinstance(item, list) else _element(item) for item in items]


def _element(item: Any) -> Element:
    if isinstance(item, bool) or not isinstance(item, str | int | float):
        raise ValueError(f"{item!r:.20} is neither word nor number")
    return str(item) if isinstance(item, str) else item
