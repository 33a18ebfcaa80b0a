"""State machine of a walk: its states, and the requests that each allows."""

from __future__ import annotations

from enum import StrEnum

from gradiva.common import StateError


class WalkingState(StrEnum):
    """State of a walk."""

    CONFIGURED = "configured"
    PREPARING = "preparing"
    PREPARED = "prepared"
    WALKING = "walking"
    PAUSED = "paused"
    STOPPED = "stopped"
    FAULT = "fault"


_S = WalkingState
_ALLOWED = {
    "prepare": (_S.CONFIGURED, _S.PREPARED, _S.STOPPED, _S.FAULT),
    "start": (_S.PREPARED, _S.PAUSED),
    "set a goal": (_S.WALKING, _S.PAUSED),
    "retarget a step": (_S.WALKING,),
    "pause": (_S.WALKING,),
    "stop": (_S.PREPARED, _S.WALKING, _S.PAUSED),
}
_NEXT_STEP = {
    _S.CONFIGURED: "prepare the robot first",
    _S.PREPARING: "wait until the robot is prepared",
    _S.PREPARED: "start the walk first",
    _S.WALKING: "the robot is already walking: pause or stop it first",
    _S.PAUSED: "start again or set a goal",
    _S.STOPPED: "prepare the robot again",
    _S.FAULT: "prepare the robot again",
}


class WalkingStateMachine:
    """Holds the state and its reason, and refuses requests that it does not allow.

    Attributes:
        state: The present state.
        reason: Reason of the present state.
        is_balancing: Whether the control loop runs: the robot stands on its own feet and is held upright.
    """

    def __init__(self) -> None:
        self.to(WalkingState.CONFIGURED, "configured")

    def require(self, request: str) -> None:
        """Pass when ``request`` is allowed now.

        Raises:
            StateError: It is not; the message says what to do.
        """
        if self.state not in _ALLOWED[request]:
            because = f" ({self.reason})" if self.state in (_S.FAULT, _S.STOPPED) else ""
            raise StateError(f"cannot {request} while {self.state}{because}: {_NEXT_STEP[self.state]}")

    def to(self, state: WalkingState, reason: str) -> None:
        """Change the state."""
        self.state = state
        self.reason = reason
        self.is_balancing = state in (_S.PREPARED, _S.WALKING, _S.PAUSED, _S.STOPPED)
