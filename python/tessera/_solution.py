"""What a solution can tell: values at points and of boundaries, fields over cells, files, pictures."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from typing import Any, Sequence

import numpy as np

from ._arrays import Vector
from ._binding import ffi, lib
from ._core import Filler, Held, InvalidInput, Noun, members, own, place_of, refuse, text_of
from ._field import Field, field_of
from ._mesh import Mesh, as_point, as_points
from ._space import Space, space_of
from ._types import Array, Path


class Fields(Mapping):
    """Fields by name: values [cells, (degree + 1)^dim] at the points `coordinates` of the solution."""

    def __init__(self, solution):
        self._solution, self._known = solution, {}

    def __getitem__(self, name):
        if name not in self._solution.field_names:
            raise KeyError(name)
        if name not in self._known:
            self._known[name] = self._solution.over_cells(name)
        return self._known[name]

    def __iter__(self):
        return iter(self._solution.field_names)

    def __len__(self):
        return len(self._solution.field_names)

    def __repr__(self):
        return f"<tessera fields {', '.join(self)} over {self._solution.mesh.cells} cells>"


class Sampler(Held):
    """Values of a solution at points that were located once: sampler("u"), sampler(["u", "ux"]), as sample(points, ..).

    It goes with the mesh that the solution had: after a remesh() that changed it, calls are refused. A mesh keeps the
    cells of its last eight samplers' points; older samplers have the same values, and search at each call."""

    def __init__(self, solution: Solution, points: Any) -> None:
        self._solution, self._meshes = solution, solution._meshes
        self.points: Array = as_points(points, solution.mesh.dim).copy()
        self.points.flags.writeable = False
        _, moved = solution._sample(self.points, [])
        self.moved: Array = moved

    def __call__(self, of: str | Sequence[str] | None = None) -> Array:
        """Values of the solution as it is now."""
        if self._meshes != self._solution._meshes:
            raise InvalidInput(
                "Sampler: the solution has another mesh since remesh(); problem.sampler(points) makes a new sampler",
                "invalid_input",
            )
        return self._solution.sample(self.points, of)

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        return f"<tessera.Sampler of {len(self)} points in {self.points.shape[1]}D>"


class Solution(Noun):
    """A problem that has been solved, or is being solved in time."""

    _lattices: Any = None
    _meshes: int = 0  # how often remesh() changed the mesh
    _value: Any = None
    _others: list[str] | None = None  # boundaries that no condition names; of results it is not known

    @property
    def info(self) -> dict[str, Any]:
        """TesProblemInfo as a dict: what was chosen, times, steps."""
        return members(lib.tes_problem_info(self._p))

    @property
    def field_names(self) -> list[str]:
        """Names of the fields: u; of flows u v (w) p; of elasticity also stresses and von_mises."""
        info = lib.tes_problem_info(self._p)
        return [text_of(info.field[i]) for i in range(info.fields)]

    @property
    def space(self) -> Space:
        """The finest space."""
        return space_of(self.context, lib.tes_problem_space(self._p), self)

    @property
    def mesh(self) -> Mesh:
        """The mesh that the solution is on now."""
        return self.space.mesh

    @property
    def u(self) -> Vector:
        """The vector of all nodes; numpy.asarray(problem.u) is a read-only view on the host."""
        pointer = ffi.cast("TesVector *", lib.tes_problem_solution(self._p))
        return Vector(self.context, None, pointer=pointer, owner=self)

    @property
    def fields(self) -> Fields:
        """Fields by name, over cells: fields["u"][cell, point], at `coordinates`."""
        return Fields(self)

    def field(self, name: str = "u") -> Field:
        """A component of the solution as it is now, as a function of space: a coefficient of another problem, on any
        mesh, or a callable of NumPy arrays. Where the build has HDF5."""
        return field_of(self, name)

    @property
    def coordinates(self) -> Array:
        """Points of the fields, [cells, (degree + 1)^dim, dim]: equally far from each other in a cell, x fastest."""
        return self.lattice(self.intervals(None))

    def lattice(self, n: int) -> Array:
        """(n + 1)^dim points per cell."""
        if self._lattices is None:
            self._lattices = {}
        mesh = self.mesh
        key = n, mesh.cells
        if key not in self._lattices:
            steps = np.linspace(0.0, 1.0, n + 1)
            axes = np.meshgrid(*[steps] * mesh.dim, indexing="ij")
            self._lattices = {key: mesh.points(np.stack([a.ravel() for a in reversed(axes)], axis=1))}
        return self._lattices[key]

    def over_cells(self, of: str | None = None, n: int | None = None) -> Array:
        """An expression in the fields at the points of a lattice of n (default: the degree) intervals a cell."""
        shape = self.mesh.cells, (self.intervals(n) + 1) ** self.mesh.dim
        return self._sample(None, [of], shape[0] * shape[1])[0].reshape(shape)

    def sample(self, points: Any, of: str | Sequence[str] | None = None) -> Array:
        """Values of an expression in the fields ("u", "ux*ux + uy*uy"), or of a list of them, at points[n, dim]."""
        several = isinstance(of, (list, tuple))
        values, _ = self._sample(as_points(points, self.mesh.dim), list(of or ()) if several else [of])
        return values if several else values[:, 0]

    def intervals(self, n):
        """Of a lattice in each cell: n, by default the degree."""
        if n is not None and n < 1:
            raise InvalidInput(f"{n} intervals a cell, expected 1 or more", "invalid_input")
        return max(self.space.degree, 1) if n is None else n

    def _sample(self, x, texts, n=None):
        """Values [n, texts] and how far points were moved; x None: n points of lattices of all cells."""
        n = len(x) if n is None else n
        filler = Filler(self.context)
        kept = [ffi.NULL if text is None else filler.text(text, "sample: of") for text in texts]
        values, moved = np.empty((n, len(texts))), np.empty(n)
        self.context.call(
            lib.tes_problem_sample,
            self._p,
            n,
            ffi.NULL if x is None else ffi.cast("double *", x.ctypes.data),
            len(texts),
            kept,
            ffi.cast("double *", values.ctypes.data),
            ffi.cast("double *", moved.ctypes.data),
        )
        return values, moved

    def sampler(self, points: Any) -> Sampler:
        """Samples at the same points again and again, as in each step: their cells are looked for once, now."""
        return Sampler(self, points)

    def value(
        self,
        of: str | None = None,
        kind: str = "integral",
        boundary: str | None = None,
        material: str | None = None,
        point: Sequence[float] | None = None,
    ) -> float:
        """A number: an integral, a mean or a force over the domain, a boundary or a material, a value at a point, a
        norm of the error: value("u*u"), value(kind="force", boundary="hole", of="x"), value(point=(0.5, 0.5))."""
        value = ffi.new("double *")
        what = self.describe_value(of, kind, boundary, material, point)
        self.context.call(lib.tes_problem_value, self._p, what, value)
        return value[0]

    def describe_value(self, of=None, kind="integral", boundary=None, material=None, point=None):
        """TesValue of the arguments of value(); it lives as long as the solution."""
        what, mesh = ffi.new("TesValue *"), self.mesh
        where, number = "domain", 0
        places = {"boundary": boundary, "material": material, "point": point}
        if sum(place is not None for place in places.values()) > 1:
            raise InvalidInput(f"value: more than one of {', '.join(places)} is given", "invalid_input")
        for name, names, place in ((boundary, mesh.boundaries, "boundary"), (material, mesh.materials, "material")):
            if name is not None:
                if name not in names:
                    raise refuse(name, names, f"value: {place}")
                where, number = place, names.index(name)
        what.where = {"domain": lib.TES_ON_DOMAIN, "boundary": lib.TES_ON_BOUNDARY, "material": lib.TES_ON_MATERIAL}[
            where
        ]
        filler = Filler(self.context)
        filler.fill(
            what,
            {
                "kind": "point" if point is not None else kind,
                "number": number,
                "of": of,
                "point": None if point is None else as_point(point, mesh.dim, "value: point"),
            },
            "value",
        )
        self._value = filler  # keeps its texts
        return what

    def gradient(self, value: Any, of: Any, cells: bool = False) -> Any:
        """The derivative of a value by data, for the price of one adjoint solve: gradient("u*u", of="a"),
        gradient({"kind": "mean", "boundary": "top"}, of=["f", "boundary.left"]).

        value: an expression in the fields, whose integral it is, or the arguments of value(). of: a datum, to which a
        number is added: "a", "c", "f", "f[1]", "b[0]", "mu", "lambda_", "boundary.NAME", "boundary.NAME[1]",
        "boundary.NAME.alpha", "boundary.NAME.pressure", "materials.NAME.a"; or a direction in the data: {"a": "x*y",
        "boundary": {"left": 1}}, functions as those of Problem; or a list of these, which gives an array. cells=True:
        an array of the parts of all cells, the derivatives by the datum in this cell alone. Steady poisson, transport,
        elasticity, and stokes with element q."""
        from ._gradient import of_problem  # pylint: disable=import-outside-toplevel

        arguments = {"of": value} if isinstance(value, str) else dict(value)
        return of_problem(self, self.describe_value(**arguments), of, cells)

    @property
    def errors(self) -> dict[str, float]:
        """{"l2": .., "h1": ..} against the exact solution; of flows the errors of velocity and pressure."""
        if "p" in self.field_names:
            flow = ffi.new("TesFlowResult *")
            self.context.call(lib.tes_problem_flow, self._p, flow)
            return {name: getattr(flow, name) for name in ("velocity_l2", "pressure_l2", "divergence_l2")}
        l2, h1 = ffi.new("double *"), ffi.new("double *")
        self.context.call(lib.tes_problem_errors, self._p, l2, h1)
        return {"l2": l2[0], "h1": h1[0]}

    def indicators(self) -> Array:
        """eta_K of the residual estimator, [cells]; on meshes with trees. What refine() marks by."""
        eta2 = np.empty(self.mesh.cells)
        self.context.call(lib.tes_estimate_residual, self._p, ffi.cast("double *", eta2.ctypes.data))
        return np.sqrt(eta2)

    def mark(self, indicators: Any = None, fraction: float = 0.5, marking: str = "bulk") -> Array:
        """[cells] of bool: the cells to refine, by default the fewest that make up half of the squared estimate."""
        eta = self.indicators() if indicators is None else np.asarray(indicators, dtype=np.float64)
        if eta.shape != (self.mesh.cells,):
            raise InvalidInput(
                f"indicators: an array of shape {eta.shape}, expected ({self.mesh.cells},)", "invalid_input"
            )
        values, marks = np.ascontiguousarray(eta * eta), np.zeros(len(eta), np.int8)
        kind = {"bulk": lib.TES_MARK_BULK, "fraction": lib.TES_MARK_FRACTION}[marking]
        lib.tes_mark_cells(
            self.context._p,
            kind,
            fraction,
            len(eta),
            ffi.cast("double *", values.ctypes.data),
            ffi.cast("int8_t *", marks.ctypes.data),
        )
        return marks > 0

    # ---- files and pictures

    def to_vtu(self, path: Path) -> Path:
        """A file for ParaView with cells of the space's degree. Returns its path."""
        self.context.call(lib.tes_vtu_write_problem, self._p, 0, ffi.NULL, os.fspath(path).encode())
        return path

    def to_vtkhdf(self, path: Path) -> Path:
        """The same as HDF5 (VTKHDF). Returns its path."""
        place, name = place_of("TesVtkhdf"), ffi.new("char[]", os.fspath(path).encode())
        desc = ffi.new("TesVtkhdfDesc *", {"path": name})
        self.context.check(lib.tes_vtkhdf_create(self.context._p, desc, place))
        file = own("vtkhdf", place[0])
        self.context.call(lib.tes_vtkhdf_write_problem, file, self._p, 0.0, 0, ffi.NULL)
        ffi.release(file)
        return path

    def to_pyvista(self) -> Any:
        """A pyvista.UnstructuredGrid with Lagrange cells of the space's degree."""
        import pyvista  # pylint: disable=import-outside-toplevel,import-error

        with tempfile.TemporaryDirectory() as folder:
            return pyvista.read(self.to_vtu(os.path.join(folder, "solution.vtu")))

    def to_meshio(self, n: int | None = None) -> Any:
        """A meshio.Mesh: each cell cut into n^dim (default: the degree) straight ones, fields as point data."""
        import meshio  # pylint: disable=import-outside-toplevel,import-error

        n = self.intervals(n)
        x = self.lattice(n)
        points = x.reshape(-1, x.shape[2])
        data = {name: self.over_cells(name, n).ravel() for name in self.field_names}
        return meshio.Mesh(
            points,
            [("quad" if self.mesh.dim == 2 else "hexahedron", pieces(*x.shape[:2], x.shape[2], n))],
            point_data=data,
        )

    def plot(
        self,
        of: str | None = None,
        axes: Any = None,
        slice: tuple[str, float] | None = None,
        edges: bool = False,
        **options: Any,
    ) -> Any:  # pylint: disable=redefined-builtin
        """A picture by matplotlib of an expression in the fields; 3D: cut by slice=("z", 0.5), by default in the
        middle. Options go to tripcolor (2D) or pcolormesh (3D). Returns the axes."""
        from ._plot import plot  # pylint: disable=import-outside-toplevel

        return plot(self, of, axes, slice, edges, options)


def pieces(cells, points, dim, n):
    """Vertices of the n^dim pieces of each cell's lattice, in the order of VTK: [cells * n^dim, 2^dim]."""
    one = np.arange(n)
    axes = np.meshgrid(*[one] * dim, indexing="ij")
    first = sum(axis.ravel() * (n + 1) ** d for d, axis in enumerate(reversed(axes)))
    around = [0, 1, n + 2, n + 1]
    if dim == 3:
        around += [corner + (n + 1) ** 2 for corner in around]
    local = first[:, None] + np.array(around)
    return (np.arange(cells)[:, None, None] * points + local).reshape(-1, 2**dim)
