"""What whole body asks the planner, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.planner import Command, PlanningState, WalkingPlan
from gradiva.planner.dcm_trajectory import DcmTrajectory
from gradiva.planner.pendulum_trajectory import PendulumTrajectory
from gradiva.planner.varying_height_trajectory import VaryingHeightTrajectory
from gradiva.yarp_modules.message_codec import MessageCodec
from gradiva.yarp_modules.message_header import MessageHeader


@dataclass(frozen=True, slots=True, eq=False)
class PlanQuestion:
    """Asks for a plan; ``/planner/request:i``.

    A plan that is continued is told by its number: the planner remembers the last ones that it made. Where it does
    not, because it was restarted, it says so and is sent the plan itself.

    Attributes:
        header: Its time is the one up to which the present plan is walked.
        configuration: Fingerprint of the configuration of layer 1.
        command: What to fulfil, places in the world of the plan.
        start: Where the robot stands; None while steps are under way.
        continued: Number of the question whose answer is the plan that is walked; 0 where ``start`` or ``plan`` tell.
        plan: The plan that is walked, for a planner that does not know it.
    """

    header: MessageHeader
    configuration: str
    command: Command
    start: PlanningState | None
    continued: int
    plan: WalkingPlan | None


@dataclass(frozen=True, slots=True, eq=False)
class PlanAnswer:
    """A plan, or why there is none; ``/planner/plan:o``.

    Attributes:
        header: That of the question.
        plan: None where no plan fulfils the command.
        refusal: Why there is none.
        wants_plan: The plan to be continued is not known here: ask again, and send it.
        is_defect: Whether the planner raised what it should not, so that it is no refusal of the command.
    """

    header: MessageHeader
    plan: WalkingPlan | None
    refusal: str = ""
    wants_plan: bool = False
    is_defect: bool = False


def plan_codec() -> MessageCodec:
    """Return what packs and unpacks questions and answers."""
    return MessageCodec({DcmTrajectory: (PendulumTrajectory, VaryingHeightTrajectory)})
