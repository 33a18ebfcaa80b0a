import logging

from pureyarp.application.rf_module import ExceptionReport


def fail(kind, message):
    raise kind(message)


def error_of(kind, message="no") -> Exception:
    try:
        fail(kind, message)
    except Exception as error:
        return error
    raise AssertionError


def test_a_kind_of_exception_is_logged_once_with_its_traceback(caplog):
    report = ExceptionReport("Walker")
    for count in range(5):
        report.log(error_of(ValueError, f"number {count}"), "updateModule")
    report.log(error_of(KeyError), "updateModule")
    first, second = caplog.records
    assert first.getMessage() == "Walker: updateModule failed: number 0"
    assert first.exc_info is not None
    assert "KeyError" in caplog.text
    assert second.levelno == logging.ERROR


def test_its_count_is_logged_at_the_end(caplog):
    report = ExceptionReport("Walker")
    for _ in range(5):
        report.log(error_of(ValueError), "updateModule")
    report.log(error_of(KeyError), "updateModule")
    caplog.clear()
    report.log_counts()
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("Walker: ValueError in updateModule at")
    assert line.endswith("came 5 times")
