"""What can be seen of a walking controller."""

from __future__ import annotations

from gradiva.common import JointCommand, RobotState, WalkingReference
from gradiva.planner import WalkingPlan
from gradiva.safety import SafetyEvent
from gradiva.simplified_model import BalanceReference
from gradiva.walking.plan_follower import PlanFollower
from gradiva.walking.relaxing_whole_body import RelaxingWholeBody
from gradiva.walking.walking_layers import WalkingLayers
from gradiva.walking.walking_log import WalkingLog
from gradiva.walking.walking_state import WalkingState, WalkingStateMachine


class WalkingReport:
    """The read-only side of `WalkingController`."""

    _layers: WalkingLayers
    _machine: WalkingStateMachine
    _follower: PlanFollower
    _whole_body: RelaxingWholeBody

    @property
    def state(self) -> WalkingState:
        """Where the walk is."""
        return self._machine.state

    @property
    def is_balancing(self) -> bool:
        """Whether the control loop runs."""
        return self._machine.is_balancing

    @property
    def reason(self) -> str:
        """Why it is there."""
        return self._machine.reason

    @property
    def plan(self) -> WalkingPlan | None:
        """The present plan; None before the robot is prepared."""
        return self._follower.plan

    @property
    def is_planning(self) -> bool:
        """Whether it is not known yet if the last command of ``walk`` can be fulfilled."""
        return self._follower.is_planning_command

    @property
    def plan_refusal(self) -> str:
        """Why the last command of ``walk`` cannot be fulfilled; empty where it can, or is not known yet."""
        return self._follower.refusal

    @property
    def safety_events(self) -> tuple[SafetyEvent, ...]:
        """All that went wrong so far."""
        return tuple(self._layers.safety.events)

    @property
    def qp_failures(self) -> int:
        """In how many ticks layer 3 had no solution."""
        return self._whole_body.failures

    @property
    def model_failures(self) -> int:
        """How often layer 2 had to fall back on its instantaneous law."""
        return self._layers.model_control.failures

    def _log(
        self,
        time: float,
        command: JointCommand,
        reference: WalkingReference | None = None,
        state: RobotState | None = None,
        desired: BalanceReference | None = None,
    ) -> WalkingLog:
        if desired is None:
            return WalkingLog(time, self._machine.state, self._machine.reason, command, reference, state)
        whole_body, contradiction = self._layers.whole_body, self._whole_body.contradiction
        return WalkingLog(
            time,
            self._machine.state,
            self._machine.reason,
            command,
            reference,
            state,
            desired,
            whole_body.desired_joint_positions,
            whole_body.desired_velocity[6:],
            "" if contradiction is None else contradiction.task or "",
        )
