"""Closed-loop walks, as in the tests of the tick."""

from tests.walking.conftest import ready

__all__ = ["ready"]
