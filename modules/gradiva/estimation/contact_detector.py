"""Whether a foot carries load."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.common import ConfigError, FootReference


@dataclass(frozen=True, slots=True)
class ContactDetectorConfig:
    """Forces between which a contact keeps what it was.

    Attributes:
        touch_force: Normal force from which a foot is in contact, [N].
        release_force: Normal force below which it no longer is, [N].
        force_time_constant: Of the low pass on the normal force, 0 for none, [s].
    """

    touch_force: float
    release_force: float
    force_time_constant: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.release_force < self.touch_force:
            raise ConfigError(
                f"release_force={self.release_force}, touch_force={self.touch_force}: needs 0 ≤ release < touch"
            )
        if self.force_time_constant < 0.0:
            raise ConfigError(f"force_time_constant={self.force_time_constant}, must not be negative")


class ContactDetector:
    """Contact by the plan and by the force.

    A foot touches when the force says so and the plan has it stand or come down: a foot that meets the ground early
    stands. It is released when its force is gone, whatever the plan says, or when the plan lifts it.
    """

    def __init__(self, config: ContactDetectorConfig) -> None:
        self._config = config
        self.reset()

    def reset(self) -> None:
        """Forget the past: the foot is in the air."""
        self.is_active = False
        self._was_planned = False

    def update(self, force: float, reference: FootReference) -> bool:
        """Return whether the foot carries load.

        Args:
            force: Normal force of the ground on the foot, [N].
            reference: What the plan wants of the foot.
        """
        is_lifted = self._was_planned and not reference.in_contact
        self._was_planned = reference.in_contact
        if self.is_active:
            self.is_active = force >= self._config.release_force and not is_lifted
        else:
            comes_down = reference.in_contact or float(reference.twist[2]) < 0.0
            self.is_active = comes_down and force > self._config.touch_force
        return self.is_active
