from gradiva.cli.yarp.streams import StreamRate


def test_a_regular_stream_has_its_rate_and_intervals():
    rate = StreamRate(10.0)
    for index in range(5):
        rate.add(10.1 + 0.2 * index, index)
    assert rate.report(11.0) == "rate_hz 5.0 mean_ms 200.00 max_ms 200.00 lost 0"


def test_the_longest_interval_and_the_gaps_of_the_counter_are_told():
    rate = StreamRate(0.0)
    for now, number in ((0.1, 7), (0.2, 8), (0.7, 12), (0.8, 13)):
        rate.add(now, number)
    assert rate.report(1.0) == "rate_hz 4.0 mean_ms 233.33 max_ms 500.00 lost 3"


def test_an_interval_that_spans_two_reports_belongs_to_the_second():
    rate = StreamRate(0.0)
    rate.add(0.9, 1)
    assert rate.report(1.0) == "rate_hz 1.0 mean_ms nan max_ms nan lost 0"
    rate.add(1.4, 2)
    assert rate.report(2.0) == "rate_hz 1.0 mean_ms 500.00 max_ms 500.00 lost 0"


def test_losses_are_counted_anew_for_every_report():
    rate = StreamRate(0.0)
    rate.add(0.1, 1)
    rate.add(0.2, 3)
    assert rate.report(1.0).endswith("lost 1")
    rate.add(1.1, 4)
    assert rate.report(2.0).endswith("lost 0")


def test_a_counter_that_stands_still_or_starts_anew_lost_nothing():
    rate = StreamRate(0.0)
    for number in (5, 5, 0, 1):
        rate.add(0.1, number)
    assert rate.report(1.0).endswith("lost 0")


def test_without_envelopes_nothing_is_known_of_losses():
    rate = StreamRate(0.0)
    rate.add(0.5, None)
    assert rate.report(1.0).endswith("lost -")


def test_silence_is_a_rate_of_zero():
    assert StreamRate(0.0).report(1.0) == "rate_hz 0.0 mean_ms nan max_ms nan lost -"
