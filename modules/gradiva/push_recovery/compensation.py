"""Compensation: what layer 2 and the steps see of a pushed robot."""

from __future__ import annotations

import math

import numpy as np

from gradiva.common import RobotState, WalkingReference, altered, so3
from gradiva.simplified_model import LinearInvertedPendulum

_TINY = 1e-300  # [m] an offset of zero is divided by
_SIDEWAYS = 0.5  # [-] a push is one to the side whose offset there is at least so much of that ahead or back


class PushCompensation:
    """Shifts CoM and DCM of a pushed robot to those of a pendulum that nothing pushes but that falls alike.

    Laws and step adaptation that know no external force then balance against one that lasts: the ZMP leans against the
    push at once, the CoM goes there as well, and footholds and their times are those with which the walk goes on under
    the push.
    """

    def __init__(self, pendulum: LinearInvertedPendulum, mass: float, dead_band: float) -> None:
        """Take the pendulum, the robot's mass [kg] and the part of an offset that is not compensated [m]."""
        self._pendulum, self._mass, self._dead_band = pendulum, mass, dead_band

    def reset(self) -> None:
        """Forget the push."""

    def compensated(self, state: RobotState, reference: WalkingReference) -> RobotState:
        """Return the state of the other pendulum, without a wrench; itself where no wrench is estimated."""
        if state.external_wrench is None:
            return state
        offset = self._pendulum.wrench_offset(state.external_wrench, self._mass)
        size = math.hypot(*offset)
        offset *= max(0.0, 1.0 - self._dead_band / max(size, _TINY))
        com_position = state.com_position + np.append(offset, 0.0)
        dcm_position = state.dcm_position + offset
        return altered(state, com_position=com_position, dcm_position=dcm_position, external_wrench=None)


class SidewaysCompensation(PushCompensation):
    r"""Compensates a push to the side as ``PushCompensation`` does; the rest of the wrench is for a law that takes it.

    A sole is long: the ZMP holds a push ahead or back, and a law that knows the wrench keeps the CoM where it was
    planned. It is narrow: a push to the side is compensated, so that the step answers at once, and the CoM leans
    against the push from then on. Not so one that begins in single support away from the swinging foot: no step goes
    there, and the plan leads the DCM the other way. A push stays what it was when it began: what a landing adds to the
    estimate changes nothing.

    With y the horizontal axis to the left of the robot, :math:`d_y` the offset of the ZMP by the wrench
    :math:`(F, n)` along it, :math:`d_0` the dead band and :math:`a = \max(0, 1 - d_0 / |d_y|)`, CoM and DCM are shifted
    by :math:`a d_y y`, and of the wrench :math:`a F_y` and :math:`a n_x`, which cause that, are taken away.
    """

    def __init__(self, pendulum: LinearInvertedPendulum, mass: float, dead_band: float, push_offset: float) -> None:
        """Take the same, and the offset of the ZMP beyond which the wrench is a push [m]; it ends at half of it."""
        super().__init__(pendulum, mass, dead_band)
        self._push_offset = push_offset
        self.reset()

    def reset(self) -> None:
        """See ``PushCompensation``."""
        self._is_sideways: bool | None = None  # of the push that lasts; None: there is none

    def compensated(self, state: RobotState, reference: WalkingReference) -> RobotState:
        """Return the state of the other pendulum, with what is left of the wrench."""
        wrench = state.external_wrench
        if wrench is None:
            return state
        ahead = so3.rotation_z(reference.heading)[:2, 0]
        left = np.array((-ahead[1], ahead[0]))
        offset = self._pendulum.wrench_offset(wrench, self._mass)
        lateral, size = float(left @ offset), math.hypot(*offset)
        if size < (self._push_offset if self._is_sideways is None else 0.5 * self._push_offset):
            self._is_sideways = None
        elif self._is_sideways is None:
            away = not reference.is_double_support and lateral * reference.stance_foot.sign > 0.0
            self._is_sideways = not away and abs(lateral) >= _SIDEWAYS * abs(float(ahead @ offset))
        if not self._is_sideways:
            return state
        part = max(0.0, 1.0 - self._dead_band / max(abs(lateral), _TINY))
        rest, shift = wrench.copy(), part * lateral * left
        rest[:2] -= part * (left @ wrench[:2]) * left
        rest[3:5] -= part * (ahead @ wrench[3:5]) * ahead
        com_position, dcm_position = state.com_position + np.append(shift, 0.0), state.dcm_position + shift
        return altered(state, com_position=com_position, dcm_position=dcm_position, external_wrench=rest)
