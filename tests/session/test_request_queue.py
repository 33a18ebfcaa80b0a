import threading
import time

import pytest

from gradiva.common import StateError
from gradiva.session.walking_session import RequestQueue
from tests.waiting import TIMEOUT


def asking(queue, request, replies, **how):
    def ask():
        try:
            replies.append(queue.ask(request, **how))
        except StateError as error:
            replies.append(str(error))

    thread = threading.Thread(target=ask)
    thread.start()
    return thread


def wait_for(queue, count):
    deadline = time.monotonic() + TIMEOUT
    while len(queue._waiting) < count:
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_a_request_is_answered_by_who_ticks():
    queue, replies = RequestQueue(TIMEOUT), []
    thread = asking(queue, "stop", replies)
    wait_for(queue, 1)
    queue.serve(lambda command, answer: answer([command, 1]))
    thread.join(TIMEOUT)
    assert replies == [["stop", 1]]


def test_a_tick_answers_a_few_and_the_urgent_one_first():
    queue, replies, order = RequestQueue(TIMEOUT), [], []
    threads = []
    for number in range(6):
        threads.append(asking(queue, number, replies))
        wait_for(queue, number + 1)
    threads.append(asking(queue, "emergency", replies, is_urgent=True))
    wait_for(queue, 7)

    def handle(command, answer):
        order.append(command)
        answer([])

    queue.serve(handle)
    assert order == ["emergency", 0, 1, 2]
    queue.serve(handle)
    assert order[4:] == [3, 4, 5]
    for thread in threads:
        thread.join(TIMEOUT)


def test_without_ticks_the_client_gets_the_reason_and_later_nothing_happens():
    queue, handled = RequestQueue(0.01), []
    with pytest.raises(StateError, match="the control loop does not run"):
        queue.ask("start")
    queue.serve(lambda command, answer: handled.append(command))
    assert handled == []


def test_an_emergency_stop_whose_client_has_given_up_is_carried_out_all_the_same():
    queue, handled = RequestQueue(0.01), []
    with pytest.raises(StateError, match="it is carried out as soon as it does"):
        queue.ask("stop", is_urgent=True)
    queue.serve(lambda command, answer: handled.append(command))
    assert handled == ["stop"]


@pytest.mark.parametrize(
    ("grace", "reply"),
    [(TIMEOUT, ["the planner is slow"]), (0.0, "it is still being carried out; getReason has the result")],
)
def test_a_request_taken_in_time_has_a_little_more_time_for_its_reply(monkeypatch, grace, reply):
    monkeypatch.setattr("gradiva.session.walking_session._GRACE", grace)
    queue, replies, taken = RequestQueue(0.5), [], []
    thread = asking(queue, "plan", replies)
    wait_for(queue, 1)
    queue.serve(lambda command, answer: taken.append(answer))
    thread.join(0.7)
    taken[0](["the planner is slow"])
    thread.join(TIMEOUT)
    assert replies == [reply]


def test_a_flood_is_refused_at_the_door_and_an_emergency_stop_is_not():
    queue, replies = RequestQueue(TIMEOUT), []
    threads = [asking(queue, number, replies) for number in range(16)]
    wait_for(queue, 16)
    with pytest.raises(StateError, match="too busy"):
        queue.ask("more")
    threads.append(asking(queue, "emergency", replies, is_urgent=True))
    wait_for(queue, 17)
    while queue._waiting:
        queue.serve(lambda command, answer: answer([command]))
    for thread in threads:
        thread.join(TIMEOUT)
    assert ["emergency"] in replies
    assert len(replies) == 17
