"""A stand-in for YARP's real bindings, for tests: the suite takes it for them where this package can be imported.

``GRADIVA_YARP=real`` with the folder above this package on ``PYTHONPATH`` runs the suite on it, through the product's
own choice of bindings. It speaks by pureyarp, but offers what the real bindings offer and answers as
they were recorded to answer; where they hang, crash or end the process, it ends the process and says which line led
there.
"""

from . import _manners, _proxies

_proxies.take_manners(_manners.MANNERS, _manners.DIRECTED)
globals().update(_proxies.names())
globals().update(_manners.FUNCTIONS)
