"""Layer 1 behind messages: a question in, an answer out."""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import replace

from gradiva.common import ConfigError
from gradiva.middleware import NAMED_ERRORS
from gradiva.planner import WalkingPlan, WalkingPlanner
from gradiva.walking.safety import failed_tick
from gradiva.yarp_modules.message_header import MessageHeader
from gradiva.yarp_modules.plan_messages import PlanAnswer, PlanQuestion
from pureyarp.rate_limited_log import RateLimitedLog

_OTHERWISE = "layer 1 is configured otherwise here: start both modules with the same --from and --set"
_REMEMBERED = 8  # plans; the one that is walked is among the last two or three


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
        """Return a plan, or why there is none."""
        header = question.header
        if question.configuration != self.configuration:
            return self.refuse(header, _OTHERWISE)
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
        """Return the answer that tells why there is no plan."""
        self.refused += 1
        return PlanAnswer(header, None, reason)

    def _planned(self, question: PlanQuestion, continued: WalkingPlan | None) -> WalkingPlan:
        if question.start is not None:
            return self._planner.walk(question.command, question.start)
        if continued is None:
            raise ConfigError("neither a start nor a plan to be continued")
        return self._planner.replan(continued, question.command, question.header.time)

    def _remember(self, number: tuple[int, int], plan: WalkingPlan) -> None:
        self._plans[number] = plan
        while len(self._plans) > _REMEMBERED:
            self._plans.popitem(last=False)
