"""Films (mp4) and snapshots (png) of recorded motion."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import imageio.v2 as imageio
import mujoco
import mujoco.gl_context
import numpy as np
import numpy.typing as npt

from gradiva.common import ConfigError, NDArray, RobotPosture, Side, WalkingError, so3
from gradiva.robot_model import RobotDescription, deflection_note
from gradiva.simulation.plant import load_tree
from gradiva.simulation.rigid_tree import quaternion
from gradiva.simulation.scene import FLOOR, build_scene

_DISTANCE = 3.2  # [robot's start heights of the base]
_LOOK_AT = 0.97  # [start heights of the base] where the picture is centred
_FOLLOWING = 1.0  # [s] over which the camera averages the robot's way, so that it does not sway
_SIZES = (64, 4096)  # [pixels] least and greatest edge of a picture
_SOLE_THICKNESS = 0.002  # [m]
_LEVEL = 0.05  # [deg] below which no slope is written
_MOST_SOLES = 200  # in one picture
_SHADOW = (0.08, 0.09, 0.11, 0.55)  # red, green, blue and opacity
_LARGE = 640  # [pixels] width from which on the letters are larger
_VIEW_WIDTH = 0.7  # [-] height that is seen, per distance of the camera (its field of view is 45°)


class Camera(StrEnum):
    """Place of the camera, seen from a robot that starts walking to x; all but ``fixed`` follow the robot."""

    DIAGONAL = "diagonal"
    FRONT = "front"
    SIDE = "side"
    BACK = "back"
    TOP = "top"
    FIXED = "fixed"


@dataclass(frozen=True, slots=True)
class FilmFormat:
    """Size, camera and frame rate of a film.

    Attributes:
        width: [pixels], even.
        height: [pixels], even.
        camera: Where it stands.
        rate: Frames per second of the robot's time, [Hz].
    """

    width: int = 640
    height: int = 480
    camera: Camera = Camera.DIAGONAL
    rate: float = 30.0

    def __post_init__(self) -> None:
        least, greatest = _SIZES
        for edge in (self.width, self.height):
            if not least <= edge <= greatest or edge % 2:
                raise ConfigError(
                    f"film of {self.width}x{self.height} pixels: width and height must be even numbers"
                    f" from {least} to {greatest}, as H.264 films have"
                )


@dataclass(frozen=True, slots=True, eq=False)
class FilmedSole:
    """A sole on the ground that is drawn as a flat box.

    Attributes:
        corners: World, as those of a ``SoleRectangle``, [m], shape (4, 2).
        height: World, [m].
        colour: Red, green, blue and opacity, [-].
        start: From when on it is drawn, [s].
    """

    corners: NDArray
    height: float
    colour: tuple[float, float, float, float]
    start: float


class FilmedMotion:
    """A recorded motion, read between its samples."""

    def __init__(
        self,
        times: npt.ArrayLike,
        base_positions: npt.ArrayLike,
        base_rotations: npt.ArrayLike,
        joint_positions: npt.ArrayLike,
    ) -> None:
        """Take the samples.

        Args:
            times: Increasing, [s], shape (t,).
            base_positions: World, [m], shape (t, 3).
            base_rotations: World, shape (t, 3, 3).
            joint_positions: In the description's order, [rad], shape (t, n).

        Raises:
            ValueError: The arrays do not fit together.
        """
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


def film(
    description: RobotDescription,
    motion: FilmedMotion,
    path: Path,
    form: FilmFormat | None = None,
    on_frame: Callable[[int, int], None] = lambda done, total: None,
    soles: Sequence[FilmedSole] = (),
    floor_rotation: NDArray | None = None,
) -> None:
    """Write a film of a motion, with the time of its samples in each picture, and how far links bend at most.

    Args:
        description: Of the robot.
        motion: Of the base and the joints.
        path: Of the film, ``.mp4``.
        form: Size, camera and frame rate.
        on_frame: Called after each frame with how many are done and how many there will be.
        soles: Drawn on the ground.
        floor_rotation: Of the world, whose xy plane is the floor, in level axes, shape (3, 3); None: it is level.

    Raises:
        ModelError: A mesh of the robot cannot be read.
        WalkingError: This machine cannot draw.
    """
    form = form or FilmFormat()
    frames = np.arange(motion.times[0], motion.times[-1] + 1e-9, 1.0 / form.rate)
    targets, extent = _targets(motion, frames, form.camera)
    writer: Any = imageio.get_writer(path, fps=form.rate, codec="libx264", quality=7, macro_block_size=2)
    with writer, _Studio(description, form, extent, floor_rotation) as studio:
        for done, (time, target) in enumerate(zip(frames, targets, strict=True), start=1):
            drawn = [sole for sole in soles if sole.start <= time]
            posture = motion.at(time)
            note = deflection_note(description.flexible_joints, description.joints, posture.joint_positions)
            note += studio.slope_note
            writer.append_data(studio.picture(posture, target, f"{time:.2f} s{note}", drawn))
            on_frame(done, len(frames))


def check_film(description: RobotDescription, form: FilmFormat) -> None:
    """Pass when a robot can be drawn; errors as of ``film``."""
    with _Studio(description, form):
        pass


def snapshot(description: RobotDescription, posture: RobotPosture, path: Path, form: FilmFormat | None = None) -> None:
    """Write a picture (``.png``) of a robot in a posture; arguments and errors as of ``film``."""
    with _Studio(description, form or FilmFormat()) as studio:
        imageio.imwrite(path, studio.picture(posture, posture.base_position))


class OffscreenRenderer:
    """Turns the engine's data into pictures; close it, or use it in a ``with`` statement."""

    def __init__(self, model: mujoco.MjModel, width: int, height: int) -> None:
        """Open an OpenGL context.

        Raises:
            WalkingError: This machine has no OpenGL.
        """
        self._model = model
        self._gl = _open_context(width, height)
        self._gl.make_current()
        self._scene = mujoco.MjvScene(model, maxgeom=model.ngeom + _MOST_SOLES + 100)
        for flag in (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION):
            self._scene.flags[flag] = False  # costly without a graphics card
        self._option = mujoco.MjvOption()
        self._rectangle = mujoco.MjrRect(0, 0, width, height)
        scales = mujoco.mjtFontScale
        self._context = mujoco.MjrContext(model, scales.mjFONTSCALE_150 if width >= _LARGE else scales.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        self._pixels = np.empty((height, width, 3), dtype=np.uint8)

    def render(
        self,
        data: mujoco.MjData,
        camera: mujoco.MjvCamera,
        text: str = "",
        soles: Sequence[FilmedSole] = (),
        floor_rotation: NDArray | None = None,
    ) -> npt.NDArray[np.uint8]:
        """Return the picture, red, green and blue, shape (height, width, 3), with a text in its lower left corner.

        Args:
            data: Where the robot is.
            camera: Where it is seen from.
            text: In the corner.
            soles: Drawn on the ground, the last ones where there are too many.
            floor_rotation: As of ``film``, of the soles.
        """
        self._gl.make_current()
        mujoco.mjv_updateScene(self._model, data, self._option, None, camera, mujoco.mjtCatBit.mjCAT_ALL, self._scene)
        for sole in soles[-_MOST_SOLES:]:
            self._draw(sole, np.eye(3) if floor_rotation is None else floor_rotation)
        mujoco.mjr_render(self._rectangle, self._scene, self._context)
        if text:
            place = mujoco.mjtGridPos.mjGRID_BOTTOMLEFT
            mujoco.mjr_overlay(mujoco.mjtFont.mjFONT_NORMAL, place, self._rectangle, text, "", self._context)
        mujoco.mjr_readPixels(self._pixels, None, self._rectangle, self._context)
        return self._pixels[::-1].copy()

    def _draw(self, sole: FilmedSole, floor_rotation: NDArray) -> None:
        ahead, across = sole.corners[0] - sole.corners[3], sole.corners[1] - sole.corners[0]
        size = 0.5 * np.array([np.linalg.norm(ahead), np.linalg.norm(across), _SOLE_THICKNESS])
        position = floor_rotation @ np.append(sole.corners.mean(axis=0), sole.height)
        rotation = (floor_rotation @ so3.rotation_z(math.atan2(ahead[1], ahead[0]))).ravel()
        colour = np.array(sole.colour, dtype=np.float32)
        shape = self._scene.geoms[self._scene.ngeom]
        mujoco.mjv_initGeom(shape, mujoco.mjtGeom.mjGEOM_BOX, size, position, rotation, colour)
        self._scene.ngeom += 1

    def close(self) -> None:
        """Free the OpenGL context."""
        self._context.free()
        self._gl.free()

    def __enter__(self) -> OffscreenRenderer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _open_context(width: int, height: int) -> Any:
    """EGL where it works (no display needed), else what MUJOCO_GL or the system's default names."""
    if sys.platform.startswith("linux"):
        try:
            from mujoco.egl import GLContext

            return GLContext(width, height)
        except Exception:  # a missing driver shows as any error, even AttributeError
            pass
    try:
        return mujoco.gl_context.GLContext(width, height)
    except Exception as error:
        raise WalkingError(f"no OpenGL to draw with: install libegl1 or set MUJOCO_GL ({error})") from error


_LOOKS = {  # [deg] azimuth and elevation of the direction in which the camera looks
    Camera.DIAGONAL: (135.0, -12.0),
    Camera.FRONT: (180.0, -8.0),
    Camera.SIDE: (90.0, -8.0),
    Camera.BACK: (0.0, -12.0),
    Camera.TOP: (90.0, -89.0),
    Camera.FIXED: (135.0, -12.0),
}


class _Studio:
    """A scene with its renderer and camera; its axes are level, those of postures are those of the floor."""

    def __init__(
        self,
        description: RobotDescription,
        form: FilmFormat,
        extent: float = 0.0,
        floor_rotation: NDArray | None = None,
    ) -> None:
        """Open the scene; ``extent`` [m] of the way is seen beside the robot, on the floor of ``film``."""
        self._description, self._tree = description, load_tree(description)
        self._model = build_scene(description, form.width, form.height)
        self._data = mujoco.MjData(self._model)
        self._joints = _addresses(self._model, description.joints)
        self._camera = mujoco.MjvCamera()
        self._camera.azimuth, self._camera.elevation = _LOOKS[form.camera]
        self._extent = extent * form.height / form.width
        self._height = 0.0
        self._renderer = OffscreenRenderer(self._model, form.width, form.height)
        self._turn = np.eye(3) if floor_rotation is None else floor_rotation
        steepness = math.degrees(so3.tilt(self._turn))
        self.slope_note = f", slope {steepness:.1f} deg" if steepness > _LEVEL else ""
        floor = self._model.geom(FLOOR)
        floor.pos[:], floor.quat[:] = self._turn @ floor.pos, quaternion(self._turn)
        self._model.geom_sameframe[floor.id] = 0  # as compiled its axes are those of its body

    def picture(
        self, posture: RobotPosture, target: NDArray, text: str = "", soles: Sequence[FilmedSole] = ()
    ) -> npt.NDArray[np.uint8]:
        """Draw a posture and soles, looking at ``target`` (world, [m]), with a text in the corner.

        Below each foot its sole darkens the floor, straight down, so that one sees whether it touches; shadows of the
        whole robot take two and a half times as long to draw without a graphics card.
        """
        self._data.qpos[:3] = self._turn @ posture.base_position
        self._data.qpos[3:7] = quaternion(self._turn @ posture.base_rotation)
        self._data.qpos[self._joints] = posture.joint_positions
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_camlight(self._model, self._data)
        self._height = self._height or float(posture.base_position[2])
        self._camera.distance = _DISTANCE * self._height + self._extent / _VIEW_WIDTH
        self._camera.lookat[:] = self._turn @ [target[0], target[1], _LOOK_AT * self._height]
        shadows = [self._shadow(side) for side in Side]
        return self._renderer.render(self._data, self._camera, text, [*soles, *shadows], self._turn)

    def _shadow(self, side: Side) -> FilmedSole:
        """Return the sole of a foot, projected on the floor."""
        robot, frame = self._description, self._description.foot_frame(side)
        body = self._tree.body_of(frame)
        drawn, sole = self._data.body(body.name), np.column_stack((robot.sole.corners(side), np.full(4, robot.sole.z)))
        in_body = sole @ body.frames[frame][:3, :3].T + body.frames[frame][:3, 3]
        level = in_body @ drawn.xmat.reshape(3, 3).T + drawn.xpos
        return FilmedSole((level @ self._turn)[:, :2], robot.sole.z, _SHADOW, -math.inf)

    def __enter__(self) -> _Studio:
        return self

    def __exit__(self, *_: object) -> None:
        self._renderer.close()


def _addresses(model: mujoco.MjModel, joints: Sequence[str]) -> npt.NDArray[np.int64]:
    return np.array([int(model.joint(name).qposadr[0]) for name in joints])


def _blend(samples: NDArray, later: int, ratio: float) -> NDArray:
    return (1.0 - ratio) * samples[later - 1] + ratio * samples[later]


def _targets(motion: FilmedMotion, frames: NDArray, camera: Camera) -> tuple[NDArray, float]:
    """Return where the camera looks, shape (frames, 3), and how wide a way it has to see, [m]."""
    if camera is not Camera.FIXED:
        return _smooth(motion, frames), 0.0
    low, high = motion.base_positions.min(axis=0), motion.base_positions.max(axis=0)
    return np.tile(0.5 * (low + high), (len(frames), 1)), float(np.hypot(*(high - low)[:2]))


def _smooth(motion: FilmedMotion, frames: NDArray) -> NDArray:
    """Base positions at the frames, averaged over a second around each, shape (frames, 3)."""
    targets = np.empty((len(frames), 3))
    for row, time in enumerate(frames):
        near = np.abs(motion.times - time) <= 0.5 * _FOLLOWING
        targets[row] = motion.base_positions[near].mean(axis=0) if near.any() else motion.at(time).base_position
    return targets
