"""Tessera: high-order finite elements, matrix-free, with geometric multigrid.

    import tessera
    result = tessera.solve({"problem": "poisson", "mesh": {"box": {"dim": 2, "cells": [32, 32]}}, "data": {"f": "1"}})
    result.plot()

solve() takes a case of the program; Mesh, Space, Operator, Multigrid and Problem are parts for programs of your own.
Manual: docs/python.md."""

import importlib
from typing import TYPE_CHECKING

from ._arrays import Vector
from ._binding import ffi as _ffi, lib as _lib
from ._case import Result, solve
from ._core import Context, Error, FileError, InvalidInput, Interrupted, MissingComponent, NotConverged, OutOfMemory
from ._field import Field
from ._mesh import Mesh
from ._problem import Problem
from ._solution import Sampler
from ._space import Space

if TYPE_CHECKING:
    from ._operator import Multigrid, Operator

__version__ = _ffi.string(_lib.tes_version()).decode()

__all__ = [
    "Context",
    "Error",
    "Field",
    "FileError",
    "Interrupted",
    "InvalidInput",
    "Mesh",
    "MissingComponent",
    "Multigrid",
    "NotConverged",
    "Operator",
    "OutOfMemory",
    "Problem",
    "Result",
    "Sampler",
    "Space",
    "Vector",
    "has_part",
    "solve",
]


def has_part(name: str) -> bool:
    """Whether this build has an optional part: "p4est" (adaptive meshes), "hdf5", "hypre", "mumps", "png"."""
    return bool(_lib.tes_has_part(name.encode()))


def __getattr__(name):
    """Operator and Multigrid need SciPy, which takes longer to import than all else."""
    if name in ("Operator", "Multigrid"):
        return getattr(importlib.import_module("._operator", __name__), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__():
    return sorted([*globals(), "Operator", "Multigrid"])
