"""A few letters by which two processes see whether they were configured alike."""

from __future__ import annotations

import hashlib


def fingerprint(*configurations: object) -> str:
    """Return eight letters and digits that differ when any of the configurations (dataclasses of values) does."""
    return hashlib.sha256(repr(configurations).encode()).hexdigest()[:8]
