"""gradient() of problems and results, against hand formulas and differences."""

from pathlib import Path

import numpy as np
import pytest

import tessera

ROOT = Path(__file__).parents[2]
SLAB = {
    "problem": "poisson",
    "constants": {"k": 2.0, "g": 0.5},
    "mesh": {"box": {"dim": 2, "cells": [3, 2]}},
    "space": {"degree": 2},
    "data": {"a": "k", "f": "3"},
    "solver": {"tolerance": 1e-13},
    "boundary": {"all": {"neumann": 0}, "left": {"dirichlet": "g"}, "right": {"dirichlet": "g"}},
    "output": {"values": {"mean": {"mean": "domain"}, "square": {"of": "mean*mean + k"}}},
}


def test_of_a_slab():
    """mean = g + f / (12 k)."""
    result = tessera.solve(SLAB)
    mean = 0.5 + 3 / 24
    assert result.gradient("mean", of="k") == pytest.approx(-3 / 48, abs=1e-12)
    found = result.gradient("mean", of=["data.f", "constants.g", "boundary.left.dirichlet"])
    assert found == pytest.approx([1 / 24, 1, 0.5], abs=1e-12)
    assert result.gradient("square", of="k") == pytest.approx(1 - 2 * mean * 3 / 48, abs=1e-12)


def test_set_and_text_are_the_case():
    """The case is that of the solve, with its replaced values."""
    result = tessera.solve(SLAB, set={"constants.k": 4, "data.f": "6"})
    assert result.gradient("mean", of="k") == pytest.approx(-6 / (12 * 16), abs=1e-12)


def test_parts_of_cells():
    """They add up, and each is the derivative by a datum in this cell alone."""
    result = tessera.solve(SLAB, set={"data.a": "1 + x", "mesh.box.cells": [4, 4]})
    parts = result.gradient("mean", of="data.a", cells=True)
    assert parts.shape == (16,)
    assert parts.sum() == pytest.approx(result.gradient("mean", of="a"), rel=1e-10)
    one = tessera.solve(
        SLAB, set={"data.a": "1 + x + 0*k + k*0 + (k - 2)*(x < 0.25 && y < 0.25)", "mesh.box.cells": [4, 4]}
    )
    assert one.gradient("mean", of="k") == pytest.approx(parts[0], rel=1e-9)


def test_directions_of_a_problem(square):
    """Callables, expressions, lists by component; against differences of solves."""

    def value(step, direction=lambda x, y: 0 * x):
        problem = tessera.Problem(
            square,
            degree=3,
            a=lambda x, y: 1 + x * y + step * direction(x, y),
            f="exp(x)",
            boundary={"left": 0.2, "all": {"robin": 1, "alpha": 2}},
            solver={"tolerance": 1e-13},
        )
        problem.solve()
        return problem

    def direction(x, y):
        return np.sin(3 * x) + y

    problem, h = value(0), 1e-4
    expected = (value(h, direction).value("u*u") - value(-h, direction).value("u*u")) / (2 * h)
    found = problem.gradient("u*u", of=[{"a": direction}, {"a": "sin(3*x) + y"}, "boundary.all.alpha"])
    assert found[:2] == pytest.approx([expected] * 2, rel=1e-7)
    assert problem.gradient({"kind": "mean", "boundary": "top"}, of="f") > 0
    sides = problem.gradient("u", of=["boundary.left", {"boundary": {"left": "y"}}, {"boundary": {"left": "1 - y"}}])
    assert sides[0] == pytest.approx(sides[1] + sides[2], rel=1e-9)


def test_pressures_and_all_on_a_solid(square):
    """A pressure is along the normal, and "all" are the boundaries of the problem's "all": against differences."""

    def solve(pressure):
        sides = {"left": [0, 0], "right": {"traction": [0.1, 0.2]}, "all": {"pressure": pressure}}
        problem = tessera.Problem(square, "elasticity", 2, mu="1 + x", lambda_=1.5, f=[0, -1], boundary=sides)
        problem.solve()
        return problem

    problem, of = solve(0.3), {"boundary": {"all": ["-nx", "-ny"]}}
    for value in ("strain_energy", "u*u + v"):
        expected = (solve(0.3 + 1e-3).value(value) - solve(0.3 - 1e-3).value(value)) / 2e-3
        assert problem.gradient(value, of=["boundary.all.pressure", of]) == pytest.approx([expected] * 2, rel=1e-5)
    with pytest.raises(tessera.InvalidInput, match=r"gradient by mu\[1\]: mu has no entries"):
        problem.gradient("v", of="mu[1]")
    result = tessera.solve({**SLAB, "solver": {}})
    with pytest.raises(tessera.InvalidInput, match="'all' is no boundary of a result"):
        result.gradient({"of": "u"}, of="boundary.all")


def test_over_a_file_of_gmsh():
    """Curved cells, materials, named boundaries: against differences of solves to 1e-7."""
    case = {
        "problem": "poisson",
        "constants": {"k": 20.0, "q": 1.0, "alpha": 2.0},
        "mesh": {"file": str(ROOT / "cases" / "plate.msh")},
        "space": {"degree": 3},
        "data": {"f": 0, "materials": {"sleeve": {"a": "k"}}},
        "solver": {"tolerance": 1e-12},
        "boundary": {
            "hole": {"neumann": "q"},
            "left": {"dirichlet": 0},
            "right": {"robin": {"alpha": "alpha", "g": 0}},
            "sides": {"neumann": 0},
        },
        "output": {"values": {"mean": {"mean": "right"}, "energy": {"integral": "domain", "of": "u*u"}}},
    }
    names = {"k": 2e-2, "q": 1e-3, "alpha": 2e-3}
    result = tessera.solve(case)
    for value in ("mean", "energy"):
        found = result.gradient(value, of=list(names))
        for name, step, derivative in zip(names, names.values(), found):
            at = case["constants"][name]
            around = [
                tessera.solve(case, set={f"constants.{name}": at + k * step}).values[value] for k in (-2, -1, 1, 2)
            ]
            expected = (around[0] - 8 * around[1] + 8 * around[2] - around[3]) / (12 * step)
            assert derivative == pytest.approx(expected, rel=1e-7), (value, name)


FLOW = {
    "problem": "stokes",
    "constants": {"nu": 0.7, "peak": 1.2},
    "mesh": {"box": {"cells": [4, 4], "upper": [2, 1]}},
    "space": {"element": "q", "degree": 3},
    "data": {"nu": "nu", "f": [0, "x"]},
    "boundary": {
        "all": {"velocity": [0, 0]},
        "left": {"velocity": ["4*peak*y*(1 - y)", 0]},
        "right": {"pressure": 0.3},
    },
    "solver": {"tolerance": 1e-13},
    "output": {"values": {"drag": {"force": "bottom", "of": "x"}, "inlet": {"mean": "left", "of": "p"}}},
}


def test_of_a_flow():
    """Drag and pressure of a channel: exact for a parabola, and against differences."""
    result = tessera.solve(FLOW)
    drag = result.gradient("drag", of=["nu", "peak", "boundary.right.pressure"])
    assert drag == pytest.approx([2 * 4 * 1.2, 2 * 4 * 0.7, 0], abs=1e-9)  # nu du/dy times the length
    inlet = result.gradient("inlet", of=["nu", "boundary.right.pressure"])
    assert inlet == pytest.approx([8 * 1.2 * 2, 1], abs=1e-8)


def test_of_a_problem_of_a_flow(square):
    """By names of data: against differences."""

    def force(nu=0.7, f=0.0, alpha=0.2, pressure=0.3):
        problem = tessera.Problem(
            square,
            "stokes",
            element="q",
            degree=2,
            nu=nu,
            alpha=alpha,
            f=[f"y + {f}", "x"],
            boundary={"right": {"pressure": f"x*y + {pressure}"}, "all": {"velocity": [0, 0]}},
            solver={"tolerance": 1e-13},
        )
        problem.solve()
        return problem, problem.value(kind="force", boundary="left", of="x")

    found = force()[0].gradient(
        {"kind": "force", "boundary": "left", "of": "x"}, of=["nu", "f[0]", "alpha", "boundary.right.pressure"]
    )
    h, at = 1e-3, {"nu": 0.7, "f": 0.0, "alpha": 0.2, "pressure": 0.3}
    for derivative, (name, value) in zip(found, at.items()):
        expected = (force(**{name: value + h})[1] - force(**{name: value - h})[1]) / (2 * h)
        assert derivative == pytest.approx(expected, rel=1e-5, abs=1e-9), name


def test_refusals(square):
    """By name, with the reason."""
    result = tessera.solve(SLAB)
    with pytest.raises(tessera.InvalidInput, match="did you mean 'mean'"):
        result.gradient("maen", of="k")
    with pytest.raises(tessera.InvalidInput, match="gradient by q: expected a name of constants"):
        result.gradient("mean", of="q")
    with pytest.raises(tessera.InvalidInput, match="a largest or smallest value has kinks"):
        result.gradient({"kind": "maximum"}, of="a")
    problem = tessera.Problem(square, "transport", time={"end": 1, "step": 0.5})
    with pytest.raises(tessera.InvalidInput, match="the problem is in time"):
        problem.gradient("u", of="a")
    with pytest.raises(tessera.InvalidInput, match="there is no 'visc'"):
        result.gradient({"of": "u"}, of="visc")
