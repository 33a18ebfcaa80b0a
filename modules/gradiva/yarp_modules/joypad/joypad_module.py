"""The joypad: sends goals and commands by keys to the coordinator."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from gradiva.common import ConfigError, from_table, merge
from gradiva.middleware import Element, PersistentConnections, fill_bottle, open_port, yarp
from gradiva.setup import data_folder, read_toml, robot_folder
from gradiva.yarp_modules.coordinator_client import COORDINATOR, CoordinatorClient
from gradiva.yarp_modules.gradiva_module import GradivaModule
from gradiva.yarp_modules.joypad.keys import HELP, KEYS, JoypadConfig, KeyCommand, KeyStick, RecordedKeys, TerminalKeys
from gradiva.yarp_modules.module_options import ModuleOption, ModuleOptions
from gradiva.yarp_modules.network_clock import present_time
from gradiva.yarp_modules.rpc_commands import as_text, fail, is_called, is_ok, ok, word


class JoypadModule(GradivaModule):
    """Sends ``forward angular lateral`` (−1 to 1) at ``/joypad/goal:o``, and commands to the coordinator.

    The emergency stop has a connection and a thread of its own: it waits for no other command's reply.
    """

    TITLE = "joypad"
    SUMMARY = "Drives the walk by keys: arrows or w s a d, p prepare, g start, space pause, e emergency stop, q quit."
    NAME = "/joypad"
    NEEDS_ROBOT = False
    OPTIONS = (
        ModuleOption(
            "input",
            "recorded keys instead of the terminal: lines of 'time key', seconds since the coordinator was reached",
            "FILE",
        ),
        ModuleOption("remote", f"prefix of the coordinator's ports (default {COORDINATOR})", "/NAME"),
    )
    COMMANDS = (f"press KEY   as if it were typed: {' '.join(KEYS)}",)

    def __init__(self, options: ModuleOptions) -> None:
        """Take the keys.

        Raises:
            ConfigError: The configuration or the recorded keys are wrong.
        """
        config = _config(options)
        super().__init__(options, config.period)
        self._config = config
        self._stick = KeyStick(config)
        self._recorded = RecordedKeys.read(Path(options.extras["input"])) if "input" in options.extras else None
        self._keyboard = TerminalKeys(-1 if self._recorded is not None else None)
        self._goal_port = yarp.BufferedPortBottle()
        self._commands = CoordinatorClient(self.port_name("rpc:o"), self._print_reply)
        self._emergency = CoordinatorClient(self.port_name("emergency:o"), self._print_reply)
        self._connections = PersistentConnections(self._wanted_connections())
        self._beginning: float | None = None
        self._status_due = 0.0
        self._status = ""

    def open_ports(self) -> None:
        """Open the ports, begin to connect, take the terminal."""
        open_port(self._goal_port, self.port_name("goal:o"))
        self._commands.open()
        self._emergency.open()
        self._connections.start()
        self._keyboard.open()
        if self._keyboard.is_there:
            _print("\n".join(HELP))
        elif self._recorded is None:
            _print("standard input is no terminal: keys come by RPC, press KEY, alone")

    def close_ports(self) -> None:
        """Give the terminal back, close the ports."""
        self._keyboard.close()
        self._connections.stop()
        self._commands.close()
        self._emergency.close()
        self._goal_port.interrupt()
        self._goal_port.close()

    def tick(self) -> bool:
        """Take the keys, send the goal, ask for the state of the walk."""
        goes_on = [self._press(key) for key in self._new_keys()]
        fill_bottle(self._goal_port.prepare(), list(self._stick.goal(self._config.period)))
        self._goal_port.write()
        self._ask_for_status()
        return all(goes_on)

    def answer(self, command: Sequence[Element]) -> list[Element] | None:
        """Answer ``press KEY``."""
        if not is_called(command[0], "press"):
            return None
        key = str(command[1]) if len(command) == 2 else ""
        if key not in KEYS:
            return fail(f"'{key}' is no key (valid: {', '.join(KEYS)})")
        if not self._press(key):
            self.stopModule()
        return ok(*self._stick.target.tolist())

    def _new_keys(self) -> list[str]:
        now = present_time()
        if self._beginning is None and self._commands.is_connected:
            self._beginning = now
        if self._recorded is None or self._beginning is None:
            return self._keyboard.pending()
        return [*self._recorded.due(now - self._beginning), *self._keyboard.pending()]

    def _press(self, key: str) -> bool:
        """Carry out a key; False for the one that ends the joypad."""
        command = self._stick.press(key)
        if command is KeyCommand.EMERGENCY_STOP:
            self._emergency.send(command)
        elif command is not None and command is not KeyCommand.QUIT:
            self._commands.send(command)
        return command is not KeyCommand.QUIT

    def _ask_for_status(self) -> None:
        if present_time() >= self._status_due and self._commands.is_idle:
            self._status_due = present_time() + self._config.status_period
            self._commands.send("getReason")

    def _print_reply(self, sent: list[Element], reply: list[Element] | None) -> None:
        """Print the reply to a command; called in the thread of its connection."""
        command, text = as_text(sent), as_text((reply or [])[1:])
        if command == "getReason":
            text = text if reply else "the coordinator is not connected"
            if text != self._status:
                self._status = self.health.state = text
                _print(text)
        elif reply is None:
            _print(f"{command}: the coordinator does not answer")
        else:
            _print(f"{command}: {'done' if is_ok(reply) else word(reply[0])} {text}".rstrip())

    def _wanted_connections(self) -> list[tuple[str, str, str]]:
        remote = self.options.extras.get("remote", COORDINATOR)
        return [
            (self._commands.name, f"{remote}/rpc", "tcp"),
            (self._emergency.name, f"{remote}/rpc", "tcp"),
            (self.port_name("goal:o"), f"{remote}/goal:i", "fast_tcp"),
        ]


def _config(options: ModuleOptions) -> JoypadConfig:
    if options.robot:
        robot_folder(options.robot)  # a joypad needs no robot, but a misspelt one is an error here, too
    table = read_toml(data_folder("config") / "joypad.toml")
    for text in options.overrides:
        key, _, value = text.partition("=")
        if not key.strip().startswith("joypad."):
            raise ConfigError(f"--set {text}: a joypad has the table [joypad] alone")
        try:
            table = merge(table, {"joypad": {key.strip().removeprefix("joypad."): float(value)}})
        except ValueError:
            raise ConfigError(f"--set {text}: expected a number") from None
    return from_table(JoypadConfig, table["joypad"], "config/joypad.toml [joypad]")


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
