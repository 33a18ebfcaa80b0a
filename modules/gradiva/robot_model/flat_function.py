"""A CasADi function between two flat arrays, its parts reached by name; allocates nothing when called."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from copy import copy
from dataclasses import MISSING, fields
from functools import partial
from typing import Any, Protocol, Self, TypeVar

import casadi as cs
import numpy as np
import numpy.typing as npt

from gradiva.common import NDArray, nearest_name

Compiler = Callable[[cs.Function], cs.Function]
"""Turns a CasADi function into an equal, faster one; the identity runs it in CasADi's own machine."""

T = TypeVar("T")

_NUMBERS = (float, bool)

_Place = tuple[slice, tuple[int, int] | None]


class Twin(Protocol):
    """Something that takes seconds to build, and of which a copy with a memory of its own takes none."""

    def twin(self) -> Self:
        """Return such a copy, as it was built."""
        ...


Built = TypeVar("Built", bound=Twin)
_prototypes: dict[Hashable, Twin] = {}
_PROTOTYPES = 64  # half of them take megabytes, those of one robot are eight


def built_once(key: Hashable | None, build: Callable[[], Built]) -> Built:
    """Return a twin of what this process builds once for each key; None for what is built anew.

    Args:
        key: Holds all that ``build`` uses.
        build: Called for the first one, and when it has not been asked for in a long time.
    """
    if key is None:
        return build()
    prototype = _prototypes.pop(key, None) or build()
    _prototypes[key] = prototype
    if len(_prototypes) > _PROTOTYPES:
        del _prototypes[next(iter(_prototypes))]
    twin: Built = prototype.twin()  # type: ignore[assignment]
    return twin


def interpreted(function: cs.Function) -> cs.Function:
    """The compiler for machines without one: CasADi's virtual machine runs the function."""
    return function


class FlatFunction:
    """Named inputs and outputs over one input vector and one output vector.

    Attributes:
        input: All inputs, one after the other.
        inputs: Views of them to write into before a call, shaped as their symbols (vectors are 1-D).
        outputs: Views that hold the last call's results.
    """

    def __init__(
        self,
        name: str,
        inputs: Mapping[str, cs.SX] | Mapping[str, cs.MX],
        outputs: Mapping[str, cs.SX] | Mapping[str, cs.MX],
        compiler: Compiler = interpreted,
        beside: FlatFunction | None = None,
        after: FlatFunction | None = None,
        simplify: Callable[[Mapping[str, cs.SX]], Mapping[str, cs.SX]] | None = None,
    ) -> None:
        """Build, and compile, the function.

        Args:
            name: A C identifier.
            inputs: Name to symbol.
            outputs: Name to expression in these symbols.
            compiler: How the function becomes fast.
            beside: Function of the same inputs; what is written into those of one, both have.
            after: Function whose outputs are the inputs of this one, in their order.
            simplify: Makes the outputs simpler, of equal names and shapes. It takes longer than it gains unless it is
                done once: only a compiler with a method ``simplified`` does, and only for what it compiles.
        """
        source = cs.vertcat(*(_by_rows(symbol) for symbol in inputs.values()))
        result = _stacked(outputs)
        if isinstance(source, cs.MX):  # a function of MX takes symbols alone
            flat, ends = cs.MX.sym("inputs", source.numel()), np.cumsum([part.numel() for part in inputs.values()])
            symbols: list[Any] = [*inputs.values()]
            parts = zip(cs.vertsplit(flat, [0, *ends.tolist()]), symbols, strict=True)
            shaped = [cs.reshape(part, *symbol.T.shape).T for part, symbol in parts]
            result = cs.graph_substitute([result], symbols, shaped)[0]
            source = flat
        self._input_places, self._places = _places(inputs), _places(outputs)
        function = cs.Function(name, [source], [result])
        if simplify is None:
            self._function = compiler(function)
        else:
            make = partial(_simplified, name, source, outputs, simplify)
            known = getattr(compiler, "simplified", None)
            self._function = known(function, make) if known else compiler(function)
        shared = beside.input if beside else after._output if after else np.zeros(source.numel())
        self._bind(shared, np.zeros(result.numel()))

    def twin(self) -> Self:
        """Return the same function with an input, which begins as this one's, and an output of its own."""
        other = copy(self)
        other._bind(self.input.copy(), np.zeros_like(self._output))
        return other

    def _bind(self, flat_input: NDArray, flat_output: NDArray) -> None:
        self.input, self._output = flat_input, flat_output
        self.inputs = {name: _window(flat_input, *place) for name, place in self._input_places.items()}
        numbers = {name: part.start for name, (part, _) in self._input_places.items() if part.stop - part.start == 1}
        self._written: dict[str, Any] = {**self.inputs, **numbers}  # where each is written: a view, or a cell's index
        self._cells: Any = memoryview(flat_input.data)
        self.outputs = {name: _window(flat_output, *place) for name, place in self._places.items()}
        self._buffer: Any
        self._buffer, self._trigger = self._function.buffer()
        self._buffer.set_arg(0, memoryview(self.input.data))
        self._buffer.set_res(0, memoryview(self._output.data))

    def set(self, **values: npt.ArrayLike) -> None:
        """Write inputs by name; those not named keep their last value."""
        self.write(values)

    def write(self, values: Mapping[str, npt.ArrayLike | None]) -> None:
        """Write inputs as `set` does; None becomes NaN."""
        written, cells = self._written, self._cells
        try:
            for name, value in values.items():
                place = written[name]
                if type(place) is not int:
                    place[...] = value
                elif type(value) in _NUMBERS:  # a fifth of the time of an array
                    cells[place] = value
                else:
                    self.inputs[name][...] = value
        except KeyError:
            raise KeyError(f"no input '{name}'{nearest_name(name, self.inputs)}") from None

    def __call__(self) -> Mapping[str, NDArray]:
        """Evaluate; the returned views are overwritten by the next call."""
        self._trigger()
        return self.outputs

    @property
    def is_finite(self) -> bool:
        """Whether the results of the last call are finite, by their squares: all of them are below 1e154."""
        return math.isfinite(self._output.dot(self._output))

    def maker(self, kind: type[T], names: Iterable[str]) -> Callable[..., T]:
        """Return a function that makes a slotted dataclass of the last call's results and of values by keyword.

        The results are read-only windows of one copy, which the next call does not overwrite; nothing is validated.
        A field that is neither has its default. The keywords, and their order, are the same in all calls.

        Args:
            kind: The dataclass.
            names: Outputs that are fields.

        Raises:
            TypeError: In the first call: a field without a default has no value.
        """
        names = tuple(names)
        fields = [(getattr(kind, name).__set__, *self._places[name]) for name in names]
        vectors = [(field, part) for field, part, shape in fields if shape is None]
        matrices = [(field, part, shape) for field, part, shape in fields if shape is not None]
        output, new = self._output, object.__new__
        others: tuple[list[Any], list[Any]] | None = None

        def make(**values: Any) -> T:
            nonlocal others
            if others is None:
                defaults = _defaults(kind, {*names, *values})
                others = [getattr(kind, name).__set__ for name in (*values, *defaults)], [*defaults.values()]
            flat, instance = output.copy(), new(kind)
            flat.setflags(write=False)
            for field, part in vectors:
                field(instance, flat[part])
            for field, part, shape in matrices:
                field(instance, flat[part].reshape(shape))
            for field, value in zip(others[0], (*values.values(), *others[1]), strict=True):
                field(instance, value)
            return instance

        return make


def _defaults(kind: type, given: set[str]) -> dict[str, Any]:
    """Return the defaults of a dataclass's fields that are not given; the message of a TypeError names one without."""
    defaults = {}
    for field in fields(kind):
        if field.name in given:
            continue
        if field.default is MISSING and field.default_factory is MISSING:
            raise TypeError(f"{kind.__name__} without {field.name}, which has no default")
        defaults[field.name] = field.default if field.default_factory is MISSING else field.default_factory()
    return defaults


def _places(parts: Mapping[str, cs.SX] | Mapping[str, cs.MX]) -> dict[str, _Place]:
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


def _stacked(outputs: Mapping[str, cs.SX] | Mapping[str, cs.MX]) -> Any:
    return cs.vertcat(*(_by_rows(cs.densify(expression)) for expression in outputs.values()))


def _simplified(
    name: str, source: cs.SX, outputs: Any, simplify: Callable[[Mapping[str, cs.SX]], Mapping[str, cs.SX]]
) -> cs.Function:
    return cs.Function(name, [source], [_stacked(simplify(outputs))])


def _by_rows(matrix: Any) -> Any:
    """Return the entries as numpy orders them."""
    return cs.vec(matrix.T)
