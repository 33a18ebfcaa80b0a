"""The one door to YARP: ``from gradiva.middleware import yarp``, then ``yarp.Port()`` as with the real bindings.

Behind it are the real bindings where they are installed, with ports that last (``lasting_ports``), else the embedded
implementation, which has the same names and the same meaning and speaks the same bytes. ``GRADIVA_YARP=real|embedded``
forces one. Types are those of the embedded implementation, so that a name which it lacks is found before it runs.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pureyarp.api import *  # noqa: F403 (that is what a facade does)
else:
    from gradiva.middleware.bindings import chosen_bindings, is_real, lasting_ports

    _BINDINGS = chosen_bindings(os.environ)
    globals().update({name: value for name, value in vars(_BINDINGS).items() if not name.startswith("_")})
    if is_real(_BINDINGS):
        globals().update(lasting_ports(_BINDINGS))
