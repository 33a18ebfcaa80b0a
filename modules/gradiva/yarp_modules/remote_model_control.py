"""Layer 2 in another process: its messages, the service that answers them, and model control as the tick sees it."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from gradiva.common import (
    ConfigError,
    DcmPreview,
    NDArray,
    NoSolutionFound,
    PlannedContact,
    RobotState,
    Side,
    WalkingReference,
    freeze_arrays,
)
from gradiva.contacts import SupportPolygon
from gradiva.middleware import NAMED_ERRORS, Element, RateLimitedLog
from gradiva.safety import failed_tick
from gradiva.simplified_model import (
    BalanceConfig,
    BalanceLayer,
    BalanceMemory,
    BalancePlan,
    BalanceReference,
    fallback_layer,
)
from gradiva.yarp_modules.message_ports import ExchangeRecord, MessageHeader, MessageReader, MessageWriter, Numbering

_LOGGER = logging.getLogger("gradiva.module")
_CONTACT = 15  # numbers of a contact in a message


@dataclass(frozen=True, slots=True, eq=False)
class BalanceRequest:
    """Carries all inputs of layer 2 in one tick; ``/model-control/state:i``.

    Attributes:
        header: Its number is that of the tick.
        configuration: Fingerprint of the configuration of layer 2.
        state: Estimated.
        reference: The plan now.
        polygon: Corners of the feet that the plan has on the ground, world, [m], shape (m, 2).
        preview: The plan from now on, sampled over the horizon of the law; None for a law that reads none.
        period: Until the next tick, [s].
        zmp_shift: See ``BalancePlan``, world, [m], shape (2,).
        memory: State of layer 2 after the last tick, of the other process or of the fallback; None: begin again.
        contacts: When and where the soles are on the ground over the horizon of the law; empty for one that reads none.
            As numbers, which cost a tenth of the time of messages: 1 for the left foot, touch-down and lift-off [s],
            position [m], rotation row by row; lift-off before touch-down: the foot stays. Shape (n, 15).
        dcm_ahead: The planned DCM, sampled over the horizon of the law; empty for one that reads none, [m], (n, 2).
        timeout: That the tick waits for the answer, [s].
    """

    header: MessageHeader
    configuration: str
    state: RobotState
    reference: WalkingReference
    polygon: NDArray
    preview: DcmPreview | None
    period: float
    zmp_shift: NDArray
    memory: BalanceMemory | None
    contacts: NDArray
    dcm_ahead: NDArray
    timeout: float

    def __post_init__(self) -> None:
        freeze_arrays(self, polygon=(None, 2), zmp_shift=(2,), contacts=(None, _CONTACT), dcm_ahead=(None, 2))


@dataclass(frozen=True, slots=True, eq=False)
class BalanceReply:
    """Carries the decision of layer 2; ``/model-control/desired:o``.

    Attributes:
        header: That of the request.
        desired: None where there is no decision.
        memory: State of layer 2 now; goes with the next request.
        failures: How often the DCM law had no solution of its own since this model control began.
        refusal: Reason why there is no decision; empty where there is one.
    """

    header: MessageHeader
    desired: BalanceReference | None
    memory: BalanceMemory | None
    failures: int
    refusal: str = ""


class ModelControlService:
    """Answers requests. The state after the last tick comes with each request: a restart of either side, or a reply
    that came too late, changes nothing, and the answer is the same as if layer 2 were in the process that asks.

    Attributes:
        configuration: Fingerprint of its configuration.
        answered: Requests with a decision.
        refused: Requests without.
    """

    def __init__(self, model_control: BalanceLayer, configuration: str) -> None:
        """Take layer 2 and the fingerprint of its configuration."""
        self._model_control = model_control
        self.configuration = configuration
        self._defects = RateLimitedLog(logging.getLogger("gradiva.module"))
        self.answered = self.refused = 0

    @property
    def failures(self) -> int:
        """Number of ticks in which the DCM law had no solution of its own."""
        return self._model_control.failures

    def answer(self, request: BalanceRequest) -> BalanceReply:
        """Return the decision of layer 2, or the reason why there is none."""
        try:
            reply = self._decide(request)
        except NAMED_ERRORS as error:
            return self.refuse(request.header, str(error))
        except Exception as error:  # answered at once, so that the fallback of the other side balances
            what = f"layer 2 failed: {failed_tick(error).text}"
            self._defects.warning("%s", what, trace=True)
            return self.refuse(request.header, what)
        self.answered += 1
        return reply

    def refuse(self, header: MessageHeader, reason: str) -> BalanceReply:
        """Return the reply without a decision, and count it."""
        self.refused += 1
        return BalanceReply(header, None, None, self.failures, reason)

    def _decide(self, request: BalanceRequest) -> BalanceReply:
        if request.configuration != self.configuration:
            raise ConfigError(
                "layer 2 is configured otherwise here: start both modules with the same --from and --set, as"
                " gradiva app run --set TABLE.KEY=VALUE does"
            )
        control = self._model_control
        control.time_limit = request.timeout
        control.resume(request.memory)
        plan = BalancePlan(
            request.reference,
            _polygon(request.polygon.tobytes()),
            lambda period, count: _preview(request.preview, period, count),
            request.zmp_shift,
            lambda _: _contacts(request.contacts),
            lambda period, count: _dcm_ahead(request.dcm_ahead, period, count),
        )
        desired = control.update(request.state, plan, request.reference.time, request.period)
        if control.warning:
            raise NoSolutionFound("layer 2", control.warning)
        return BalanceReply(request.header, desired, control.memory, self.failures)


@lru_cache(maxsize=64)  # one entry a contact phase
def _polygon(corners: bytes) -> SupportPolygon:
    return SupportPolygon(np.frombuffer(corners).reshape(-1, 2))


def _preview(preview: DcmPreview | None, period: float, count: int) -> DcmPreview:
    """Return the preview that came with the request: equal fingerprints make it the one that the law wants."""
    if preview is None:
        raise ConfigError(f"the request has no preview of {count} samples of {period} s")
    return preview


def _dcm_ahead(samples: NDArray, period: float, count: int) -> NDArray:
    """Return the samples of the DCM that came with the request."""
    if len(samples) != count + 1:
        raise ConfigError(f"the request has {len(samples)} samples of the DCM, not {count + 1} every {period} s")
    return samples


def _rows(contacts: tuple[PlannedContact, ...]) -> NDArray:
    """Return contacts as they are sent, see ``BalanceRequest``."""
    rows = np.empty((len(contacts), _CONTACT))
    for row, contact in zip(rows, contacts, strict=True):
        begin, end = contact.begin, contact.end
        row[:3] = contact.side is Side.LEFT, begin, begin - 1.0 if end is None else end
        row[3:6], row[6:] = contact.position, contact.rotation.ravel()
    return rows


def _contacts(rows: NDArray) -> tuple[PlannedContact, ...]:
    """Return the contacts that were sent as rows."""
    contacts = list[PlannedContact]()
    for row in rows:
        is_left, begin, end = row[:3].tolist()
        side, until = Side.LEFT if is_left else Side.RIGHT, end if end >= begin else None
        contacts.append(PlannedContact(side, begin, until, row[3:6], row[6:].reshape(3, 3)))
    return tuple(contacts)


class RemoteModelControl(BalanceLayer):
    """Asks model control in each tick and waits a fraction of the period for it; without an answer a fallback balances.

    The fallback is the instantaneous law in this process. The state of layer 2 goes to and fro with the messages, so
    that the other process and the fallback take over from each other without a jump. A few ticks by the fallback
    are tolerated. More in a row are a finding (the robot finishes the step and stands); from then on no tick waits
    until an answer comes again, be it a late one.

    Attributes:
        warning: Why it is not answering; empty while it is.
        failures: How often the DCM law of the other process had no solution of its own.
        fallback_ticks: Ticks without an answer in time.
        record: Of the exchange.
    """

    def __init__(
        self,
        config: BalanceConfig,
        configuration: str,
        ports: tuple[MessageWriter[BalanceRequest], MessageReader[BalanceReply]],
        timeout: float,
        max_silent_ticks: int,
    ) -> None:
        """Take the ports.

        Args:
            config: Of layer 2: makes the fallback, and says over which horizon the plan is sampled.
            configuration: Its fingerprint.
            ports: To ask and to listen.
            timeout: That a tick waits for the answer, [s].
            max_silent_ticks: In a row without an answer that are tolerated.
        """
        self._horizon, self._dcm_horizon = config.horizon, config.dcm_horizon
        self._contact_horizon = config.contact_horizon
        self._fallback = fallback_layer(config)
        self._configuration = configuration
        self._writer, self._reader = ports
        self._reader.on_malformed = self._note_malformed
        self._malformed = ""  # why the last answer was malformed; empty after a good one
        self._timeout = timeout
        self._max_silent_ticks = max_silent_ticks
        self._numbering = Numbering()
        self._memory: BalanceMemory | None = None
        self._silent_ticks = 0
        self._is_worth_waiting = True
        self.warning = ""
        self.failures = 0
        self.fallback_ticks = 0
        self.record = ExchangeRecord()

    @property
    def is_answering(self) -> bool:
        """Return whether there was an answer in time lately."""
        return self.record.answered > 0 and self._silent_ticks <= self._max_silent_ticks

    def reset(self) -> None:
        """Begin again: the next commanded CoM starts on its reference."""
        self._memory = None

    def update(self, state: RobotState, plan: BalancePlan, time: float, period: float) -> BalanceReference:
        """See ``BalanceLayer.update``."""
        reply = self._exchange(self._request(state, plan, period))
        if reply is not None and reply.desired is not None:
            self._memory, self.failures = reply.memory, reply.failures
            return reply.desired
        self._fallback.resume(self._memory)
        desired = self._fallback.update(state, plan, time, period)
        self._memory = self._remembered(desired)
        return desired

    def report(self) -> list[Element]:
        """Return how the exchange goes as pairs (name value)."""
        return [*self.record.items(), ["fallback_ticks", self.fallback_ticks], *self._reader.report()]

    def _request(self, state: RobotState, plan: BalancePlan, period: float) -> BalanceRequest:
        return BalanceRequest(
            self._numbering.next(plan.reference.time),
            self._configuration,
            state,
            plan.reference,
            plan.polygon.vertices,
            None if self._horizon is None else plan.preview(*self._horizon),
            period,
            plan.zmp_shift,
            self._memory,
            _rows(() if self._contact_horizon is None else plan.contacts(self._contact_horizon)),
            np.zeros((0, 2)) if self._dcm_horizon is None else plan.dcm_ahead(*self._dcm_horizon),
            self._timeout,
        )

    def _exchange(self, request: BalanceRequest) -> BalanceReply | None:
        """Return the answer in time, or None."""
        begin = time.perf_counter()
        self._writer.write(request)
        self.record.asked += 1
        is_connected = self._writer.has_readers and self._reader.has_source
        timeout = self._timeout if is_connected and self._is_worth_waiting else 0.0
        self._is_worth_waiting = self._silent_ticks < self._max_silent_ticks  # for the next tick; or any answer now
        reply = self._reply_to(request, timeout)
        if reply is None:
            why = self._malformed or "it did not answer in time"
            self._note_silence(why if is_connected else "it is not connected")
        elif reply.desired is None:
            self.record.refused += 1
            self._note_silence(reply.refusal)
        else:
            self.record.note_answer(time.perf_counter() - begin)
            self._note_answer()
        return reply

    def _reply_to(self, request: BalanceRequest, timeout: float) -> BalanceReply | None:
        end = time.monotonic() + timeout
        while (reply := self._reader.take(max(0.0, end - time.monotonic()))) is not None:
            if reply.header == request.header:
                return reply
            self.record.late += 1
            self._is_worth_waiting |= reply.header.session == request.header.session
        return None

    def _note_malformed(self, header: MessageHeader, why: str) -> None:
        """Keep why an answer was refused; called in the thread of the connection."""
        self._malformed = f"its answer is refused: {why}"

    def _note_silence(self, why: str) -> None:
        self.record.missed += 1
        self.fallback_ticks += 1
        self._silent_ticks += 1
        if self._silent_ticks <= self._max_silent_ticks:
            return
        if not self.warning:
            self.warning = f"model control is not answering ({why}); this process balances in its place"
            _LOGGER.warning("%s", self.warning)

    def _note_answer(self) -> None:
        if self.warning:
            _LOGGER.info("model control answers again, after %d ticks", self._silent_ticks)
        self._silent_ticks, self._is_worth_waiting, self.warning, self._malformed = 0, True, "", ""

    def _remembered(self, desired: BalanceReference) -> BalanceMemory | None:
        """Return the fallback's memory, and in it the state of the law that it replaces."""
        memory, last = self._fallback.memory, self._memory
        if memory is None or (self._horizon is None and self._dcm_horizon is None):
            return memory
        state = memory.law.state if last is None else last.law.state
        return replace(memory, law=replace(memory.law, previous_zmp=desired.zmp_position, state=state))
