"""The port by which the client of a device asks it."""

from __future__ import annotations

import threading

from pureyarp.data.values import Bottle
from pureyarp.errors import PeerUnreachable
from pureyarp.network.ports import Reads, RpcClient
from pureyarp.wire.elements import Element

ANSWER_PATIENCE = 5.0  # [s] a device that hangs must not hold up a control loop for ever; slow ones answer within one


class QuestionPort(RpcClient):
    """Asks one question at a time, whoever asks, and does not wait for ever; an answer that comes too late is left out.

    Args:
        patience: For an answer, [s].
    """

    def __init__(self, patience: float = ANSWER_PATIENCE) -> None:
        super().__init__()
        self._patience = patience
        self.asPort().setTimeout(patience)
        self._asking = threading.Lock()

    def ask(self, question: list[Element], answer: Reads, whom: str) -> None:
        """Ask and fill ``answer``.

        Args:
            question: Elements of the request.
            answer: Reads the reply.
            whom: The device, for the complaint.

        Raises:
            PeerUnreachable: It is not connected, or no answer came in time.
        """
        request = Bottle()
        request.items = question
        with self._asking:
            if not self.write(request, answer):
                raise PeerUnreachable(f"{whom} does not answer (it is waited for {self._patience:g} s)")
