"""Solutions as functions of space: coefficients of other problems, and callables."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import numpy as np

from ._binding import ffi, lib
from ._core import Held, InvalidInput, own, place_of, refuse
from ._types import Array


class Field(Held):
    """A component of a solution as it is now, as a function of space: a coefficient, a load, boundary or initial values
    of other problems on any mesh, or a callable of NumPy arrays: field(x, y).

    Up to a hundredth of a cell beside its mesh it goes on, further away it is nan and refused."""

    def __init__(self, pointer: Any, dim: int, name: str) -> None:
        self._p, self.dim, self.name = pointer, dim, name

    def __repr__(self) -> str:
        return f"<tessera.Field {self.name} in {self.dim}D>"

    def __call__(self, *x: Any) -> Array:
        """Values at points x, y (, z), arrays of one shape."""
        if len(x) != self.dim:
            raise TypeError(f"{self!r}: {len(x)} coordinates, expected {self.dim}")
        given = np.broadcast_arrays(*[np.asarray(c, np.float64) for c in x])
        columns = [np.ascontiguousarray(c) for c in given]
        values = np.empty(given[0].shape)
        if not values.size:
            return values
        pointers = [ffi.cast("double *", c.ctypes.data) for c in columns] + [ffi.NULL] * (3 - self.dim)
        out = ffi.cast("double *", values.ctypes.data)
        if lib.tes_function_evaluate(self._p, values.size, *pointers, 0.0, out):
            at = tuple(float(c.flat[np.flatnonzero(~np.isfinite(values))[0]]) for c in columns)
            raise InvalidInput(f"{self!r}: the point {at} lies in no cell", "invalid_input")
        return values


def field_of(solution: Any, name: str) -> Field:
    """By a checkpoint, which keeps mesh, space and values."""
    context, mesh = solution.context, solution.mesh
    names = solution.field_names
    known = [n for n in names if n in ("u", "v", "w", "p") or n == names[0]]
    if name not in known:
        raise refuse(name, known, "field")
    text = ffi.new("char[]", b"velocity, pressure" if "p" in names else b"displacement" if "v" in names else b"u")
    row = ffi.new("TesCheckpointField *", {"name": text, "vector": lib.tes_problem_solution(solution._p)})
    desc = ffi.new(
        "TesCheckpointDesc *", {"space": lib.tes_problem_space(solution._p), "count": 1, "fields": row}
    )
    with tempfile.TemporaryDirectory(prefix="tessera") as folder:
        path = os.path.join(folder, "solution").encode()
        context.call(lib.tes_checkpoint_write, context._p, desc, path)
        place = place_of("TesCheckpoint")
        context.call(lib.tes_checkpoint_read_for, context._p, path, mesh._p, place)
    checkpoint, function = own("checkpoint", place[0]), place_of("TesFunction")
    context.call(lib.tes_checkpoint_function, checkpoint, b"u" if name == names[0] else name.encode(), function)
    return Field(own("function", function[0]), mesh.dim, name)
