"""Layer 2 behind messages: a request in, a reply out."""

from __future__ import annotations

import logging
from functools import lru_cache

import numpy as np

from gradiva.common import ConfigError, DcmPreview
from gradiva.contacts import SupportPolygon
from gradiva.middleware import NAMED_ERRORS
from gradiva.walking.model_control import ModelControl
from gradiva.walking.safety import failed_tick
from gradiva.yarp_modules.message_header import MessageHeader
from gradiva.yarp_modules.pendulum_messages import PendulumReply, PendulumRequest
from pureyarp.rate_limited_log import RateLimitedLog


class ModelControlService:
    """Answers requests. What the last tick left behind comes with each request: a restart of either side, or a reply
    that came too late, leaves no trace, and the answer is the same as if layer 2 were in the process that asks.

    Attributes:
        configuration: Fingerprint of its configuration.
        answered: Requests with a decision.
        refused: Requests without.
    """

    def __init__(self, model_control: ModelControl, configuration: str) -> None:
        """Take layer 2 and the fingerprint of its configuration."""
        self._model_control = model_control
        self.configuration = configuration
        self._defects = RateLimitedLog(logging.getLogger("gradiva.module"))
        self.answered = self.refused = 0

    @property
    def failures(self) -> int:
        """How often the DCM law had no solution of its own."""
        return self._model_control.failures

    def answer(self, request: PendulumRequest) -> PendulumReply:
        """Return what layer 2 decides, or why it does not."""
        try:
            reply = self._decide(request)
        except NAMED_ERRORS as error:
            return self.refuse(request.header, str(error))
        except Exception as error:  # answered at once, so that the law of the other side stands in
            what = f"layer 2 failed: {failed_tick(error).text}"
            self._defects.warning("%s", what, trace=True)
            return self.refuse(request.header, what)
        self.answered += 1
        return reply

    def refuse(self, header: MessageHeader, reason: str) -> PendulumReply:
        """Return the reply that tells why there is no decision."""
        self.refused += 1
        return PendulumReply(header, None, None, self.failures, reason)

    def _decide(self, request: PendulumRequest) -> PendulumReply:
        if request.configuration != self.configuration:
            raise ConfigError("layer 2 is configured otherwise here: start both modules with the same --from and --set")
        control = self._model_control
        control.resume(request.memory)
        desired = control.update(
            request.state,
            request.reference,
            _polygon(request.polygon.tobytes()),
            lambda period, count: _preview(request.preview, period, count),
            request.period,
            request.zmp_shift,
            request.measured_zmp,
        )
        return PendulumReply(request.header, desired, control.memory, self.failures)


@lru_cache(maxsize=64)  # one entry a contact phase
def _polygon(corners: bytes) -> SupportPolygon:
    return SupportPolygon(np.frombuffer(corners).reshape(-1, 2))


def _preview(preview: DcmPreview | None, period: float, count: int) -> DcmPreview:
    """Return the preview that came with the request: equal fingerprints make it the one that the law wants."""
    if preview is None:
        raise ConfigError(f"the request has no preview of {count} samples of {period} s")
    return preview
