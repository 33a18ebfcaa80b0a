"""Layer 1 in another process: its messages, the service that answers them, and the planner as the tick sees it."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace

from gradiva.common import ConfigError
from gradiva.middleware import NAMED_ERRORS, Element, RateLimitedLog
from gradiva.planner import Command, PlanningState, RetargetedSwing, SwingFoot, WalkingPlan, WalkingPlanner
from gradiva.planner.dcm_trajectory import PendulumTrajectory
from gradiva.planner.footsteps import DcmTrajectory, Swing
from gradiva.planner.varying_height_trajectory import VaryingHeightTrajectory
from gradiva.safety import failed_tick
from gradiva.walking import PlanReply, PlanRequest
from gradiva.walking.planning_service import standing_at
from gradiva.yarp_modules.message_codec import MessageCodec
from gradiva.yarp_modules.message_ports import MessageHeader, MessageReader, MessageWriter, Numbering

_OTHER_CONFIGURATION = "layer 1 is configured otherwise here: start both modules with the same --from and --set"
_PLANS_OF_SERVICE = 8  # plans; the one that is walked is among the last two or three
_LOGGER = logging.getLogger("gradiva.module")
_PLANS_OF_CLIENT = 4  # plans, the newest last; the one that is walked is among them


@dataclass(frozen=True, slots=True, eq=False)
class PlanQuestion:
    """Asks for a plan; ``/planner/request:i``.

    A plan that is continued is identified by its number: the planner remembers the last ones that it made. One that
    does not know it, because it was restarted, answers so and is sent the plan itself.

    Attributes:
        header: Its time is the one up to which the present plan is walked.
        configuration: Fingerprint of the configuration of layer 1.
        command: Goal, path or velocity; places in the world of the plan.
        start: Where the robot stands; None while steps are under way.
        continued: Number of the question whose answer is the present plan; 0 where ``start`` or ``plan`` is given.
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
    """Carries a plan, or the reason why there is none; ``/planner/plan:o``.

    Attributes:
        header: That of the question.
        plan: None where no plan fulfils the command.
        refusal: Why there is none.
        wants_plan: The plan to be continued is not known here: ask again, and send it.
        is_defect: Whether the planner raised an unexpected exception, which is no refusal of the command.
    """

    header: MessageHeader
    plan: WalkingPlan | None
    refusal: str = ""
    wants_plan: bool = False
    is_defect: bool = False


def plan_codec() -> MessageCodec:
    """Return the codec of questions and answers."""
    return MessageCodec(
        {DcmTrajectory: (PendulumTrajectory, VaryingHeightTrajectory), Swing: (SwingFoot, RetargetedSwing)}
    )


class PlannerService:
    """Answers questions; remembers the last plans, for a plan is continued by the next one.

    Attributes:
        configuration: Fingerprint of its configuration.
        answered: Questions with a plan.
        refused: Questions without.
    """

    def __init__(self, planner: WalkingPlanner, configuration: str) -> None:
        """Take layer 1 and the fingerprint of its configuration."""
        self._planner = planner
        self.configuration = configuration
        self._plans: OrderedDict[tuple[int, int], WalkingPlan] = OrderedDict()
        self._defects = RateLimitedLog(logging.getLogger("gradiva.module"))
        self.answered = self.refused = 0

    def answer(self, question: PlanQuestion) -> PlanAnswer:
        """Return a plan, or the reason why there is none."""
        header = question.header
        if question.configuration != self.configuration:
            return self.refuse(header, _OTHER_CONFIGURATION)
        continued = question.plan or self._plans.get((header.session, question.continued))
        if continued is None and question.start is None:
            return PlanAnswer(header, None, "the plan to be continued is not known here", wants_plan=True)
        try:
            plan = self._planned(question, continued)
        except NAMED_ERRORS as error:
            return self.refuse(header, str(error))
        except Exception as error:
            what = f"the planner failed: {failed_tick(error).text}"
            self._defects.warning("%s", what, trace=True)
            return replace(self.refuse(header, what), is_defect=True)
        self.answered += 1
        self._remember((header.session, header.number), plan)
        return PlanAnswer(header, plan)

    def refuse(self, header: MessageHeader, reason: str) -> PlanAnswer:
        """Return the answer without a plan, and count it."""
        self.refused += 1
        return PlanAnswer(header, None, reason)

    def _planned(self, question: PlanQuestion, continued: WalkingPlan | None) -> WalkingPlan:
        if question.start is not None:
            return self._planner.plan(question.command, question.start)
        if continued is None:
            raise ConfigError("neither a start nor a plan to be continued")
        return self._planner.replan(continued, question.command, question.header.time)

    def _remember(self, number: tuple[int, int], plan: WalkingPlan) -> None:
        self._plans[number] = plan
        while len(self._plans) > _PLANS_OF_SERVICE:
            self._plans.popitem(last=False)


class RemotePlanner:
    """A `PlanningService` behind ports. A plan that it continues is sent as its number alone, unless the planner asks
    for the plan itself, as one that was restarted does; all of that happens in the thread of the connection.

    Attributes:
        lead: See `PlanningService`.
        timeout: See `PlanningService`.
        asked: Questions.
        answered: Answers to the last question.
        late: Answers to earlier ones.
        sent_plans: How often the planner did not know the plan to be continued.
    """

    def __init__(
        self,
        configuration: str,
        ports: tuple[MessageWriter[PlanQuestion], MessageReader[PlanAnswer]],
        lead: float,
        timeout: float,
        wait: float = 0.0,
    ) -> None:
        """Take the ports.

        Args:
            configuration: Fingerprint of the configuration of layer 1.
            ports: To ask and to listen.
            lead: Until a plan may begin, [s].
            timeout: After which a question is asked again, [s].
            wait: How long `submit` waits for the answer, [s]: in lockstep, where the simulation stands still
                meanwhile, so that runs are alike.
        """
        self.lead = lead
        self.timeout = timeout
        self._configuration = configuration
        self._writer, self._reader = ports
        self._reader.on_message = self._take_answer
        self._reader.on_malformed = self._note_malformed
        self._numbering = Numbering()
        self._lock = threading.Condition()
        self._wait = wait
        self._question: tuple[PlanQuestion, PlanRequest] | None = None
        self._reply: PlanReply | None = None
        self._plans: list[tuple[int, WalkingPlan]] = []
        self._silence = RateLimitedLog(_LOGGER, 5.0)
        self.asked = self.answered = self.late = self.sent_plans = 0

    def submit(self, request: PlanRequest) -> None:
        """See ``PlanningService.submit``."""
        with self._lock:
            question = self._question_for(request)
            self._question, self._reply = (question, request), None
            self.asked += 1
        if not self._writer.has_readers:
            self._silence.warning("the planner is not connected; the present plan goes on to its end")
            return
        self._writer.write(question)
        if self._wait > 0.0:
            with self._lock:
                self._lock.wait_for(lambda: self._question is None, self._wait)

    def poll(self) -> PlanReply | None:
        """See ``PlanningService.poll``."""
        with self._lock:
            reply, self._reply = self._reply, None
            return reply

    def report(self) -> list[Element]:
        """Return how the exchange goes as pairs (name value)."""
        counts: list[Element] = [[name, getattr(self, name)] for name in ("asked", "answered", "late", "sent_plans")]
        return [*counts, *self._reader.report()]

    def _question_for(self, request: PlanRequest) -> PlanQuestion:
        header = self._numbering.next(request.time)
        if not request.is_moving:
            start = standing_at(request.plan, request.time)
            return PlanQuestion(header, self._configuration, request.command, start, 0, None)
        known = [number for number, plan in self._plans if plan is request.plan]
        if known:
            return PlanQuestion(header, self._configuration, request.command, None, known[-1], None)
        return PlanQuestion(header, self._configuration, request.command, None, 0, request.plan)

    def _take_answer(self, answer: PlanAnswer) -> None:
        """Take an answer; called in the thread of the connection."""
        with self._lock:
            if self._question is None or answer.header != self._question[0].header:
                self.late += 1
                return
            question, request = self._question
            if answer.wants_plan:
                question = replace(question, header=self._numbering.next(request.time), plan=request.plan)
                self._question = question, request
                self.sent_plans += 1
            else:
                self._keep(answer, request)
                return
        self._writer.write(question)

    def _note_malformed(self, header: MessageHeader, why: str) -> None:
        """Take a malformed answer as a refusal: asking again would bring the same one."""
        self._take_answer(PlanAnswer(header, None, f"the planner's answer is refused: {why}"))

    def _keep(self, answer: PlanAnswer, request: PlanRequest) -> None:
        self.answered += 1
        self._question = None
        self._reply = PlanReply(request.number, answer.plan, answer.refusal, answer.is_defect)
        self._lock.notify_all()
        if answer.plan is not None:
            self._plans = [*self._plans[1 - _PLANS_OF_CLIENT :], (answer.header.number, answer.plan)]
