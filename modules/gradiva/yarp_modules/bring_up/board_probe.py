"""One control board as it describes itself."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from gradiva.common import NDArray, RobotInterfaceError
from gradiva.middleware import yarp
from gradiva.yarp_modules.robot.remote_joints import required

_PATIENCE = 1.0  # [s] for the first state to come
_LOOK = 0.01  # [s]


@dataclass(frozen=True, slots=True, eq=False)
class BoardProbe:
    """What a board says.

    Attributes:
        axes: Names of its joints, in its order.
        positions: [rad], shape (axes,); NaN where it sends none.
    """

    axes: tuple[str, ...]
    positions: NDArray


def probe_board(remote: str, local: str, carrier: str) -> BoardProbe:
    """Ask a board who it is.

    Raises:
        RobotInterfaceError: It is not there.
    """
    driver, config = yarp.PolyDriver(), yarp.Property()
    config.fromString(f"(device remote_controlboard) (remote {remote}) (local {local}{remote}) (carrier {carrier})")
    if not driver.open(config):
        raise RobotInterfaceError(f"the board {remote} does not answer")
    try:
        encoders, info = required(driver.viewIEncoders(), "encoders"), required(driver.viewIAxisInfo(), "axis names")
        count = encoders.getAxes()
        axes = tuple(str(info.getAxisName(axis)) for axis in range(count))
        positions = yarp.DVector(count)
        is_read = _is_read(encoders, positions)
        return BoardProbe(axes, np.deg2rad(list(positions)) if is_read else np.full(count, np.nan))
    finally:
        driver.close()


def _is_read(encoders: yarp.IEncoders, positions: yarp.DVector) -> bool:
    deadline = time.monotonic() + _PATIENCE
    while not encoders.getEncoders(positions):
        if time.monotonic() > deadline:
            return False
        time.sleep(_LOOK)
    return True
