"""Warnings that are said once in a while."""

from __future__ import annotations

import logging

from pureyarp.rate_limited_log import RateLimitedLog


def test_of_many_warnings_the_first_is_said(caplog):
    seldom = RateLimitedLog(logging.getLogger("pureyarp"), period=3600.0)
    for i in range(1000):
        seldom.warning("it happened %d times", i)
    assert caplog.messages == ["it happened 0 times"]


def test_the_next_one_counts_those_that_were_left_out(caplog, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("pureyarp.rate_limited_log.time.monotonic", lambda: now[0])
    seldom = RateLimitedLog(logging.getLogger("pureyarp"), period=1.0)
    for second in (0.0, 0.5, 0.9, 1.0, 2.5):
        now[0] = second
        seldom.warning("second %s", second)
    assert caplog.messages == ["second 0.0", "second 1.0 (and 2 more before)", "second 2.5"]


def test_the_trace_of_an_exception_is_added_on_request(caplog):
    try:
        raise RuntimeError("motor burnt")
    except RuntimeError:
        RateLimitedLog(logging.getLogger("pureyarp")).warning("it failed", trace=True)
    assert "motor burnt" in caplog.text
