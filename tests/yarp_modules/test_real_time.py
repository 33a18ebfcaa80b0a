import gc
import sys

from gradiva.yarp_modules.tick_timing import GarbageKeeper, share_turns_often


def test_garbage_is_left_alone_within_ticks_and_collected_in_idle_time():
    was_enabled = gc.isenabled()
    keeper = GarbageKeeper()
    keeper.begin()
    try:
        assert not gc.isenabled()
        cycle = []
        cycle.append(cycle)
        before = gc.get_count()[0]
        del cycle
        keeper.use_idle_time(-1.0)
        assert gc.get_count()[0] >= before - 1
        keeper.use_idle_time(1.0)
        assert gc.get_count()[0] < before
    finally:
        keeper.end()
    assert gc.isenabled()
    if not was_enabled:
        gc.disable()


def test_threads_take_turns_within_a_millisecond():
    before = sys.getswitchinterval()
    try:
        share_turns_often()
        assert sys.getswitchinterval() <= 0.001
    finally:
        sys.setswitchinterval(before)
