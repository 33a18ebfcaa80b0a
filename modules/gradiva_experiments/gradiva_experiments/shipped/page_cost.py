"""Cost of the page of ``gradiva play``: ticks of a walk with two viewers beside ticks with none, in turn."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from multiprocessing import get_context
from multiprocessing.connection import Connection as Pipe
from typing import Any, NamedTuple

import numpy as np
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from gradiva.common import NDArray
from gradiva.page import Page, PageAddress, page_in_its_process
from gradiva.play import InteractiveWalk
from gradiva.setup import load_setup
from gradiva.walking import WalkingState
from gradiva_experiments.experiment import Experiment, ExperimentOptions, ExperimentRun, Row

_VIEWERS = 2
_TURNS = 30  # of none and two viewers, and as many of two and none
_SETTLING, _MEASURED = 0.6, 1.2  # [s] of the machine after a change of viewers, and then
_LIMIT = 1.05  # [-] of ratios
_RESAMPLES = 2000  # of the turns, for the interval
_CONFIDENCE = (2.5, 97.5)  # [%]
_CLOCKS = ("wall", "cpu")
_PLOTTED = ("dcm::position::measured::x", "zmp::measured::x", "joints_state::torques::measured::l_knee")
_COMMAND = {"command": ["setGoal", ["velocity", 0.08, 0.0, 4.0]]}  # [m/s], [deg/s]: a circle, without an end
_WALKING = 4.0  # [s] until the first steps are made


class Tick(NamedTuple):
    """Durations of a tick, [µs].

    Attributes:
        wall: Of the controller, by the wall clock.
        cpu: Of the walk's thread from one tick to the next: simulation, controller, what the page is handed.
    """

    wall: float
    cpu: float


class CountedPage:
    """Hands the page on, lets the robot walk in a circle, takes the time of each tick, changes viewers in turn.

    Attributes:
        is_open: False as soon as all turns are measured.
        turns: Ticks of each, without viewers first in even ones.
    """

    def __init__(self, page: Page, viewers: Pipe, turns: int) -> None:
        """Take the page and the pipe to the viewers."""
        self._page, self._viewers, self._turns = page, viewers, turns
        self.play: InteractiveWalk | None = None
        self.is_open = True
        self.turns: list[tuple[bool, list[Tick]]] = []
        self._time = self._cpu = 0.0
        self._since = math.inf

    def messages(self) -> Iterator[Mapping[str, Any]]:
        """See ``Page.messages``: called once a tick."""
        for _ in self._page.messages():
            pass  # viewers do not drive
        walk = None if self.play is None else self.play.walk
        cpu = 1e6 * time.thread_time()
        if walk is not None and walk.time > self._time:
            self._take(Tick(walk.stopwatch.last["total"], cpu - self._cpu))
            self._time = walk.time
            if walk.controller.state is WalkingState.PAUSED or (self._since == math.inf and walk.time > _WALKING):
                yield from self._begin(walk.controller.state)
        self._cpu = 1e6 * time.thread_time()

    def show(self, picture: memoryview) -> None:
        """See ``Page.show``."""
        self._page.show(picture)

    def plot(self, columns: Any, row: NDArray) -> None:
        """See ``Page.plot``."""
        self._page.plot(columns, row)

    def report(self, status: Mapping[str, Any]) -> None:
        """See ``Page.report``."""
        self._page.report(status)

    def _begin(self, state: WalkingState) -> Iterator[Mapping[str, Any]]:
        if state in (WalkingState.PAUSED, WalkingState.WALKING):
            self._since = time.monotonic()
            yield _COMMAND

    def _take(self, tick: Tick) -> None:
        now = time.monotonic()
        if now < self._since + _WALKING:
            return
        if not self.turns or now > self._changed + _SETTLING + _MEASURED:
            self._change(now)
        elif now > self._changed + _SETTLING:
            self.turns[-1][1].append(tick)

    def _change(self, now: float) -> None:
        """Let viewers come or go: none, two, two, none, and so on."""
        number = len(self.turns)
        if number == self._turns:
            self.is_open = False
            return
        are_there = number % 4 in (1, 2)
        self._viewers.send(are_there)
        self.turns.append((are_there, []))
        self._changed = now


def view(link: str, orders: Pipe) -> None:
    """Be the viewers: open their websockets and read what comes, close them, as ordered; the main of a process."""
    with ExitStack() as stack:
        sockets = list[ClientConnection]()
        while True:
            for socket in sockets:
                _read(socket)
            if not orders.poll(0.0 if sockets else 1.0):
                continue
            is_wanted = orders.recv()
            if is_wanted is None:
                return
            if not is_wanted or not sockets:
                stack.close()
                sockets = list(_opened(link, stack)) if is_wanted else []


def _opened(link: str, stack: ExitStack) -> Iterator[ClientConnection]:
    base, _, token = link.partition("/?token=")
    place, port = base.replace("http", "ws", 1), base.rsplit(":", 1)[1]
    headers, origin = {"Cookie": f"gradiva_{port}={token}"}, Origin(base)
    for number in range(_VIEWERS):
        for path, protocols in (("drive", None), ("view", [Subprotocol(f"viser-v{version('viser')}")])):
            address = f"{place}/{path}/viewer{number}"
            socket = connect(address, additional_headers=headers, origin=origin, subprotocols=protocols, max_size=None)
            stack.enter_context(socket)
            if protocols is None:
                socket.send(json.dumps({"plots": _PLOTTED}))
            yield socket


def _read(socket: ClientConnection) -> None:
    try:
        while True:
            socket.recv(timeout=0.002)
    except (TimeoutError, ConnectionClosed):
        return


@contextmanager
def viewers(link: str) -> Iterator[Pipe]:
    """Have viewers in a process of their own; yield the pipe that takes whether they are wanted."""
    context = get_context("spawn")
    orders, ours = context.Pipe(duplex=False)
    process = context.Process(target=view, args=(link, orders), daemon=True)
    process.start()
    try:
        yield ours
    finally:
        ours.send(None)
        process.join()


@contextmanager
def on_other_cores() -> Iterator[set[int]]:
    """Start processes on all cores but the last one; yield that one, for the walk. One core is shared by all."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[:-1] or cores)
    try:
        yield {cores[-1]}
    finally:
        os.sched_setaffinity(0, cores)


def measured_turns(options: ExperimentOptions) -> list[tuple[bool, list[Tick]]]:
    """Return the ticks of each turn, and whether there were viewers."""
    setup = load_setup(options.robot, list(options.settings))
    with ExitStack() as stack:
        own = stack.enter_context(on_other_cores())
        page = stack.enter_context(page_in_its_process(setup.simulated_robot, PageAddress(0)))
        orders = stack.enter_context(viewers(page.link()))
        os.sched_setaffinity(0, own)
        counted = CountedPage(page, orders, 4 * (2 if options.quick else _TURNS // 2))
        counted.play = InteractiveWalk(setup, counted, options.seed or 0)
        counted.play.run()
    return counted.turns


def rows_of(turns: list[tuple[bool, list[Tick]]], seed: int = 0) -> list[Row]:
    """Return a row of each figure: its medians, and the median ratio of turns that follow each other."""
    pairs = [
        (first[1], second[1]) if second[0] else (second[1], first[1])
        for first, second in zip(turns[::2], turns[1::2], strict=True)
    ]
    rows = []
    for clock in _CLOCKS:
        for name, percent in (("median", 50.0), ("99th percentile", 99.0)):
            figures = np.array([[_figure(ticks, clock, percent) for ticks in pair] for pair in pairs])
            rows.append(_row(f"{clock}, {name}", figures, np.random.default_rng(seed)))
    return rows


def _figure(ticks: list[Tick], clock: str, percent: float) -> float:
    return float(np.percentile([getattr(tick, clock) for tick in ticks], percent))


def _row(what: str, figures: NDArray, generator: np.random.Generator) -> Row:
    ratios = figures[:, 1] / figures[:, 0]
    resampled = np.median(generator.choice(ratios, (_RESAMPLES, len(ratios))), axis=1)
    low, high = np.percentile(resampled, _CONFIDENCE)
    value = float(np.median(ratios))
    is_met = value <= _LIMIT
    return {
        "what": what,
        "turns": len(ratios),
        "without_us": float(np.median(figures[:, 0])),
        "with_us": float(np.median(figures[:, 1])),
        "low": float(low),
        "high": float(high),
        "limit": _LIMIT,
        "paper": None,
        "value": value,
        "outcome": "met" if is_met else "failed",
        "reason": "" if is_met else f"{value:.3f} times as long, {_LIMIT:g} is allowed",
    }


def run_page_cost(run: ExperimentRun) -> None:
    """Fill the rows."""
    for row in rows_of(measured_turns(run.options)):
        run.add_row(row)
        run.report(len(run.rows), 2 * len(_CLOCKS), f"{row['what']}: {row['value']:.3f}")


EXPERIMENTS = (
    Experiment(
        "page_cost",
        "the page of gradiva play",
        "Ticks of a walk with two viewers of its page beside those with none, in turn.",
        run_page_cost,
        value_title="ratio of the medians of turns that follow each other",
        takes=("settings", "seed"),
    ),
)
