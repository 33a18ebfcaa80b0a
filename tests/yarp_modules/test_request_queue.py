import threading
import time

import pytest

from gradiva.common import StateError
from gradiva.yarp_modules.request_queue import RequestQueue

PATIENCE = 5.0  # [s]


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
    deadline = time.monotonic() + PATIENCE
    while len(queue._waiting) < count:
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_a_request_is_answered_by_who_ticks():
    queue, replies = RequestQueue(PATIENCE), []
    thread = asking(queue, "stop", replies)
    wait_for(queue, 1)
    queue.serve(lambda asked: asked.answer([asked.request, 1]))
    thread.join(PATIENCE)
    assert replies == [["stop", 1]]


def test_a_tick_answers_a_few_and_the_urgent_one_first():
    queue, replies, order = RequestQueue(PATIENCE), [], []
    threads = []
    for number in range(6):
        threads.append(asking(queue, number, replies))
        wait_for(queue, number + 1)
    threads.append(asking(queue, "emergency", replies, is_urgent=True))
    wait_for(queue, 7)

    def handle(asked):
        order.append(asked.request)
        asked.answer([])

    queue.serve(handle)
    assert order == ["emergency", 0, 1, 2]
    queue.serve(handle)
    assert order[4:] == [3, 4, 5]
    for thread in threads:
        thread.join(PATIENCE)


def test_where_nothing_ticks_the_one_who_asks_is_told_and_later_nothing_happens():
    queue, handled = RequestQueue(0.01), []
    with pytest.raises(StateError, match="the control loop does not run"):
        queue.ask("start")
    queue.serve(handled.append)
    assert handled == []


def test_a_flood_is_refused_at_the_door_and_an_emergency_stop_is_not():
    queue, replies = RequestQueue(PATIENCE), []
    threads = [asking(queue, number, replies) for number in range(16)]
    wait_for(queue, 16)
    with pytest.raises(StateError, match="too busy"):
        queue.ask("more")
    threads.append(asking(queue, "emergency", replies, is_urgent=True))
    wait_for(queue, 17)
    while queue._waiting:
        queue.serve(lambda asked: asked.answer([asked.request]))
    for thread in threads:
        thread.join(PATIENCE)
    assert ["emergency"] in replies
    assert len(replies) == 17
