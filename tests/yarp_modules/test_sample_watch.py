"""One tick a sample, whatever its stamp is rounded to."""

import math

from gradiva.yarp_modules.walking_module import NewSampleCheck


def test_nobody_has_spoken_yet():
    watch = NewSampleCheck()
    assert not watch.is_new(-math.inf)
    assert watch.is_new(0.0)


def test_a_later_sample_is_new_once():
    watch = NewSampleCheck()
    assert [watch.is_new(time) for time in (9.44, 9.45, 9.45, 9.46)] == [True, True, False, True]
    assert watch.time == 9.46


def test_the_last_digit_makes_no_new_sample():
    watch = NewSampleCheck()
    assert watch.is_new(9.45)
    assert not watch.is_new(math.nextafter(9.45, 10.0))
    assert not watch.is_new(math.nextafter(9.45, 0.0))


def test_a_simulation_that_began_anew_has_new_samples():
    watch = NewSampleCheck()
    assert watch.is_new(9.45)
    assert not watch.is_new(9.0)
    assert watch.is_new(0.01)
