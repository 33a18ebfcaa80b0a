"""Layer 3 that has an answer where its problem has none."""

from __future__ import annotations

from gradiva.common import JointCommand, NoSolutionFound, RobotState
from gradiva.safety.events import Finding, SafetyKind
from gradiva.whole_body import WholeBodyController, WholeBodyReference

_ROUNDING = 1e-9  # [s] sums of periods are not exact


class RelaxingWholeBody:
    """For a while comes as near to feet, CoM and joint limits as it can where they contradict each other.

    Attributes:
        failures: In how many ticks they did.
        contradiction: Why the last command only comes near what was asked, with the name of the task that is the
            hardest to meet; None where it is what was asked.
    """

    def __init__(self, controller: WholeBodyController, relaxed_duration: float) -> None:
        self._controller = controller
        self._relaxed_duration = relaxed_duration + _ROUNDING
        self._relaxed_time = 0.0
        self.failures = 0
        self.contradiction: NoSolutionFound | None = None

    def reset(self) -> None:
        """Begin again."""
        self._relaxed_time = 0.0
        self.contradiction = None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """That the last tick was relaxed, and for which task."""
        if self.contradiction is None:
            return ()
        return (Finding(SafetyKind.RELAXED, self.contradiction.task or "", f"relaxed, {self.contradiction}"),)

    def command(self, state: RobotState, body: WholeBodyReference, period: float) -> JointCommand:
        """Return the command for the coming ``period`` [s].

        Raises:
            NoSolutionFound: There has been none for too long.
        """
        self.contradiction = None
        try:
            command = self._controller.command(state, body, period)
        except NoSolutionFound as error:
            self.contradiction = error
            self.failures += 1
            self._relaxed_time += period
            if self._relaxed_time > self._relaxed_duration:
                raise
            return self._controller.command(state, body, period, relaxed=True)
        self._relaxed_time = 0.0
        return command
