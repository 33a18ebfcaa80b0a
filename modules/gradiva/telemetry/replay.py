"""Replay a finished run in the browser: its motion at 30 Hz, a player, a page in one file."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gradiva.common import ConfigError, NDArray, Side, nearest_name
from gradiva.robot_model import RobotDescription
from gradiva.telemetry.robot_view import DEFAULT_PORT, RobotView
from gradiva.telemetry.run_folder import RunFolder
from gradiva.telemetry.signal_log import SignalLog
from gradiva.telemetry.walk_record import WalkRecord, footprints, nominal_footprints

_TRUE_DEFLECTIONS = "simulation::flexible_joints::positions"
_ESTIMATED_DEFLECTIONS = "flexible_joints::positions::estimated"
_TRUTH = ("simulation::root_link::position", "simulation::root_link::orientation", "simulation::joint_positions")
_ESTIMATE = (
    "root_link::position::measured",
    "root_link::orientation::measured",
    "joints_state::positions::measured",
)
_POINTS = {  # signal and its size
    "com": ("com::position::measured", 3),
    "dcm": ("dcm::position::measured", 2),
    "zmp": ("zmp::measured", 2),
}
_SOLES = {side: f"{side}_foot::position::measured" for side in Side}
_FORCES = {side: f"{side}_foot::linear_force::measured" for side in Side}
_PICTURE_RATE = 30.0  # Hz
_SLIDER_STEP = 0.01  # s
_STANDING = 60.0  # s, at most, before the log of a simulated walk begins; that of a robot may have any clock
_SPEEDS = {"0.1 ×": 0.1, "0.25 ×": 0.25, "0.5 ×": 0.5, "1 ×": 1.0, "2 ×": 2.0, "4 ×": 4.0}


def replay(run: RunFolder, description: RobotDescription, port: int = DEFAULT_PORT) -> None:
    """Serve a replay to the browser until Ctrl-C.

    Raises:
        ConfigError: The run has no log, or not that of this robot.
        ModelError: The robot's model cannot be loaded.
    """
    record = WalkRecord.read(run)
    motion = Motion.read(record, description, _PICTURE_RATE)
    view = RobotView(description, port)
    view.footprints(footprints(record.log), nominal_footprints(record.log))
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
        view.footprints(footprints(record.log), nominal_footprints(record.log))
        show_picture(view, motion, 0)
        recording = view.server.get_scene_serializer()
        start = float(motion.times[0])
        if 0.0 < start < _STANDING:
            recording.insert_sleep(start)  # its slider begins at zero, as the clock of the log does
        for picture in range(len(motion.times)):
            show_picture(view, motion, picture)
            recording.insert_sleep(1.0 / _PICTURE_RATE)
        path.write_text(recording.as_html(), encoding="utf-8")
    finally:
        view.close()
    return path


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


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """Configurations of a robot at equal intervals, and the points that it balances with.

    Attributes:
        times: On the clock of the log, [s], shape (T,).
        base_positions: World, [m], shape (T, 3).
        base_rotations: Shape (T, 3, 3).
        joint_positions: [rad], shape (T, n), in the order of the robot's description, flexible ones among them.
        points: Any of ``com`` (T, 3), ``dcm`` and ``zmp`` (T, 2): world, [m].
        soles: Origins of the sole frames, where they are logged, world, [m], shape (T, 3) each.
        forces: Of the ground on each foot, where they are logged, world, [N], shape (T, 3) each.
    """

    times: NDArray
    base_positions: NDArray
    base_rotations: NDArray
    joint_positions: NDArray
    points: dict[str, NDArray]
    soles: dict[Side, NDArray]
    forces: dict[Side, NDArray]

    @classmethod
    def read(cls, record: WalkRecord, description: RobotDescription, rate: float = 30.0) -> Motion:
        """Return the motion of the simulated robot if it was logged, else that of the estimated one.

        Args:
            record: Of the run.
            description: Of the robot that walked.
            rate: Pictures a second, [Hz].

        Raises:
            ConfigError: The log is empty, or lacks base and joints of this robot.
        """
        log = record.log
        if not len(log):
            raise ConfigError("the log of this run is empty: nothing to replay")
        names = _TRUTH if all(name in log for name in _TRUTH) else _ESTIMATE
        for name in names:
            if name not in log:
                raise ConfigError(f"the log has no {name}: nothing to replay")
        times = np.arange(log.times[0], log.times[-1] + 1e-9, 1.0 / rate)
        rows = np.searchsorted(0.5 * (log.times[1:] + log.times[:-1]), times)
        position, orientation, joints = (log[name][rows] for name in names)
        logged, deflections = record.joints, _TRUE_DEFLECTIONS if names is _TRUTH else _ESTIMATED_DEFLECTIONS
        if deflections in log:
            logged = (*logged, *log.info(deflections).elements)
            joints = np.hstack((joints, log[deflections][rows]))
        unknown = [joint.name for joint in description.flexible_joints if joint.name not in logged]  # shown unbent
        logged, joints = (*logged, *unknown), np.hstack((joints, np.zeros((len(rows), len(unknown)))))
        order = _order_of_joints(logged, description.joints, joints.shape[1])
        drift = _drift(log, rows, position)
        return cls(
            times=times,
            base_positions=position,
            base_rotations=rotations_from_rpy(orientation),
            joint_positions=joints[:, order],
            points={key: log[name][rows] + drift[:, :size] for key, (name, size) in _POINTS.items() if name in log},
            soles={side: log[name][rows] + drift for side, name in _SOLES.items() if name in log},
            forces={side: log[name][rows] for side, name in _FORCES.items() if name in log},
        )


def rotations_from_rpy(rpy: NDArray) -> NDArray:
    """Return the rotations Rz(yaw) Ry(pitch) Rx(roll).

    Args:
        rpy: [rad], shape (T, 3).

    Returns:
        Shape (T, 3, 3).
    """
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy).T, np.sin(rpy).T
    rows = [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def _drift(log: SignalLog, rows: npt.NDArray[np.intp], base: NDArray) -> NDArray:
    """Return what moves estimated points along with the shown base, horizontal, [m], shape (T, 3)."""
    drift = np.zeros_like(base)
    if _ESTIMATE[0] in log:
        drift[:, :2] = (base - log[_ESTIMATE[0]][rows])[:, :2]
    return drift


def _order_of_joints(logged: tuple[str, ...], wanted: tuple[str, ...], columns: int) -> list[int]:
    if len(logged) != columns:
        raise ConfigError(f"the log names {len(logged)} joints for {columns} joint positions")
    for joint in wanted:
        if joint not in logged:
            raise ConfigError(f"the run is of another robot, it has no joint '{joint}'{nearest_name(joint, logged)}")
    return [logged.index(joint) for joint in wanted]
