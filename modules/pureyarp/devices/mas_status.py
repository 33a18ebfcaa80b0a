"""Whether an analog sensor can be read."""

from __future__ import annotations

MAS_OK = 0
MAS_ERROR = 1
MAS_OVF = 2
MAS_TIMEOUT = 3
MAS_WAITING_FOR_FIRST_READ = 4
MAS_UNKNOWN = 5
