"""A CasADi function between two flat arrays, its parts reached by name; allocates nothing when called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import casadi as cs
import numpy as np
import numpy.typing as npt

from gradiva.common import NDArray, nearest_name, sealed

Compiler = Callable[[cs.Function], cs.Function]
"""Turns a CasADi function into an equal, faster one; the identity runs it in CasADi's own machine."""

_Place = tuple[slice, tuple[int, int] | None]


def interpreted(function: cs.Function) -> cs.Function:
    """The compiler for machines without one: CasADi's virtual machine runs the function."""
    return function


class FlatFunction:
    """Named inputs and outputs over one input vector and one output vector.

    Attributes:
        inputs: Views to write into before a call, shaped as their symbols (vectors are 1-D).
        outputs: Views that hold the last call's results.
    """

    def __init__(
        self,
        name: str,
        inputs: Mapping[str, cs.SX],
        outputs: Mapping[str, cs.SX],
        compiler: Compiler = interpreted,
    ) -> None:
        """Build, and compile, the function.

        Args:
            name: A C identifier.
            inputs: Name to symbol.
            outputs: Name to expression in these symbols.
            compiler: How the function becomes fast.
        """
        source = cs.vertcat(*(_by_rows(symbol) for symbol in inputs.values()))
        result = cs.vertcat(*(_by_rows(cs.densify(expression)) for expression in outputs.values()))
        self._input = np.zeros(source.numel())
        self._output = np.zeros(result.numel())
        self.inputs = _views(self._input, inputs)
        self.outputs = _views(self._output, outputs)
        self._places = _places(outputs)
        self._starts = {name: place[0].start for name, place in _places(inputs).items()}
        self._function = compiler(cs.Function(name, [source], [result]))
        self._buffer: Any
        self._buffer, self._trigger = self._function.buffer()
        self._buffer.set_arg(0, memoryview(self._input.data))
        self._buffer.set_res(0, memoryview(self._output.data))

    def set(self, **values: npt.ArrayLike) -> None:
        """Write inputs by name; those not named keep their last value."""
        inputs = self.inputs
        try:
            for name, value in values.items():
                inputs[name][...] = value
        except KeyError:
            raise KeyError(f"no input '{name}'{nearest_name(name, inputs)}") from None

    def block(self, names: Sequence[str]) -> Callable[[Sequence[NDArray]], object]:
        """Return a function that writes inputs which follow each other, as flat arrays in their order, all at once.

        Raises:
            KeyError: There is no such input.
        """
        start = self._starts[names[0]] if names else 0
        end = start
        for name in names:
            assert self._starts[name] == end, f"the input '{name}' does not follow the one before"
            end += self.inputs[name].size
        window = self._input[start:end]
        return partial(np.concatenate, out=window) if names else tuple

    def __call__(self) -> Mapping[str, NDArray]:
        """Evaluate; the returned views are overwritten by the next call."""
        self._trigger()
        return self.outputs

    def kept(self, names: Iterable[str]) -> dict[str, NDArray]:
        """Return results of the last call that the next one does not overwrite: read-only windows of one copy."""
        flat, places = sealed(self._output.copy()), self._places
        kept = {}
        for name in names:
            part, shape = places[name]
            kept[name] = flat[part] if shape is None else flat[part].reshape(shape)
        return kept


def _places(parts: Mapping[str, cs.SX]) -> dict[str, _Place]:
    """Return where each part begins and ends in the flat array, and its shape if it is a matrix."""
    places: dict[str, _Place] = {}
    start = 0
    for name, part in parts.items():
        rows, columns = part.shape
        places[name] = slice(start, start + rows * columns), None if columns == 1 else (rows, columns)
        start += rows * columns
    return places


def _window(flat: NDArray, part: slice, shape: tuple[int, int] | None) -> NDArray:
    return flat[part] if shape is None else flat[part].reshape(shape)


def _views(flat: NDArray, parts: Mapping[str, cs.SX]) -> dict[str, NDArray]:
    return {name: _window(flat, *place) for name, place in _places(parts).items()}


def _by_rows(matrix: cs.SX) -> cs.SX:
    """Return the entries as numpy orders them."""
    return cs.vec(matrix.T)
