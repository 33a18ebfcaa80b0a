"""Layer 3 that has an answer where its problem has none."""

from __future__ import annotations

from gradiva.common import JointCommand, NoSolutionFound, RobotState
from gradiva.whole_body import WholeBodyController, WholeBodyReference


class RelaxingWholeBody:
    """For a while comes as near to feet, CoM and joint limits as it can where they contradict each other.

    Attributes:
        failures: In how many ticks they did.
    """

    def __init__(self, controller: WholeBodyController, max_relaxed_ticks: int) -> None:
        self._controller = controller
        self._max_relaxed_ticks = max_relaxed_ticks
        self._relaxed_ticks = 0
        self.failures = 0

    def reset(self) -> None:
        """Begin again."""
        self._relaxed_ticks = 0

    def command(self, state: RobotState, body: WholeBodyReference, period: float) -> JointCommand:
        """Return the command for the coming ``period`` [s].

        Raises:
            NoSolutionFound: There was none for too many ticks in a row.
        """
        try:
            command = self._controller.command(state, body, period)
        except NoSolutionFound:
            self.failures += 1
            self._relaxed_ticks += 1
            if self._relaxed_ticks > self._max_relaxed_ticks:
                raise
            return self._controller.command(state, body, period, relaxed=True)
        self._relaxed_ticks = 0
        return command
