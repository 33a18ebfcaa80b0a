"""Arrays as values: read-only, of a known shape."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

NDArray = npt.NDArray[np.float64]


def readonly(value: npt.ArrayLike, shape: tuple[int | None, ...] | None = None) -> NDArray:
    """Return a read-only float64 copy of ``value``.

    Args:
        value: Anything numpy takes.
        shape: The required shape; ``None`` entries match any length.

    Raises:
        ValueError: The shape differs.
    """
    array = np.array(value, dtype=np.float64)
    if shape is not None and array.shape != shape:
        matches = len(array.shape) == len(shape) and all(
            wanted is None or wanted == length for wanted, length in zip(shape, array.shape, strict=True)
        )
        if not matches:
            raise ValueError(f"expected an array of shape {shape}, got {array.shape}")
    array.flags.writeable = False
    return array


def freeze_arrays(instance: object, **shapes: tuple[int | None, ...]) -> None:
    """Make the named array fields of a frozen dataclass read-only copies of the given shapes."""
    for name, shape in shapes.items():
        try:
            object.__setattr__(instance, name, readonly(getattr(instance, name), shape))
        except ValueError as error:
            raise ValueError(f"{type(instance).__name__}.{name}: {error}") from None
