"""What a function hands on from one call to the next."""

from __future__ import annotations

import casadi as cs


class Memory:
    """Quantities that are results of one call and inputs of the next; all zero before the first.

    They are one input and one output, both called ``memory``.
    """

    def __init__(self) -> None:
        self._last: list[cs.SX] = []
        self._next: list[cs.SX] = []

    def last(self, name: str, rows: int = 1) -> cs.SX:
        """Return the symbol of what a quantity was."""
        self._last.append(cs.SX.sym(f"last_{name}", rows))
        return self._last[-1]

    def keep(self, value: cs.SX) -> None:
        """Remember what a quantity is now, in the order of `last`."""
        self._next.append(value)
        assert value.shape == self._last[len(self._next) - 1].shape

    @property
    def input(self) -> cs.SX:
        """All symbols, (n, 1)."""
        return cs.vertcat(*self._last)

    @property
    def output(self) -> cs.SX:
        """All results, (n, 1)."""
        return cs.vertcat(*self._next)


def symbolic_low_pass_gain(time_constant: cs.SX, period: cs.SX) -> cs.SX:
    """Return ``low_pass_gain`` as an expression; before the first sample a period is infinite and the share 1."""
    return cs.if_else(time_constant > 0.0, 1.0 - cs.exp(-period / time_constant), 1.0)


def low_passed(last: cs.SX, sample: cs.SX, share: cs.SX) -> cs.SX:
    """Return the output of a first-order low pass; with a share of 1 the sample to the last digit."""
    return cs.if_else(share < 1.0, last + share * (sample - last), sample)
