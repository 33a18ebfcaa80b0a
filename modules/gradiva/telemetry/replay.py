"""Replays a finished run in the browser."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from gradiva.robot_model import RobotDescription
from gradiva.telemetry.footprint import footprints
from gradiva.telemetry.motion import Motion
from gradiva.telemetry.robot_view import DEFAULT_PORT, RobotView
from gradiva.telemetry.run_folder import RunFolder
from gradiva.telemetry.walk_record import WalkRecord

_PICTURE_RATE = 30.0  # Hz
_SLIDER_STEP = 0.01  # s
_SPEEDS = {"0.1 ×": 0.1, "0.25 ×": 0.25, "0.5 ×": 0.5, "1 ×": 1.0, "2 ×": 2.0, "4 ×": 4.0}


class Replay:
    """A motion with a slider of time, a switch that plays it, and a choice of speeds.

    The slider shows the clock of the log: the same time as on the plots and in the outcome.
    """

    def __init__(self, view: RobotView, motion: Motion) -> None:
        self._view, self._motion = view, motion
        self._start = self._moment = float(motion.times[0])
        gui = view.server.gui
        end = max(float(motion.times[-1]), self._start + 1.0 / _PICTURE_RATE)
        self.slider = gui.add_slider("Time [s]", self._start, end, _SLIDER_STEP, self._start)
        self.playing = gui.add_checkbox("Play", True)
        self.speed = gui.add_dropdown("Speed", tuple(_SPEEDS), initial_value="1 ×")
        self._shown = -1
        self.show(self._start)

    def advance(self, duration: float) -> None:
        """Show what comes ``duration`` [s] later at the chosen speed; begins again after the end."""
        if abs(float(self.slider.value) - self._moment) > _SLIDER_STEP:
            self._moment = float(self.slider.value)  # it was moved on the page
        if self.playing.value:
            self._moment += duration * _SPEEDS[self.speed.value]
            self._moment = self._start if self._moment > self._motion.times[-1] else self._moment
            self.slider.value = round(self._moment, 2)  # type: ignore[misc]  # viser declares the setter dynamically
        self.show(self._moment)

    def show(self, moment: float) -> None:
        """Show the robot as it was at a time [s] of the log."""
        picture = min(int(np.searchsorted(self._motion.times, moment - 1e-9)), len(self._motion.times) - 1)
        if picture != self._shown:
            self._shown = picture
            show_picture(self._view, self._motion, picture)

    def play(self, is_wanted: Callable[[], bool] = lambda: True) -> None:
        """Play while ``is_wanted`` holds, in real time."""
        last = time.monotonic()
        while is_wanted():
            time.sleep(1.0 / _PICTURE_RATE)
            now = time.monotonic()
            self.advance(now - last)
            last = now


def show_picture(view: RobotView, motion: Motion, picture: int) -> None:
    """Show one picture of a motion."""
    feet = motion.forces.keys() & motion.soles.keys()
    view.show(
        motion.base_positions[picture],
        motion.base_rotations[picture],
        motion.joint_positions[picture],
        {name: samples[picture] for name, samples in motion.points.items()},
        {side: (motion.soles[side][picture], motion.forces[side][picture]) for side in feet},
        float(motion.times[picture]),
    )


def replay(run: RunFolder, description: RobotDescription, port: int = DEFAULT_PORT) -> None:
    """Serve a replay to the browser until Ctrl-C.

    Raises:
        ConfigError: The run has no log, or not that of this robot.
        ModelError: The robot's model cannot be loaded.
    """
    record = WalkRecord.read(run)
    motion = Motion.read(record, description, _PICTURE_RATE)
    view = RobotView(description, port)
    view.footprints(footprints(record.log))
    player = Replay(view, motion)
    view.announce()
    print("Ctrl-C ends the replay.")
    try:
        player.play()
    except KeyboardInterrupt:
        print()
    finally:
        view.close()


def save_replay_page(run: RunFolder, description: RobotDescription, path: Path) -> Path:
    """Write a page that replays a run by itself: one file of a few megabytes, without a server.

    Raises:
        ConfigError: The run has no log, or not that of this robot.
        ModelError: The robot's model cannot be loaded.
    """
    record = WalkRecord.read(run)
    motion = Motion.read(record, description, _PICTURE_RATE)
    view = RobotView(description, port=0)
    try:
        view.footprints(footprints(record.log))
        show_picture(view, motion, 0)
        recording = view.server.get_scene_serializer()
        for picture in range(len(motion.times)):
            show_picture(view, motion, picture)
            recording.insert_sleep(1.0 / _PICTURE_RATE)
        path.write_text(recording.as_html(), encoding="utf-8")
    finally:
        view.close()
    return path
