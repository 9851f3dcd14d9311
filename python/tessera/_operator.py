"""Operators and V-cycles as SciPy's linear operators: on unknowns alone, or on all nodes without a copy."""

from __future__ import annotations

import math
from typing import Any, Sequence

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ._arrays import Vector, raw
from ._binding import ffi, lib
from ._core import Filler, InvalidInput, Noun, check_options, check_type, known_members, own, place_of, refuse, text_of
from ._space import Space
from ._types import Array, Function

# Terms by the names of their data: Operator(space, a="1 + x", c=2) is diffusion and mass.
TERMS = {"a": "diffusion", "c": "mass", "strain": "strain", "grad_div": "grad_div"}


class _OnUnknowns(LinearOperator):
    """y <- A x at unknowns. Where all nodes are unknowns these are SciPy's arrays themselves; else two vectors of all
    nodes stand between, which are made once."""

    def __init__(self, space, precision, **applied):
        self.space, self.context, self.precision = space, space.context, precision
        self._length = space.length
        super().__init__(np.dtype(np.float64), (space.dofs, space.dofs))
        self._number = np.dtype(np.float64 if precision == "double" else np.float32)
        self._in, self._out = space.vector(precision), space.vector(precision)
        self._on_host = self.context.on_host
        self._linear = ffi.new(
            "PyLinear *",
            {
                "context": self.context._p,
                "in": self._in._p,
                "out": self._out._p,
                "precision": lib.TES_DOUBLE if precision == "double" else lib.TES_SINGLE,
                **applied,
            },
        )
        if self._on_host:  # apply() on a GPU wants no list of the host, which takes seconds on large meshes
            self._list()

    def _list(self):
        """The list of the unknowns, for the library too."""
        free = self.space.free
        if free is not None:
            self._linear.unknowns, self._linear.unknown = len(free), ffi.from_buffer("int64_t[]", free)

    def _matvec(self, x):
        if np.iscomplexobj(x):
            return self._matvec(np.real(x)) + 1j * self._matvec(np.imag(x))
        if not self._on_host:
            return self._matvec_by_copies(x)
        if self.space.free is None:
            x = np.ascontiguousarray(x.reshape(-1), self._number)
            y = np.empty_like(x)
            status = lib.py_apply(self._linear, self._length, ffi.from_buffer(x), ffi.from_buffer(y))
        else:
            x = np.ascontiguousarray(x.reshape(-1), np.float64)
            y = np.empty(len(x))
            status = lib.py_apply_unknowns(self._linear, ffi.from_buffer("double[]", x), ffi.from_buffer("double[]", y))
        if status:
            self.context.fail(status)
        return y

    def _matvec_by_copies(self, x):
        """SciPy computes on the host: to a GPU and back."""
        values, free = np.zeros(self._length), self.space.free
        values[slice(None) if free is None else free] = x.reshape(-1)
        pointer = ffi.cast("double *", values.ctypes.data)
        self.context.check(lib.tes_vector_set(self._in._p, pointer))
        self._call(self._in._p, self._out._p)
        self.context.check(lib.tes_vector_get(self._out._p, pointer))
        return values if free is None else values[free]

    def _rmatvec(self, x):
        if not self._symmetric:
            raise NotImplementedError(f"{type(self).__name__}: it is not symmetric, and its transpose is not known")
        return self._matvec(x)

    def _call(self, x, y):
        raise NotImplementedError

    def _apply(self, names, x, y):
        """Over all nodes, in the memory of both arrays."""
        addresses = [self._address(x, names[0], False), self._address(y, names[1], True)]
        if not self._on_host:
            self.context.synchronize()
        status = lib.py_apply(self._linear, self._length, *addresses)
        if not self._on_host:
            self.context.synchronize()
        if status:
            shared = "" if text_of(lib.tes_context_message(self.context._p)) else " and ".join(names) + " share memory"
            self.context.fail(status, shared)
        return y

    def _address(self, array, name, writable):
        if (
            type(array) is np.ndarray and array.dtype == self._number and self._on_host
        ):  # most arrays, in a microsecond
            flags = array.flags
            if (
                array.shape == (self._length,)
                and flags.c_contiguous
                and flags.aligned
                and (flags.writeable or not writable)
            ):
                return ffi.from_buffer(array)
        found = raw(self.context, array, name, self._length, writable)
        if found.precision != self.precision:
            raise InvalidInput(
                f"{name}: numbers of {found.precision} precision, expected {self.precision}", "invalid_input"
            )
        return self._held(found)

    def _held(self, found):
        """The address; what owns it lives as long as this."""
        pointer = ffi.cast("void *", found.address)
        return ffi.gc(pointer, lambda _, owner=found.owner: None)

    def to_petsc(self) -> Any:
        """For petsc4py, on the unknowns: a Mat of an operator, a PC of a cycle."""
        from . import _petsc  # pylint: disable=import-outside-toplevel

        return _petsc.matrix(self) if isinstance(self, Operator) else _petsc.preconditioner(self)

    def restrict(self, u: Any) -> Array:
        """The unknowns of a vector of all nodes."""
        values = self._checked(u.numpy() if isinstance(u, Vector) else np.asarray(u), self.space.length, "restrict")
        return values.copy() if self.space.free is None else values[self.space.free]

    def extend(self, x: Any) -> Array:
        """A vector of all nodes, zero at given ones."""
        u = np.zeros(self.space.length)
        u[slice(None) if self.space.free is None else self.space.free] = self._checked(x, self.space.dofs, "extend")
        return u

    @staticmethod
    def _checked(values, length, what):
        if np.shape(values) != (length,):
            raise InvalidInput(f"{what}: an array of shape {np.shape(values)}, expected ({length},)", "invalid_input")
        return values


class Operator(_OnUnknowns, Noun):
    """A form on a space, applied matrix-free: a scipy.sparse.linalg.LinearOperator on the unknowns.

    Operator(space) is -div(grad u), to which robin {boundary: alpha} and velocity [b_x, b_y, (b_z)] add terms; a, c:
    coefficients of diffusion and mass, alone where only one is given; or terms, a list of dicts with the members of
    TesTermDesc. Other options are members of TesOperatorDesc (Operator.help())."""

    _desc = "TesOperatorDesc"

    def __init__(
        self,
        space: Space,
        terms: Sequence[dict[str, Any]] | None = None,
        *,
        robin: dict[str, Function] | None = None,
        velocity: Sequence[Function] | None = None,
        precision: str = "double",
        penalty: str | None = None,
        **options: Any,
    ) -> None:
        check_type(space, Space, "Operator")
        check_options(options, known_members("TesOperatorDesc", [*TERMS, "robin", "velocity"], ("form",)), "Operator")
        terms = list(terms or ())
        for name in [name for name in TERMS if name in options]:
            terms.append({"term": TERMS[name], "a": {"all": options.pop(name)}})
        if not terms or velocity is not None and not any(term["term"] == "diffusion" for term in terms):
            terms.append({"term": "diffusion"})
        if velocity is not None:
            terms.append({"term": "transport", "b": list(velocity)})
        for name, alpha in (robin or {}).items():
            names = space.mesh.boundaries
            if name not in names:
                raise refuse(name, names, "Operator: robin")
            terms.append({"term": "robin", "a": {"all": alpha}, "boundary": names.index(name)})
        self._symmetric = not any(term["term"] == "transport" for term in terms)
        filler = Filler(space.context)
        desc = ffi.new("TesOperatorDesc *")
        filler.fill(desc, {"space": space, "precision": precision, **options}, "Operator")
        filler.fill(desc.form, {"term": terms or None, "penalty": penalty}, "Operator")
        place = place_of("TesOperator")
        space.context.call(lib.tes_operator_create, space.context._p, desc, place)
        self._p = own("operator", place[0])
        super().__init__(space, precision, op=self._p)

    @classmethod
    def _of(cls, space, pointer):
        op = cls.__new__(cls)
        op._p, op._symmetric = pointer, text_of(lib.tes_operator_info(pointer).kind) != "transport"
        _OnUnknowns.__init__(op, space, "double", op=pointer)
        return op

    def _call(self, x, y):
        status = lib.tes_operator_apply(self._p, x, y)
        if status:
            self.context.fail(status)

    def apply(self, x: Any, out: Any) -> Any:
        """out <- A x over all nodes, without a copy; entries at given nodes are zero. Arrays of NumPy, on a GPU those
        of CuPy or PyTorch, or vectors of Tessera."""
        return self._apply(("x", "out"), x, out)

    def diagonal(self) -> Array:
        """Of the unknowns."""
        d = self.space.vector(self.precision)
        self.context.check(lib.tes_operator_diagonal(self._p, d._p))
        return self.restrict(d)

    def lift(self, u: Vector, b: Vector) -> Vector:
        """b <- b - A u for values u at given nodes, vectors of all nodes."""
        check_type(u, Vector, "lift: u")
        check_type(b, Vector, "lift: b")
        self.context.check(lib.tes_operator_lift(self._p, u._p, b._p))
        return b

    @property
    def description(self) -> str:
        """One line: kind and kernel."""
        return text_of(lib.tes_operator_info(self._p).description)


class Multigrid(_OnUnknowns, Noun):
    """One V-cycle of geometric multigrid: a preconditioner, a scipy.sparse.linalg.LinearOperator on the unknowns.

    precision "single" computes the cycle in float32. smoother: a name or a dict with the members of TesSmootherDesc;
    other options are members of TesMultigridDesc (Multigrid.help())."""

    _desc = "TesMultigridDesc"

    def __init__(
        self,
        operator: Operator,
        precision: str = "double",
        smoother: str | dict[str, Any] | None = None,
        symmetric: bool = True,
        **options: Any,
    ) -> None:
        check_type(operator, Operator, "Multigrid")
        context = operator.context
        filler = Filler(context)
        desc = ffi.new("TesMultigridDesc *")
        if isinstance(smoother, str):
            smoother = {"kind": smoother}
        filler.fill(
            desc,
            {"op": operator, "precision": precision, "smoother": smoother, "symmetric": symmetric, **options},
            "Multigrid",
        )
        place = place_of("TesMultigrid")
        context.call(lib.tes_multigrid_create, context._p, desc, place)
        self._p = own("multigrid", place[0])
        self.operator = operator
        self._symmetric = operator._symmetric and symmetric and options.get("pre") == options.get("post")
        super().__init__(operator.space, precision, cycle=self._p)

    levels = property(lambda self: lib.tes_multigrid_levels(self._p), doc="Number of levels.")

    def _call(self, x, y):
        status = lib.tes_multigrid_cycle(self._p, x, y, True)
        if status:
            self.context.fail(status)

    def _matvec(self, x):
        if self.precision == "double" or np.iscomplexobj(x):
            return super()._matvec(x)
        largest = float(np.max(np.abs(x), initial=0.0))  # float32 has entries of about 1
        if not largest > 0:
            return np.zeros(self.shape[0])
        scale = 2.0 ** round(math.log2(largest))
        return scale * super()._matvec(np.asarray(x) / scale).astype(np.float64)

    def apply(self, b: Any, out: Any) -> Any:
        """out <- one cycle for A out = b over all nodes, without a copy; b is zero at given nodes."""
        return self._apply(("b", "out"), b, out)
