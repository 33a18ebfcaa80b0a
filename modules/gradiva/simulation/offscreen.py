"""Draws without a display."""

from __future__ import annotations

import sys
from typing import Any

import mujoco
import mujoco.gl_context
import numpy as np
import numpy.typing as npt

from gradiva.common import WalkingError


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
        self._scene = mujoco.MjvScene(model, maxgeom=model.ngeom + 100)
        for flag in (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION):
            self._scene.flags[flag] = False  # costly without a graphics card
        self._option = mujoco.MjvOption()
        self._rectangle = mujoco.MjrRect(0, 0, width, height)
        self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        self._pixels = np.empty((height, width, 3), dtype=np.uint8)

    def render(self, data: mujoco.MjData, camera: mujoco.MjvCamera, text: str = "") -> npt.NDArray[np.uint8]:
        """Return the picture, red, green and blue, shape (height, width, 3), with a text in its lower left corner."""
        self._gl.make_current()
        mujoco.mjv_updateScene(self._model, data, self._option, None, camera, mujoco.mjtCatBit.mjCAT_ALL, self._scene)
        mujoco.mjr_render(self._rectangle, self._scene, self._context)
        if text:
            place = mujoco.mjtGridPos.mjGRID_BOTTOMLEFT
            mujoco.mjr_overlay(mujoco.mjtFont.mjFONT_NORMAL, place, self._rectangle, text, "", self._context)
        mujoco.mjr_readPixels(self._pixels, None, self._rectangle, self._context)
        return self._pixels[::-1].copy()

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
