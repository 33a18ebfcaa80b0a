"""What whole body and model control exchange in each tick."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.common import DcmPreview, NDArray, RobotState, WalkingReference, freeze_arrays
from gradiva.walking.model_control import DesiredPendulum
from gradiva.walking.pendulum_memory import PendulumMemory
from gradiva.yarp_modules.message_header import MessageHeader


@dataclass(frozen=True, slots=True, eq=False)
class PendulumRequest:
    """All that layer 2 decides on in one tick; ``/model-control/state:i``.

    Attributes:
        header: Its number is that of the tick.
        configuration: Fingerprint of the configuration of layer 2.
        state: Estimated.
        reference: The plan now.
        polygon: Corners of the feet that the plan has on the ground, world, [m], shape (m, 2).
        preview: The plan from now on, as the predictive law samples it; None for the instantaneous one.
        period: Until the next tick, [s].
        zmp_shift: By how much the swinging foot moves the ZMP, world, [m], shape (2,).
        measured_zmp: World, [m], shape (2,); None where it is not known.
        memory: What layer 2 remembered after the last tick, whoever did it; None: begin again.
    """

    header: MessageHeader
    configuration: str
    state: RobotState
    reference: WalkingReference
    polygon: NDArray
    preview: DcmPreview | None
    period: float
    zmp_shift: NDArray
    measured_zmp: NDArray | None
    memory: PendulumMemory | None

    def __post_init__(self) -> None:
        freeze_arrays(self, polygon=(None, 2), zmp_shift=(2,))
        if self.measured_zmp is not None:
            freeze_arrays(self, measured_zmp=(2,))


@dataclass(frozen=True, slots=True, eq=False)
class PendulumReply:
    """What layer 2 decided; ``/model-control/desired:o``.

    Attributes:
        header: That of the request.
        desired: None where there is no decision.
        memory: What layer 2 remembers now; goes with the next request.
        failures: How often the DCM law had no solution of its own since this model control began.
        refusal: Why there is no decision; empty where there is one.
    """

    header: MessageHeader
    desired: DesiredPendulum | None
    memory: PendulumMemory | None
    failures: int
    refusal: str = ""
