"""Speak YARP in pure Python under the names of its bindings: ``import pureyarp as yarp``."""

from pureyarp.api import *  # noqa: F403 (its ``__all__`` is the interface)
from pureyarp.api import __all__ as __all__
