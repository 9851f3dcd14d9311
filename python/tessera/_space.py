"""Spaces of finite elements: numbers of nodes, unknowns, loads."""

from __future__ import annotations
from typing import Sequence

import numpy as np

from ._arrays import Vector
from ._binding import ffi, lib
from ._core import Filler, InvalidInput, Noun, check_type, own, place_of, refuse
from ._mesh import Mesh
from ._types import Array, Function, Functions


class Space(Noun):
    """Continuous elements Q_k over a mesh, or element="dg".

    given: boundaries where values are given: "all" (the default), a name, a list of names, or {name: list of
    components}."""

    _desc = "TesSpaceDesc"

    def __init__(
        self,
        mesh: Mesh,
        degree: int = 4,
        components: int = 0,
        given: str | Sequence[str] | dict[str, Sequence[int]] | None = "all",
        element: str = "auto",
    ) -> None:
        check_type(mesh, Mesh, "Space")
        self.context, self.mesh = mesh.context, mesh
        filler = Filler(self.context)
        desc = ffi.new("TesSpaceDesc *")
        filler.fill(desc, {"mesh": mesh, "degree": degree, "components": components, "element": element}, "Space")
        if not (isinstance(given, str) and given == "all"):
            filler.fill(desc, {"given": self._masks(given, max(components, 1))}, "Space")
        place = place_of("TesSpace")
        self.context.call(lib.tes_space_create, self.context._p, desc, place)
        self._p = own("space", place[0])
        self._free = None

    @classmethod
    def _of(cls, mesh, pointer):
        space = cls.__new__(cls)
        space.context, space.mesh, space._p, space._free = mesh.context, mesh, pointer, None
        return space

    def _masks(self, given, components):
        names = self.mesh.boundaries
        masks = np.zeros(max(len(names), 1), np.uint8)
        given = [given] if isinstance(given, str) else given or ()
        table = given if isinstance(given, dict) else dict.fromkeys(given, range(components))
        for name, which in table.items():
            if name not in names:
                raise refuse(name, names, "Space: given")
            if not isinstance(which, (list, tuple, range)) or any(c not in range(components) for c in which):
                raise InvalidInput(
                    f"Space: given: '{name}': {which!r}, expected a list of components below {components}",
                    "invalid_input",
                )
            masks[names.index(name)] = sum(1 << c for c in which)
        return masks

    @property
    def length(self) -> int:
        """Of vectors: all nodes."""
        return lib.tes_space_length(self._p)

    @property
    def dofs(self) -> int:
        """Number of unknowns."""
        return lib.tes_space_dofs(self._p)

    @property
    def degree(self) -> int:
        """Of polynomials."""
        return lib.tes_space_degree(self._p)

    @property
    def components(self) -> int:
        """Of functions."""
        return lib.tes_space_components(self._p)

    def __repr__(self):
        return f"<tessera.Space of degree {self.degree}, {self.dofs} unknowns, {self.length} nodes>"

    @property
    def free(self) -> Array | None:
        """Numbers of the unknowns in a vector of all nodes, made once; None where all nodes are unknowns."""
        if self._free is None:
            self._free = (self._find_free(),)
        return self._free[0]

    def _find_free(self):
        if self.dofs == self.length:
            return None
        if self.context.ranks > 1:
            raise InvalidInput("Space: the list of unknowns, and all that needs it, works on one rank", "invalid_input")
        free = np.ones(self.length, bool)
        whole = Vector(self.context, self.length)
        for number in range(lib.tes_space_parts(self._p)):
            part = lib.tes_space_part(self._p, number)
            if part == ffi.NULL:
                raise InvalidInput(
                    "Space: elements with a part of its own kind have no list of unknowns", "invalid_input"
                )
            view = place_of("TesVector")
            self.context.check(lib.tes_vector_part(self._p, whole._p, number, view))
            first = int(ffi.cast("uintptr_t", lib.tes_vector_data_const(view[0]))) - whole.address
            lib.tes_vector_destroy(view)
            index = self._index(part)
            free[first // 8 + (-1 - index[index < 0])] = False
        numbers = np.flatnonzero(free)
        if len(numbers) != self.dofs:
            raise InvalidInput(f"Space: {len(numbers)} nodes are free and {self.dofs} are unknowns", "internal_error")
        return numbers

    def _index(self, part):
        place = ffi.new("const int32_t **")
        self.context.check(lib.tes_space_index(part, place, ffi.NULL))
        n = self.mesh.cells * (lib.tes_space_degree(part) + 1) ** self.mesh.dim
        return np.frombuffer(ffi.buffer(place[0], 4 * n), np.int32)

    def coordinates(self) -> Array:
        """Of the nodes of all entries of a vector, [length, dim]."""
        x = np.empty((self.length, self.mesh.dim))
        self.context.check(lib.tes_space_coordinates(self._p, ffi.cast("double *", x.ctypes.data)))
        return x

    def vector(self, precision: str = "double") -> Vector:
        """A vector of zeros on the device."""
        return Vector(self.context, self.length, precision)

    def interpolate(self, *functions: Function | None) -> Vector:
        """A vector of the values of functions, one per component, at the nodes."""
        filler = Filler(self.context)
        u = self.vector()
        pointers = [filler.function(f) for f in functions]
        if len(pointers) != max(self.components, 1):
            raise InvalidInput(
                f"interpolate: {len(pointers)} functions, expected {max(self.components, 1)}", "invalid_input"
            )
        self.context.call(lib.tes_space_interpolate, self._p, pointers, u._p)
        return u

    def load(self, f: Functions | None = None, g: dict[str, Functions] | None = None) -> Vector:
        """The vector of int f phi + int g phi: f a function or one per component, g {boundary: the same}."""
        filler = Filler(self.context)
        desc = ffi.new("TesLoadDesc *", {"space": self._p})
        most = max(self.components, 1)
        functions = as_list(f, most, "load: f")
        for c, entry in enumerate(functions):
            desc.f[c] = filler.function(entry)
        names = self.mesh.boundaries
        for name, entries in (g or {}).items():
            if name not in names:
                raise refuse(name, names, "load: g")
            for c, entry in enumerate(as_list(entries, most, f"load: g: '{name}'")):
                if desc.g[c] == ffi.NULL:
                    desc.g[c] = filler.keep(ffi.new("TesFunction *[]", len(names)))
                ffi.cast("TesFunction **", desc.g[c])[names.index(name)] = filler.function(entry)
        b = self.vector()
        self.context.call(lib.tes_functional_load, desc, b._p)
        return b


def as_list(value, most, what):
    """A list of at most so many components; a single function is the first one."""
    values = [] if value is None else list(value) if isinstance(value, (list, tuple)) else [value]
    if len(values) > most:
        raise InvalidInput(f"{what}: {len(values)} functions, expected at most {most}", "invalid_input")
    return values


def space_of(context, pointer, owner):
    """The space that belongs to an object of the library; `owner` keeps it."""
    mesh = Mesh._of(context, lib.tes_space_mesh(pointer))
    mesh._owner = owner
    space = Space._of(mesh, pointer)
    space._owner = owner
    return space
