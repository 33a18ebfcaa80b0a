"""Encoders that jump or say nothing, bridged by where the joints were told to go."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradiva.common import NDArray
from gradiva.walking.safety.persistence import BoolArray, Persistence
from gradiva.walking.safety.safety_event import Finding, SafetyKind


class EncoderBridge:
    r"""Replaces readings that cannot be.

    A position :math:`s_k` is believed while :math:`|s_k - s_{k-1}| \le v \Delta t + m`, with the largest speed
    :math:`v` and a margin :math:`m`; else the joint is taken to do as it was told,
    :math:`s_{k-1} + \int \dot s^* dt`, until the encoder comes back to that. A velocity is believed where the position
    is and was a tick before, for it may be the difference of both, and while :math:`|\dot s_k| \Delta t` keeps the same
    bound: a light joint of a robot that falls is faster than its limit, and its encoder is not wrong.
    """

    def __init__(self, joints: Sequence[str], speeds: NDArray, margin: float, duration: float) -> None:
        """Begin.

        Args:
            joints: Names.
            speeds: Beyond them nothing moves, [rad/s], shape (n,).
            margin: [rad].
            duration: For so long the bridge bears in silence, [s].
        """
        self._joints = joints
        self._speeds = speeds
        self._slowest = float(speeds.min())
        self._margin = margin
        self._persistence = Persistence(np.full(2 * len(joints), duration))
        self.reset()

    def reset(self) -> None:
        """Forget the past: the next positions are believed if they are finite."""
        self._positions: NDArray | None = None
        self._was_wrong: BoolArray | None = None
        self._persistence.reset()

    @property
    def positions(self) -> NDArray | None:
        """The last that were believed or bridged, [rad], shape (n,)."""
        return self._positions

    def predict(self, motion: NDArray) -> NDArray | None:
        """Return, and from now on believe, that the joints moved as told: by ``motion``, [rad], shape (n,)."""
        if self._positions is not None:
            self._positions = self._positions + motion
        return self._positions

    def update(
        self,
        positions: NDArray,
        velocities: NDArray,
        told_motion: NDArray,
        told_velocities: NDArray,
        silence: float,
        time: float,
    ) -> tuple[NDArray, NDArray, list[Finding]]:
        """Return positions and velocities that can be, and what has newly been wrong for too long.

        Args:
            positions: As read, [rad], shape (n,).
            velocities: As read, [rad/s], shape (n,).
            told_motion: By how much the joints were told to move since the last reading, [rad], shape (n,).
            told_velocities: What they were told last, [rad/s], shape (n,).
            silence: Since the last reading, [s].
            time: Of the control clock, [s].
        """
        if self._positions is None:
            if np.isfinite(positions).all() and np.isfinite(velocities).all():
                self._positions = positions
            return positions, velocities, []
        change = positions - self._positions
        if self._was_wrong is None and self._can_be(velocities * silence, silence) and self._can_be(change, silence):
            self._positions = positions
            self._persistence.all_well()
            return positions, velocities, []
        is_wrong = self._is_too_far(change, silence)
        is_none = ~(np.isfinite(velocities) & np.isfinite(positions))
        is_wrong |= is_none
        is_too_fast = self._is_too_far(velocities * silence, silence)
        distrusted = is_too_fast | is_wrong if self._was_wrong is None else is_too_fast | is_wrong | self._was_wrong
        self._was_wrong = is_wrong if is_wrong.any() else None
        self._positions = np.where(is_wrong, self._positions + told_motion, positions)
        is_jump = is_wrong & ~is_none
        lasting = self._persistence.update(np.concatenate([is_none | is_too_fast, is_jump]), time)
        found = [self._finding(index, positions, self._positions) for index in lasting]
        return self._positions, np.where(distrusted, told_velocities, velocities), found

    def _can_be(self, change: NDArray, silence: float) -> bool:
        """Tell whether no joint moved too far; nearly always all together moved less than the slowest may alone."""
        farthest = self._slowest * silence + self._margin
        return bool(change.dot(change) <= farthest * farthest) or not self._is_too_far(change, silence).any()

    def _is_too_far(self, change: NDArray, silence: float) -> BoolArray:
        return ~(np.abs(change) <= self._speeds * silence + self._margin)  # NaN is, too

    def _finding(self, index: int, read: NDArray, bridged: NDArray) -> Finding:
        is_jump, joint = divmod(index, len(self._joints))
        name = self._joints[joint]
        if is_jump:
            off = read[joint] - bridged[joint]
            text = f"the encoder of {name} jumped by {off:+.2f} rad and did not come back"
            return Finding(SafetyKind.ENCODER_JUMP, name, text)
        return Finding(SafetyKind.SENSOR_NOT_FINITE, name, f"the encoder of {name} gives no usable reading any more")
