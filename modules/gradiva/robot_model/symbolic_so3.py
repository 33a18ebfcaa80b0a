"""Rotations as CasADi expressions."""

from __future__ import annotations

import casadi as cs
import numpy as np

from gradiva.common import NDArray


def symbolic_log(rotation: cs.SX) -> cs.SX:
    """Rotation vector of a rotation matrix, (3, 1), for angles below π."""
    twice = cs.vertcat(
        rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]
    )
    axis_sine = 0.5 * twice
    sine = cs.sqrt(cs.dot(axis_sine, axis_sine))
    cosine = 0.5 * (cs.trace(rotation) - 1)
    ratio = cs.atan2(sine, cosine) / cs.fmax(sine, 1e-12)
    return cs.if_else(sine < 1e-9, 1.0, ratio) * axis_sine


def symbolic_exp(rotation_vector: cs.SX) -> cs.SX:
    """Rotation matrix of a rotation vector, (3, 3), by Rodrigues' formula."""
    squared = cs.dot(rotation_vector, rotation_vector)
    angle = cs.sqrt(cs.fmax(squared, 1e-16))  # below 1e-8 rad sine and cosine are those of 1e-8 rad to the last digit
    skew = cs.skew(rotation_vector)
    return cs.SX.eye(3) + cs.sin(angle) / angle * skew + 2.0 * (cs.sin(0.5 * angle) / angle) ** 2 * (skew @ skew)


def clean(constant: NDArray) -> cs.DM:
    """Return the constant with its rounding errors (1e-17 for 0) dropped, so that zeros stay structural."""
    rounded = np.where(np.abs(constant) < 1e-15, 0.0, constant)
    rounded = np.where(np.abs(np.abs(rounded) - 1.0) < 1e-15, np.sign(rounded), rounded)
    return cs.sparsify(cs.DM(rounded))


def rotation_about(axis: NDArray, angle: cs.SX) -> cs.SX:
    """Rodrigues' formula for a constant unit axis."""
    cosine, sine = cs.cos(angle), cs.sin(angle)
    unit = clean(axis)
    return cosine * cs.SX.eye(3) + sine * cs.skew(unit) + (1 - cosine) * (unit @ unit.T)
