r"""The ZMP of a robot of which one foot's sensors are wrong.

The good foot carries :math:`f` with its centre of pressure at :math:`c`; both carry the weight :math:`W`. Where the bad
foot stands as well, it bears the rest, taken to act where the plan likes it to be loaded, :math:`p`:

.. math:: z = \frac{f c + (W - f) p}{W}

Where it swings, :math:`z = c`. Where it stands alone nothing is known, nor where both are bad; the ZMP may then be
taken to be where it should be. In simulation that alone is not enough to finish a step: without feedback of the ZMP
half of the robots fall, with this one none.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from gradiva.common import NDArray, RobotState, Side, WalkingReference, altered
from gradiva.walking.planning_service import foot_pose


class ZmpWithoutFoot:
    """Measures the ZMP by the feet that are trusted."""

    def __init__(self, weight: float, zmp_offset: tuple[float, float], minimum_load: float) -> None:
        """Take what does not change.

        Args:
            weight: Of the robot, [N].
            zmp_offset: Where the left foot likes to be loaded, in its frame, mirrored for the right one, [m].
            minimum_load: Below it a foot has no centre of pressure, [N].
        """
        self._weight = weight
        self._zmp_offset = zmp_offset
        self._minimum_load = minimum_load

    def corrected(self, state: RobotState, reference: WalkingReference, untrusted: Collection[Side]) -> RobotState:
        """Return the state with the ZMP of the trusted feet; itself while all are trusted."""
        if not untrusted:
            return state
        zmp = self.zmp(state, reference, untrusted)
        if zmp is None:
            return altered(state, zmp_is_measured=False)
        return altered(state, zmp_position=zmp)

    def zmp(self, state: RobotState, reference: WalkingReference, untrusted: Collection[Side]) -> NDArray | None:
        """Return the ZMP (world, [m], shape (2,)), the estimated one while all feet are trusted; None if unknown."""
        if not untrusted:
            return state.zmp_position
        if len(untrusted) == len(Side):
            return None
        (bad,) = untrusted
        good = bad.other
        if not reference.foot(good).in_contact:
            return None
        wrench = state.foot_wrench(good)
        load = min(float(wrench[2]), self._weight)
        is_loaded = load >= self._minimum_load
        centre = state.foot_position(good)[:2] + np.array([-wrench[4], wrench[3]]) / wrench[2] if is_loaded else None
        if not reference.foot(bad).in_contact:
            return centre
        likely = np.array(foot_pose(reference, bad).zmp_point(bad, self._zmp_offset))
        return likely if centre is None else (load * centre + (self._weight - load) * likely) / self._weight
