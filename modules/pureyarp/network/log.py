"""The one voice of the network."""

from __future__ import annotations

import logging

log = logging.getLogger("pureyarp")
