"""Hand out YARP: ``from gradiva.middleware import yarp``, then ``yarp.Port()`` as with the real bindings.

Behind it are the real bindings where they are installed, with ports that last (``lasting_ports``), else pureyarp,
which has the same names and the same meaning and speaks the same bytes. ``GRADIVA_YARP=real|pureyarp``
forces one. Types are those of pureyarp, so that a name which it lacks is found before it runs.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pureyarp import *  # noqa: F403 (that is what a facade does)
else:
    from gradiva.middleware.bindings import chosen_bindings, is_real, lasting_ports

    _BINDINGS = chosen_bindings(os.environ)
    _NAMES = getattr(_BINDINGS, "__all__", [name for name in vars(_BINDINGS) if not name.startswith("_")])
    globals().update({name: getattr(_BINDINGS, name) for name in _NAMES})
    if is_real(_BINDINGS):
        globals().update(lasting_ports(_BINDINGS))
