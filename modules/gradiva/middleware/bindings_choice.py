"""Which YARP this process speaks through: the real bindings or the embedded implementation."""

from __future__ import annotations

import importlib
import importlib.util
import logging
from collections.abc import Mapping
from types import ModuleType

from gradiva.common import ConfigError

VARIABLE = "GRADIVA_YARP"
REAL = "real"
EMBEDDED = "embedded"

_LOGGER = logging.getLogger("gradiva.yarp")


def chosen_bindings(environment: Mapping[str, str]) -> ModuleType:
    """Return the real bindings where they can be imported, else the embedded implementation.

    ``GRADIVA_YARP=real|embedded`` forces one. An unrelated package called ``yarp`` exists; the bindings are known by
    their ``Network``.

    Raises:
        ConfigError: The variable has another value, or asks for real bindings that are not there.
    """
    wish = environment.get(VARIABLE, "")
    if wish not in ("", REAL, EMBEDDED):
        raise ConfigError(
            f"{VARIABLE}={wish}: valid are {REAL} and {EMBEDDED}; without it the real one where installed"
        )
    if wish == EMBEDDED:
        return _embedded()
    try:
        return _real()
    except ImportError as error:
        if wish == REAL:
            raise ConfigError(f"{VARIABLE}={REAL}, but the bindings cannot be used: {error}") from error
        if importlib.util.find_spec("yarp") is not None:
            _LOGGER.warning("the embedded YARP is used: %s", error)
        return _embedded()


def is_real(bindings: ModuleType) -> bool:
    """Return whether bindings are YARP's own."""
    return bindings.__name__.partition(".")[0] != "pureyarp"


def _embedded() -> ModuleType:
    return importlib.import_module("pureyarp.api")


def _real() -> ModuleType:
    bindings = importlib.import_module("yarp")
    if not hasattr(bindings, "Network"):
        where = getattr(bindings, "__file__", None) or "an empty folder"
        raise ImportError(f"the package yarp ({where}) is not YARP's, it has no Network")
    return bindings
