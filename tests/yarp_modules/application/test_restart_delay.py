from gradiva.yarp_modules.application.running_module import RestartBackoff


def test_the_delay_doubles_up_to_half_a_minute():
    delay, durations = RestartBackoff(), []
    for _ in range(7):
        delay.note_end(lifetime=0.1)
        durations.append(delay.duration)
    assert durations == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    assert not delay.is_over()


def test_a_long_life_makes_it_short_again():
    delay = RestartBackoff()
    for lifetime in (0.1, 0.1, 100.0):
        delay.note_end(lifetime)
    assert delay.duration == 1.0


def test_there_is_none_before_the_first_end():
    assert RestartBackoff().is_over()
