"""The words of the 3.x dialect, from the server's side: what a request names, and for whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gradiva.middleware.control_board.board_access import Measured, Quantity
from gradiva.middleware.control_board.feature import Feature
from gradiva.middleware.control_board.streamed_command import Scope
from gradiva.middleware.control_board.vocab_forms import VOCAB_FORMS, VocabForm


@dataclass(frozen=True, slots=True)
class Named:
    """What a word of a request means.

    Attributes:
        quantity: What is asked for or set.
        scope: For one joint, all or a listed group.
        form: How its values travel.
    """

    quantity: Quantity
    scope: Scope
    form: VocabForm


_MEASURED: tuple[tuple[Measured, VocabForm], ...] = (
    (Measured.JOINT_VELOCITY, VocabForm("esp", "esps")),
    (Measured.JOINT_ACCELERATION, VocabForm("eac", "eacs")),
    (Measured.MOTOR_VELOCITY, VocabForm("msp", "msps")),
    (Measured.MOTOR_ACCELERATION, VocabForm("mac", "macs")),
    (Measured.TORQUE, VocabForm("trq", "trqs", prefix="torq")),
    (Measured.CURRENT, VocabForm("acu", "acus")),
    (Measured.PWM, VocabForm("pwm")),
    (Measured.PWM, VocabForm("pwm", "pwms", prefix="ipwm")),
)


def _named(forms: Mapping[Feature, VocabForm]) -> dict[tuple[str, str], Named]:
    named: dict[tuple[str, str], Named] = {}
    quantities: list[tuple[Quantity, VocabForm]] = [*forms.items(), *_MEASURED]
    for quantity, form in quantities:
        for scope, word in ((Scope.ONE, form.one), (Scope.ALL, form.all), (Scope.GROUP, form.group)):
            if word:
                named[form.prefix, word] = Named(quantity, scope, form)
    return named


NAMED = _named(VOCAB_FORMS)
INTERFACE_WORDS = frozenset(prefix for prefix, _ in NAMED if prefix)
# Answers about these carry no time stamp.
UNSTAMPED = frozenset({"ipwm", "icur", "pid", "ijfl", "ivar"})
