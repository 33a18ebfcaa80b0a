"""The state machine of a walk: requests that its states refuse."""

import pytest

from gradiva.common import StateError
from gradiva.walking import WalkingState
from gradiva.walking.walking_state import WalkingStateMachine


@pytest.mark.parametrize(
    ("state", "request_", "advice"),
    [
        (WalkingState.CONFIGURED, "start", "cannot start while configured: prepare the robot first"),
        (WalkingState.CONFIGURED, "set a goal", "prepare the robot first"),
        (WalkingState.PREPARING, "start", "wait until the robot is prepared"),
        (WalkingState.PREPARED, "set a goal", "start the walk first"),
        (WalkingState.PREPARED, "pause", "start the walk first"),
        (WalkingState.WALKING, "prepare", "pause or stop it first"),
        (WalkingState.STOPPED, "set a goal", "prepare the robot again"),
        (WalkingState.FAULT, "stop", "prepare the robot again"),
    ],
)
def test_what_a_state_does_not_allow_is_refused_with_advice(state, request_, advice):
    machine = WalkingStateMachine()
    machine.to(state, "test")
    with pytest.raises(StateError) as error:
        machine.require(request_)
    assert advice in str(error.value)


def test_a_fault_has_its_reason_in_the_refusal():
    machine = WalkingStateMachine()
    machine.to(WalkingState.FAULT, "the base is tilted by 40°")
    with pytest.raises(StateError, match="tilted by 40°"):
        machine.require("start")


@pytest.mark.parametrize("state", [WalkingState.CONFIGURED, WalkingState.STOPPED, WalkingState.FAULT])
def test_the_robot_can_be_prepared_from_rest_and_after_a_fault(state):
    machine = WalkingStateMachine()
    machine.to(state, "test")
    machine.require("prepare")
    assert machine.state is state
    assert not machine.is_balancing or state is WalkingState.STOPPED
