"""Meshes: quadrilaterals and hexahedra with a place in space, and names for their boundaries and materials."""

from __future__ import annotations

import os
import tempfile
from typing import Any, Sequence

import numpy as np

from ._binding import ffi, lib
from ._core import Context, Filler, InvalidInput, Noun, members, own, place_of, text_of
from ._types import Array, Path

# VTK, Gmsh and meshio go round a face; Tessera numbers vertices by bits, x fastest.
LEXICOGRAPHIC = {4: [0, 1, 3, 2], 8: [0, 1, 3, 2, 4, 5, 7, 6]}


class Mesh(Noun):
    """A mesh. Options are the members of TesMeshDesc (Mesh.help() lists them).

    Mesh.box, .ball, .shell, .l_shape, .fichera, .channel make domains, .from_gmsh, .from_meshio, .from_arrays take
    meshes of others. Meshes do not change: refine() makes a new one."""

    _desc = "TesMeshDesc"

    def __init__(self, domain: str = "box", *, context: Context | None = None, **options: Any) -> None:
        self.context = Context.of(context)
        filler = Filler(self.context)
        desc = ffi.new("TesMeshDesc *")
        filler.fill(desc, {"domain": domain, **options}, "Mesh")
        self._make(desc, filler)

    def _make(self, desc, _filler):
        place = place_of("TesMesh")
        self.context.call(lib.tes_mesh_create, self.context._p, desc, place)
        self._p = own("mesh", place[0])

    @classmethod
    def _of(cls, context, pointer):
        mesh = cls.__new__(cls)
        mesh.context, mesh._p = context, pointer
        return mesh

    @classmethod
    def box(
        cls,
        cells: Sequence[int],
        lower: Sequence[float] | None = None,
        upper: Sequence[float] | None = None,
        **options: Any,
    ) -> Mesh:
        """A rectangle (two numbers of cells) or a cuboid (three), by default the unit one, with the boundaries left
        right bottom top (back front)."""
        given = np.asarray(cells)
        if given.ndim != 1 or given.dtype.kind not in "iu":
            raise InvalidInput(f"Mesh.box: {cells!r} are no numbers of cells, as [16, 16]", "invalid_input")
        cells = [int(n) for n in given]
        dim = len(cells)
        if dim not in (2, 3):
            raise InvalidInput(f"Mesh.box: {dim} numbers of cells, expected 2 or 3", "invalid_input")
        if lower is not None or upper is not None:
            lower = [0.0] * dim if lower is None else as_point(lower, dim, "Mesh.box: lower")
            upper = [1.0] * dim if upper is None else as_point(upper, dim, "Mesh.box: upper")
        return cls("box", dim=dim, cells=cells, lower=lower, upper=upper, **options)

    @classmethod
    def ball(cls, dim: int = 3, radius: float = 1.0, refine: int = 0, **options: Any) -> Mesh:
        """A disk or a ball, boundary "surface"."""
        return cls("ball", dim=dim, radius=radius, refine=refine, **options)

    @classmethod
    def shell(
        cls, dim: int = 3, inner_radius: float = 0.5, radius: float = 1.0, refine: int = 0, **options: Any
    ) -> Mesh:
        """A ring or a spherical shell, boundaries "inner" and "outer"."""
        return cls("shell", dim=dim, inner_radius=inner_radius, radius=radius, refine=refine, **options)

    @classmethod
    def l_shape(cls, dim: int = 2, refine: int = 0, **options: Any) -> Mesh:
        """(-1, 1)^2 without a quarter, boundaries "outer" and "notch"."""
        return cls("l_shape", dim=dim, refine=refine, **options)

    @classmethod
    def fichera(cls, dim: int = 3, refine: int = 0, **options: Any) -> Mesh:
        """(-1, 1)^3 without an eighth, boundaries "outer" and "notch"."""
        return cls("fichera", dim=dim, refine=refine, **options)

    @classmethod
    def channel(cls, dim: int = 2, refine: int = 0, **options: Any) -> Mesh:
        """A channel round a cylinder, boundaries "inflow", "outflow", "walls" and "cylinder"."""
        return cls("channel", dim=dim, refine=refine, **options)

    @classmethod
    def from_gmsh(cls, path: Path, **options: Any) -> Mesh:
        """A file of Gmsh; its physical groups name boundaries and materials. split=True cuts triangles, tetrahedra and
        prisms into quadrilaterals and hexahedra."""
        return cls("file", file=os.fspath(path), **options)

    @classmethod
    def from_meshio(cls, mesh: Any, **options: Any) -> Mesh:
        """A mesh of meshio, by a file in the format of Gmsh; its "gmsh:physical" cell data name boundaries and
        materials."""
        if not hasattr(mesh, "cells_dict"):
            raise TypeError(f"from_meshio: {mesh!r} is no mesh of meshio; from_gmsh reads files")
        missing = {name for name in ("gmsh:physical", "gmsh:geometrical") if name not in mesh.cell_data}
        data = {name: [np.zeros(len(block.data), np.int64) for block in mesh.cells] for name in missing}
        whole = type(mesh)(mesh.points, mesh.cells, cell_data={**mesh.cell_data, **data}, field_data=mesh.field_data)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mesh.msh")
            whole.write(path, file_format="gmsh22", binary=False)
            return cls.from_gmsh(path, **options)

    @classmethod
    def from_arrays(
        cls,
        points: Any,
        cells: Any,
        boundaries: dict[str, Any] | None = None,
        materials: dict[str, Any] | None = None,
        *,
        context: Context | None = None,
        **options: Any,
    ) -> Mesh:
        """Quadrilaterals or hexahedra: points[n, dim], cells[m, 2^dim] vertices in the order of VTK, Gmsh and meshio.

        boundaries: {name: vertices[k, 2^(dim-1)] of its faces}; materials: {name: numbers of its cells}."""
        context = Context.of(context)
        for what, names in (("boundaries", boundaries), ("materials", materials)):
            if names is not None and not isinstance(names, dict):
                raise TypeError(f"from_arrays: {what}: {names!r} is no dict by name")
        points, cells = np.asarray(points, dtype=np.float64), np.asarray(cells)
        dim = points.shape[1] if points.ndim == 2 else 0
        if dim not in (2, 3):
            raise InvalidInput(f"points: an array of shape {points.shape}, expected (n, 2) or (n, 3)", "invalid_input")
        if cells.ndim != 2 or cells.shape[1] != 2**dim or cells.dtype.kind not in "iu":
            raise InvalidInput(
                f"cells: an array of shape {cells.shape} and type {cells.dtype}, expected whole numbers "
                f"of shape (m, {2**dim}); from_meshio(mesh, split=True) takes triangles and tetrahedra",
                "invalid_input",
            )
        if cells.size and (cells.min() < 0 or cells.max() >= len(points)):
            raise InvalidInput(
                f"cells: vertices {cells.min()} to {cells.max()} of {len(points)} points", "invalid_input"
            )
        vertices = np.ascontiguousarray(cells[:, LEXICOGRAPHIC[2**dim]], dtype=np.int32)
        filler = Filler(context)
        trees = filler.keep(ffi.new("TesCellsDesc *"))
        trees.trees = len(vertices)
        filler.fill(trees, {"nodes": points[vertices], "vertices": vertices}, "Mesh")
        if boundaries:
            faces = number_faces(vertices, boundaries, dim)
            filler.fill(trees, {"boundary": faces, "boundaries": len(boundaries)}, "Mesh")
            texts = [filler.text(name, "boundaries") for name in boundaries]
            trees.boundary_names = filler.keep(ffi.new("char *[]", texts))
        if materials:
            numbers = np.full(len(vertices), -1, dtype=np.int32)
            for number, (name, which) in enumerate(materials.items()):
                which = np.asarray(which)
                which = np.flatnonzero(which) if which.shape == numbers.shape and which.dtype == bool else which
                if which.size and (which.dtype.kind not in "iu" or which.min() < 0 or which.max() >= len(numbers)):
                    raise InvalidInput(f"material '{name}': no numbers of the {len(numbers)} cells", "invalid_input")
                which = which.astype(np.int64)
                if np.any(numbers[which] >= 0):
                    raise InvalidInput(f"material '{name}': a cell of it is in another material too", "invalid_input")
                numbers[which] = number
            filler.fill(trees, {"material": numbers, "materials": len(materials)}, "Mesh")
            texts = [filler.text(name, "materials") for name in materials]
            trees.material_names = filler.keep(ffi.new("char *[]", texts))
        desc = ffi.new("TesMeshDesc *")
        filler.fill(desc, {"domain": "cells", "dim": dim, **options}, "Mesh")
        desc.trees = trees
        mesh = cls.__new__(cls)
        mesh.context = context
        try:
            mesh._make(desc, filler)
        except InvalidInput as error:
            if "inverted or degenerate" not in error.message:
                raise
            order = "cells: vertices go round a cell, as in VTK, Gmsh and meshio"
            raise InvalidInput(f"{error.message}; {order}", error.status, error.trace) from None
        return mesh

    # ---- what it is

    def _info(self):
        return lib.tes_mesh_info(self._p)

    @property
    def info(self) -> dict[str, Any]:
        """TesMeshInfo as a dict."""
        return members(self._info())

    @property
    def dim(self) -> int:
        """2 or 3"""
        return self._info().dim

    @property
    def cells(self) -> int:
        """Number of cells."""
        return self._info().cells

    @property
    def kind(self) -> str:
        """ "box", "forest" or "cells"."""
        return self.info["kind"]

    @property
    def boundaries(self) -> list[str]:
        """Names of the boundaries, by number."""
        return [text_of(lib.tes_mesh_boundary_name(self._p, i)) for i in range(lib.tes_mesh_boundaries(self._p))]

    @property
    def materials(self) -> list[str]:
        """Names of the materials, by number."""
        return [text_of(lib.tes_mesh_material_name(self._p, i)) for i in range(lib.tes_mesh_materials(self._p))]

    def __repr__(self):
        return f"<tessera.Mesh {self.kind} in {self.dim}D: {self.cells} cells>"

    def refine(self, mark: Any = None) -> Mesh:
        """A new mesh. mark[cells]: cells with True or a number above 0 are halved in all directions, families of cells
        with numbers below 0 become one; None: all cells. Meshes of kind forest."""
        marks = np.ones(self.cells, np.int8) if mark is None else np.asarray(mark)
        if marks.shape != (self.cells,):
            raise InvalidInput(f"mark: an array of shape {marks.shape}, expected ({self.cells},)", "invalid_input")
        if marks.dtype.kind not in "biuf" or np.isnan(marks).any():
            raise InvalidInput(f"mark: {marks.dtype}, expected bool or numbers, none of them nan", "invalid_input")
        marks = np.ascontiguousarray(np.sign(marks.astype(np.int8) if marks.dtype.kind == "b" else marks), np.int8)
        place = place_of("TesMesh")
        self.context.call(lib.tes_mesh_adapt, self._p, ffi.cast("int8_t *", marks.ctypes.data), place)
        return Mesh._of(self.context, own("mesh", place[0]))

    def points(self, xi: Any) -> Array:
        """Points F_K(xi) of all cells, [cells, n, dim], for reference points xi[n, dim] in [0, 1]^dim."""
        xi = np.ascontiguousarray(xi, dtype=np.float64)
        if xi.ndim != 2 or xi.shape[1] != self.dim:
            raise InvalidInput(f"xi: an array of shape {xi.shape}, expected (n, {self.dim})", "invalid_input")
        x = np.empty((self.cells, len(xi), self.dim))
        address, step = ffi.cast("double *", x.ctypes.data), len(xi) * self.dim
        reference = ffi.cast("double *", xi.ctypes.data)
        for cell in range(self.cells):
            status = lib.tes_mesh_evaluate(self._p, cell, len(xi), reference, address + cell * step, ffi.NULL)
            if status:
                self.context.fail(status)
        return x

    @property
    def centres(self) -> Array:
        """The middles of all cells, [cells, dim]: what marks are made of."""
        return self.points(np.full((1, self.dim), 0.5))[:, 0]

    def locate(self, points: Any) -> Array:
        """Numbers of the cells that have the points[n, dim]; -1: none."""
        x = as_points(points, self.dim)
        found = np.empty(len(x), np.int64)
        self.context.call(
            lib.tes_mesh_locate,
            self._p,
            len(x),
            ffi.cast("double *", x.ctypes.data),
            ffi.cast("int64_t *", found.ctypes.data),
            ffi.NULL,
        )
        return found


def as_point(point, dim, what):
    """A list of dim numbers."""
    x = np.asarray(point, dtype=np.float64)
    if x.shape != (dim,):
        raise InvalidInput(f"{what}: {point!r}, expected {dim} numbers", "invalid_input")
    return x.tolist()


def as_points(points, dim):
    """[n, dim] of float64, packed; one point is a list of one."""
    x = np.ascontiguousarray(points, dtype=np.float64)
    if x.ndim == 1:
        x = x[np.newaxis]
    if x.ndim != 2 or x.shape[1] != dim:
        raise InvalidInput(f"points: an array of shape {np.shape(points)}, expected (n, {dim})", "invalid_input")
    return x


def number_faces(vertices, boundaries, dim):
    """[cells][2 dim] number of each face's boundary, -1: none."""
    numbers = np.full((len(vertices), 2 * dim), -1, np.int32)
    bits = np.arange(2**dim)
    faces = [bits[(bits >> d & 1) == side] for d in range(dim) for side in (0, 1)]
    named = {name: np.atleast_2d(np.asarray(members_of)) for name, members_of in boundaries.items()}
    near = np.isin(vertices, np.concatenate([corners.ravel() for corners in named.values()]))
    keys = {}  # of faces all of whose vertices are named
    for face, corners in enumerate(faces):
        cells = np.flatnonzero(near[:, corners].all(axis=1))
        for cell, key in zip(cells.tolist(), np.sort(vertices[cells][:, corners], axis=1).tolist()):
            keys.setdefault(tuple(key), []).append((cell, face))
    for number, (name, rows) in enumerate(named.items()):
        for corners in rows.tolist():
            places = keys.get(tuple(sorted(corners)))
            if not places:
                raise InvalidInput(f"boundary '{name}': no cell has a face of the vertices {corners}", "invalid_input")
            for cell, face in places:
                if numbers[cell, face] not in (-1, number):
                    other = list(boundaries)[numbers[cell, face]]
                    raise InvalidInput(
                        f"boundary '{name}': the face of the vertices {corners} is in '{other}' too",
                        "invalid_input",
                    )
                numbers[cell, face] = number
    return numbers
