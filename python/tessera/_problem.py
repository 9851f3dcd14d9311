"""Problems: an equation with its data on a mesh, solved at rest or in time."""

from __future__ import annotations
from typing import Any, Callable, Iterator

import numpy as np

from ._arrays import Vector
from ._binding import ffi, lib
from ._core import (
    Filler,
    InvalidInput,
    check_options,
    check_type,
    keep_error,
    known_members,
    members,
    own,
    place_of,
    refuse,
)
from ._mesh import Mesh
from ._solution import Solution
from ._space import as_list, space_of
from ._types import Array, Functions

# Names of data by equation: what they are in TesData.
DATA = {"a": "a", "c": "c", "f": "f", "b": "b", "lambda_": "lambda", "mu": "a", "density": "c", "nu": "a", "alpha": "c"}
SCALARS = ("poisson", "transport")
FLOWS = ("stokes", "navier_stokes")
# Members of TesProblemDesc that have other names here.
HIDDEN = ("data", "boundaries", "materials", "material", "add_load_user")
# Words of conditions, and the condition that they are.
CONDITIONS = {
    "dirichlet": "dirichlet",
    "velocity": "dirichlet",
    "displacement": "dirichlet",
    "neumann": "neumann",
    "traction": "neumann",
    "outflow": "neumann",
    "pressure": "neumann",
    "robin": "robin",
    "slip": "slip",
    "roller": "slip",
    "flux": "flux",
}


def describe_boundary(name, given, dim, most, flow):
    """A row of TesBoundary: {"dirichlet": g}, {"robin": g, "alpha": a}, or g alone, which is dirichlet. Of several
    components g is a list; None inside: this one is not given. A pressure is one number or expression."""
    row, where = dict(given) if isinstance(given, dict) else {"dirichlet": given}, f"boundary '{name}'"
    check_options(row, known_members("TesBoundary", CONDITIONS, ("name", "condition", "g", "components")), where)
    found = [word for word in CONDITIONS if word in row]
    if len(found) != 1:
        raise InvalidInput(f"{where}: {sorted(row)}, expected one of {', '.join(sorted(CONDITIONS))}", "invalid_input")
    condition = CONDITIONS[found[0]]
    g = as_list(row.pop(found[0]), 1 if found[0] == "pressure" else most + (flow and condition == "neumann"), where)
    components = 0
    if condition == "robin" and "alpha" not in row:
        raise InvalidInput(f"{where}: robin needs alpha", "invalid_input")
    if found[0] == "pressure":
        if not flow and callable(g[0]):
            raise TypeError(f"boundary '{name}': the pressure on a solid is a number or an expression")
        g = [None] * dim + g if flow else [f"-({g[0]})*n{axis}" for axis in "xyz"[:dim]]
    if condition == "dirichlet" and len(g) > 1 and None in g:
        components = sum(1 << c for c, value in enumerate(g) if value is not None)
    return {
        "name": None if name == "all" else name,
        "condition": condition,
        "g": g if condition != "slip" else None,
        "components": components,
        **row,
    }


def describe_boundaries(conditions, mesh, most, flow):
    """Rows of all boundaries: "all" are those that no other entry names. most: components of the solution."""
    names = mesh.boundaries
    if not isinstance(conditions, dict):
        raise TypeError(f"boundary: {conditions!r} is no dict of conditions by name")
    for name in conditions:
        if name != "all" and name not in names:
            raise refuse(name, [*names, "all"], "boundary")
    return [describe_boundary(name, given, mesh.dim, most, flow) for name, given in conditions.items()]


class Iterations:
    """How an iteration went: `count`, `residuals` relative to the right-hand side, `seconds`."""

    count: int
    seconds: float
    residuals: Array

    def __init__(self, result):
        self.count, self.seconds, self.floor = result.iterations, result.seconds, result.floor
        self.residuals = np.array([result.residuals[i] for i in range(result.residual_count)])

    def __repr__(self):
        last = f"{self.residuals[-1]:.1e}" if len(self.residuals) else "none"
        return f"<{self.count} iterations to a residual of {last} in {self.seconds:.3g} s>"


class _Ears:
    """What the library calls during a solve; it does not hold the problem."""

    def __init__(self, context, add_load):
        self.context, self.add_load, self.monitor = context, add_load, None


class Problem(Solution):
    """An equation on a mesh. Data are expressions, numbers or callables of NumPy arrays f(x, y, z, t).

    equation: "poisson", "transport", "elasticity", "stokes" or "navier_stokes". Data by keywords: f, a, c, b
    (velocity), nu, mu, lambda_, density. boundary: {name: condition}, see the manual; "all": the rest; none: u = 0.
    exact, initial: a function or a list by component.
    time: {"end": .., "step": ..} or other members of TesTimeDesc. solver: members of
    TesSolveOptions, as {"tolerance": 1e-10, "method": "cg"}. Other options are members of TesProblemDesc."""

    _desc = "TesProblemDesc"
    _data = {name: f"TesData.{member}" for name, member in DATA.items()}

    def __init__(
        self,
        mesh: Mesh,
        equation: str = "poisson",
        degree: int = 0,
        *,
        boundary: dict[str, Any] | None = None,
        materials: dict[str, dict[str, Any]] | None = None,
        exact: Functions | None = None,
        initial: Functions | None = None,
        time: dict[str, Any] | None = None,
        solver: dict[str, Any] | None = None,
        guess: Vector | None = None,
        add_load: Callable[[Any, Array], None] | None = None,
        **options: Any,
    ):
        check_type(mesh, Mesh, "Problem")
        check_options(options, known_members("TesProblemDesc", DATA, HIDDEN), "Problem")
        self.context = mesh.context
        filler = Filler(self.context)
        desc = ffi.new("TesProblemDesc *")
        self._ears = _Ears(self.context, add_load)
        self._handle = ffi.new_handle(self._ears)
        flow = equation in FLOWS
        most = 1 if equation in SCALARS else mesh.dim
        data = take_data(options, most, mesh.dim)
        filler.fill(
            desc,
            {
                "equation": equation,
                "mesh": mesh,
                "degree": degree,
                "data": data,
                "exact": as_list(exact, most + flow, "exact"),
                "initial": as_list(initial, most + flow, "initial"),
                "time": time,
                "solver": solver,
                "guess": guess,
                **options,
            },
            "Problem",
        )
        filler.fill(
            desc,
            {
                "boundary": describe_boundaries(boundary, mesh, most, flow) if boundary else None,
                "material": describe_materials(materials, most, mesh.dim),
            },
            "Problem",
        )
        self._others = [name for name in mesh.boundaries if name not in (boundary or ())]
        desc.solver.monitor, desc.solver.monitor_user = lib.py_monitor, self._handle
        if add_load is not None:
            desc.add_load, desc.add_load_user = lib.py_load, self._handle
        place = place_of("TesProblem")
        self.context.call(lib.tes_problem_create, self.context._p, desc, place)
        self._p = own("problem", place[0])

    def __repr__(self):
        info = self.info
        time = f", step {info['step']} of {info['steps']} at time {info['time']:.6g}" if info["steps"] else ""
        names = ", ".join(self.field_names[:4])
        return f"<tessera.Problem in {names} over {self.mesh.cells} cells, degree {self.space.degree}{time}>"

    def _solve(self, function, progress):
        result = ffi.new("TesSolveResult *")
        self._ears.monitor = progress
        iterations = None
        try:
            with self.context._turn:
                status = self.context.try_call(function, self._p, result)
                self._ears.monitor, self._lattices = None, None
                iterations = Iterations(result)
                self.context.check(status)
        except Exception as error:
            error.result = iterations
            raise
        return iterations

    def solve(self, progress: Callable[[int, float], None] | None = None) -> Iterations:
        """At rest: solves; in time: makes all steps that are left. progress: called with (iteration, residual). Returns
        Iterations; where the tolerance is not reached it raises NotConverged, and the last iterate stays."""
        return self._solve(lib.tes_problem_solve, progress)

    def step(self, progress: Callable[[int, float], None] | None = None) -> Iterations:
        """In time: makes one step."""
        return self._solve(lib.tes_problem_step, progress)

    def steps(self) -> Iterator[Iterations]:
        """In time: makes all steps, one at a time: for iterations in problem.steps(): .."""
        while self.info["step"] < self.info["steps"]:
            yield self.step()

    @property
    def time(self) -> float:
        """In time: the time of the solution."""
        return lib.tes_problem_info(self._p).time

    def remesh(self, **options: Any) -> dict[str, Any]:
        """In time: fits the mesh to the solution, where that is due. Options are members of TesAdaptDesc: max_level,
        every, tolerance, max_dofs, .. Returns TesRemesh as a dict."""
        filler, desc, what = Filler(self.context), ffi.new("TesAdaptDesc *"), ffi.new("TesRemesh *")
        filler.fill(desc, options, "remesh")
        self.context.call(lib.tes_problem_remesh, self._p, desc, what)
        self._lattices = None
        self._meshes += int(what.changed)
        return members(what[0])

    @property
    def operator(self):
        """The operator of the finest space, as a linear operator of SciPy."""
        from ._operator import Operator  # pylint: disable=import-outside-toplevel

        operator = Operator._of(self.space, lib.tes_problem_operator(self._p))
        operator._owner = self
        return operator


def take_data(options, most, dim):
    """The members of TesData among keywords, which leave them."""
    data, lengths = {}, {"f": most, "b": dim}
    for name in [name for name in options if name in DATA]:
        value, to = options.pop(name), DATA[name]
        if to in data:
            others = [other for other in DATA if DATA[other] == to]
            raise InvalidInput(f"Problem: {name} is given twice, by two of {', '.join(others)}", "invalid_input")
        data[to] = as_list(value, lengths[to], name) if to in lengths else value
    return data or None


def describe_materials(materials, most, dim):
    """Rows of TesMaterial: {name: {"a": .., "f": ..}}."""
    rows = [(name, dict(data)) for name, data in (materials or {}).items()]
    for name, data in rows:
        check_options(data, DATA, f"materials '{name}'")
    return [{"name": name, "data": take_data(data, most, dim)} for name, data in rows] or None


@ffi.def_extern(onerror=keep_error)
def py_monitor(user, iteration, residual):
    """TesSolveOptions.monitor."""
    monitor = ffi.from_handle(user).monitor
    if monitor is not None:
        monitor(iteration, residual)


@ffi.def_extern(error=lib.TES_INTERRUPTED, onerror=keep_error)
def py_load(user, space, b):
    """TesLoadCallback: add_load(space, b) with b as an array of all nodes."""
    ears = ffi.from_handle(user)
    ears.add_load(space_of(ears.context, space, ears), np.asarray(Vector(ears.context, None, pointer=b)))
    return lib.TES_OK
