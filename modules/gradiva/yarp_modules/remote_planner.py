"""Layer 1 in another process, as the tick sees it."""

from __future__ import annotations

import logging
import threading
from dataclasses import replace

from gradiva.planner import WalkingPlan
from gradiva.walking import PlanReply, PlanRequest
from gradiva.walking.planning_service import standing_at
from gradiva.yarp_modules.message_header import MessageHeader, Numbering
from gradiva.yarp_modules.message_ports import MessageReader, MessageWriter
from gradiva.yarp_modules.plan_messages import PlanAnswer, PlanQuestion
from pureyarp.rate_limited_log import RateLimitedLog
from pureyarp.wire.elements import Element

_LOGGER = logging.getLogger("gradiva.module")
_REMEMBERED = 4  # plans, the newest last; the one that is walked is among them


class RemotePlanner:
    """A `PlanningService` behind ports. A plan that it continues is told by its number alone, unless the planner asks
    for the plan itself, as one that was restarted does; all of that happens in the thread of the connection.

    Attributes:
        lead: See `PlanningService`.
        patience: See `PlanningService`.
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
        patience: float,
        wait: float = 0.0,
    ) -> None:
        """Take the ports.

        Args:
            configuration: Fingerprint of the configuration of layer 1.
            ports: To ask and to listen.
            lead: Until a plan may begin, [s].
            patience: After which a question is asked again, [s].
            wait: How long `submit` waits for the answer, [s]: in lockstep, where the simulation stands still
                meanwhile, so that runs are alike.
        """
        self.lead = lead
        self.patience = patience
        self._configuration = configuration
        self._writer, self._reader = ports
        self._reader.on_message = self._hear
        self._reader.on_malformed = self._hear_nonsense
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
        if not self._writer.is_heard:
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
            start = standing_at(request.plan.at(request.time))
            return PlanQuestion(header, self._configuration, request.command, start, 0, None)
        known = [number for number, plan in self._plans if plan is request.plan]
        if known:
            return PlanQuestion(header, self._configuration, request.command, None, known[-1], None)
        return PlanQuestion(header, self._configuration, request.command, None, 0, request.plan)

    def _hear(self, answer: PlanAnswer) -> None:
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

    def _hear_nonsense(self, header: MessageHeader, why: str) -> None:
        """Take an answer that is none as a refusal: it will not be another one when it is asked for again."""
        self._hear(PlanAnswer(header, None, f"the planner's answer is refused: {why}"))

    def _keep(self, answer: PlanAnswer, request: PlanRequest) -> None:
        self.answered += 1
        self._question = None
        self._reply = PlanReply(request.number, answer.plan, answer.refusal, answer.is_defect)
        self._lock.notify_all()
        if answer.plan is not None:
            self._plans = [*self._plans[1 - _REMEMBERED :], (answer.header.number, answer.plan)]
