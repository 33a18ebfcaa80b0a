"""Layer 3 that has an answer where its problem has none."""

from __future__ import annotations

from gradiva.common import JointCommand, NoSolutionFound, RobotState
from gradiva.whole_body import WholeBodyController, WholeBodyReference

_ROUNDING = 1e-9  # [s] sums of periods are not exact


class RelaxingWholeBody:
    """For a while comes as near to feet, CoM and joint limits as it can where they contradict each other.

    Attributes:
        failures: In how many ticks they did.
    """

    def __init__(self, controller: WholeBodyController, relaxed_duration: float) -> None:
        self._controller = controller
        self._relaxed_duration = relaxed_duration + _ROUNDING
        self._relaxed_time = 0.0
        self.failures = 0

    def reset(self) -> None:
        """Begin again."""
        self._relaxed_time = 0.0

    def command(self, state: RobotState, body: WholeBodyReference, period: float) -> JointCommand:
        """Return the command for the coming ``period`` [s].

        Raises:
            NoSolutionFound: There has been none for too long.
        """
        try:
            command = self._controller.command(state, body, period)
        except NoSolutionFound:
            self.failures += 1
            self._relaxed_time += period
            if self._relaxed_time > self._relaxed_duration:
                raise
            return self._controller.command(state, body, period, relaxed=True)
        self._relaxed_time = 0.0
        return command
