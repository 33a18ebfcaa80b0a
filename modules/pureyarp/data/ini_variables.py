"""The variables of an ini line: ``$NAME``, ``${NAME}`` and ``$(NAME)``."""

from __future__ import annotations

import re
from collections.abc import Callable

_REFERENCE = re.compile(r"\\(?P<protected>.)|\$(?:\{(?P<brace>[^}]*)\}|\((?P<paren>[^)]*)\)|(?P<bare>\w+))", re.DOTALL)


def expand_variables(line: str, value_of: Callable[[str], str]) -> str:
    r"""Return ``line`` with every reference replaced by ``value_of(name)``; ``\$`` stays a dollar sign."""
    return _REFERENCE.sub(lambda reference: _replacement(reference, value_of), line)


def _replacement(reference: re.Match[str], value_of: Callable[[str], str]) -> str:
    protected = reference["protected"]
    if protected is not None:
        return "$" if protected == "$" else reference[0]  # other escapes are the Bottle's business
    return value_of(reference["brace"] or reference["paren"] or reference["bare"] or "")
