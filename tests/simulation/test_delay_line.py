from gradiva.simulation.delay_line import DelayLine


def test_items_arrive_after_the_delay_and_once() -> None:
    line: DelayLine[str] = DelayLine(2)
    line.put(0, "a")
    assert line.take(1) is None
    assert line.take(2) == "a"
    assert line.take(3) is None


def test_the_newest_arrived_item_wins() -> None:
    line: DelayLine[str] = DelayLine(2)
    for step, item in enumerate("abcd"):
        line.put(step, item)
    assert line.take(4) == "c"
    assert line.take(5) == "d"


def test_without_delay_items_arrive_at_once() -> None:
    line: DelayLine[str] = DelayLine(0)
    line.put(7, "a")
    assert line.take(7) == "a"
