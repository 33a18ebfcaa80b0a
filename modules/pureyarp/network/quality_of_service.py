"""How urgent the packets of a connection are."""

from __future__ import annotations

from pureyarp.wire.elements import Element

_CODE_POINTS = {"LOW": 10, "NORM": 0, "HIGH": 36, "CRIT": 44}  # differentiated services, by YARP's priorities
_LARGEST = 255


def type_of_service(request: Element) -> int | None:
    """Return the IP type of service that ``((priority HIGH))``, ``((dscp n))`` or ``((tos n))`` asks for, else None."""
    if not isinstance(request, list):
        return None
    for setting in request:
        if isinstance(setting, list) and len(setting) == 2:
            key, value = setting
            found = _value(str(key), value)
            if found is not None and 0 <= found <= _LARGEST:
                return found
    return None


def _value(key: str, value: Element) -> int | None:
    if key == "priority" and isinstance(value, str) and value in _CODE_POINTS:
        return _CODE_POINTS[value] * 4
    if isinstance(value, int) and key in ("tos", "dscp"):
        return int(value) if key == "tos" else int(value) * 4
    return None
