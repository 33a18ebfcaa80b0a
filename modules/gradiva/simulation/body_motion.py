"""How a body of the engine moves, as sensors feel it."""

from __future__ import annotations

import mujoco
import numpy as np

from gradiva.common import NDArray


def body_motion(model: mujoco.MjModel, data: mujoco.MjData, body: int) -> tuple[NDArray, NDArray]:
    r"""Return B beside the proper acceleration a of the body's origin, shape (3, 4), and its angular velocity.

    In the axes of the body; a point at r of it has the proper acceleration :math:`a + B r` with
    :math:`B = S(\alpha) + S(\omega)^2`. What `mj_rnePostConstraint` computes must be up to date.
    """
    both, twist = np.empty(6), np.empty(6)
    mujoco.mj_objectAcceleration(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, both, 1)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, twist, 1)
    p, q, r, ax, ay, az = both.tolist()
    x, y, z = twist[:3].tolist()
    motion = np.array(
        [
            [-y * y - z * z, x * y - r, x * z + q, ax],
            [x * y + r, -x * x - z * z, y * z - p, ay],
            [x * z - q, y * z + p, -x * x - y * y, az],
        ]
    )
    return motion, twist[:3]
