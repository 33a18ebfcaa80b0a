"""Films and pictures of a recorded motion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import imageio.v2 as imageio
import mujoco
import numpy as np
import numpy.typing as npt

from gradiva.common import NDArray, RobotPosture, so3
from gradiva.robot_model import RobotDescription
from gradiva.simulation.offscreen import OffscreenRenderer
from gradiva.simulation.scene import build_scene
from gradiva.simulation.spec_tools import quaternion

_AZIMUTH, _ELEVATION = 135.0, -12.0  # [deg] from ahead and beside the robot, slightly above
_DISTANCE = 3.2  # [robot's start heights of the base]
_LOOK_AT = 0.97  # [start heights of the base] where the picture is centred
_FOLLOWING = 1.0  # [s] over which the camera averages the robot's way, so that it does not sway


def film(
    description: RobotDescription,
    times: npt.ArrayLike,
    base_positions: npt.ArrayLike,
    base_rotations: npt.ArrayLike,
    joint_positions: npt.ArrayLike,
    path: Path,
    width: int = 640,
    height: int = 480,
    fps: float = 30.0,
    azimuth: float = _AZIMUTH,
    on_frame: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Write a film of a motion; the camera follows the robot.

    Args:
        description: Of the robot.
        times: Increasing, [s], shape (t,).
        base_positions: World, [m], shape (t, 3).
        base_rotations: World, shape (t, 3, 3).
        joint_positions: In the description's order, [rad], shape (t, n).
        path: Of the film, ``.mp4``.
        width: [pixels], a multiple of 16.
        height: [pixels], a multiple of 16.
        fps: Frames per second of the robot's time.
        azimuth: From where the camera looks, in world, [deg]; 180 is from ahead of a robot that walks to x.
        on_frame: Called after each frame with how many are done and how many there will be.

    Raises:
        ModelError: A mesh of the robot cannot be read.
        WalkingError: This machine cannot draw.
        ValueError: The arrays do not fit together.
    """
    motion = _Motion(times, base_positions, base_rotations, joint_positions)
    frames = np.arange(motion.times[0], motion.times[-1] + 1e-9, 1.0 / fps)
    targets = _smooth(motion, frames)
    writer: Any = imageio.get_writer(path, fps=fps, codec="libx264", quality=7, macro_block_size=16)
    with writer, _Studio(description, width, height, azimuth) as studio:
        for done, (time, target) in enumerate(zip(frames, targets, strict=True), start=1):
            writer.append_data(studio.picture(motion.at(time), target))
            on_frame(done, len(frames))


def snapshot(
    description: RobotDescription,
    posture: RobotPosture,
    path: Path,
    width: int = 640,
    height: int = 480,
    azimuth: float = _AZIMUTH,
) -> None:
    """Write a picture (``.png``) of a robot in a posture; arguments and errors as of ``film``."""
    with _Studio(description, width, height, azimuth) as studio:
        imageio.imwrite(path, studio.picture(posture, posture.base_position))


class _Motion:
    """A recorded motion, read between its samples."""

    def __init__(
        self,
        times: npt.ArrayLike,
        base_positions: npt.ArrayLike,
        base_rotations: npt.ArrayLike,
        joint_positions: npt.ArrayLike,
    ) -> None:
        self.times = np.asarray(times, dtype=np.float64)
        self.base_positions = np.asarray(base_positions, dtype=np.float64)
        self._rotations = np.asarray(base_rotations, dtype=np.float64)
        self._joints = np.asarray(joint_positions, dtype=np.float64)
        lengths = [len(array) for array in (self.base_positions, self._rotations, self._joints)]
        if any(length != len(self.times) for length in lengths) or len(self.times) == 0:
            raise ValueError(f"{len(self.times)} times for {lengths} positions, rotations and joints")

    def at(self, time: float) -> RobotPosture:
        """Interpolate the posture at a time [s] within the record."""
        later = int(np.clip(np.searchsorted(self.times, time), 1, max(1, len(self.times) - 1)))
        if later >= len(self.times):
            return RobotPosture(self.base_positions[0], self._rotations[0], self._joints[0])
        before, after = self.times[later - 1], self.times[later]
        ratio = float(np.clip((time - before) / (after - before), 0.0, 1.0))
        turn = so3.log(self._rotations[later] @ self._rotations[later - 1].T)
        return RobotPosture(
            _blend(self.base_positions, later, ratio),
            so3.exp(ratio * turn) @ self._rotations[later - 1],
            _blend(self._joints, later, ratio),
        )


class _Studio:
    """A scene with its renderer and camera."""

    def __init__(self, description: RobotDescription, width: int, height: int, azimuth: float) -> None:
        self._model = build_scene(description, width, height)
        self._data = mujoco.MjData(self._model)
        self._joints = _addresses(self._model, description.joints)
        self._camera = mujoco.MjvCamera()
        self._camera.azimuth, self._camera.elevation = azimuth, _ELEVATION
        self._height = 0.0
        self._renderer = OffscreenRenderer(self._model, width, height)

    def picture(self, posture: RobotPosture, target: NDArray) -> npt.NDArray[np.uint8]:
        """Draw a posture, looking at ``target`` (world, [m])."""
        self._data.qpos[:3] = posture.base_position
        self._data.qpos[3:7] = quaternion(posture.base_rotation)
        self._data.qpos[self._joints] = posture.joint_positions
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_camlight(self._model, self._data)
        self._height = self._height or float(posture.base_position[2])
        self._camera.distance = _DISTANCE * self._height
        self._camera.lookat[:] = [target[0], target[1], _LOOK_AT * self._height]
        return self._renderer.render(self._data, self._camera)

    def __enter__(self) -> _Studio:
        return self

    def __exit__(self, *_: object) -> None:
        self._renderer.close()


def _addresses(model: mujoco.MjModel, joints: Sequence[str]) -> npt.NDArray[np.int64]:
    return np.array([int(model.joint(name).qposadr[0]) for name in joints])


def _blend(samples: NDArray, later: int, ratio: float) -> NDArray:
    return (1.0 - ratio) * samples[later - 1] + ratio * samples[later]


def _smooth(motion: _Motion, frames: NDArray) -> NDArray:
    """Base positions at the frames, averaged over a second around each, shape (frames, 3)."""
    targets = np.empty((len(frames), 3))
    for row, time in enumerate(frames):
        near = np.abs(motion.times - time) <= 0.5 * _FOLLOWING
        targets[row] = motion.base_positions[near].mean(axis=0) if near.any() else motion.at(time).base_position
    return targets
