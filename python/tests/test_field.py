"""Solutions as functions of space."""

import numpy as np
import pytest

import tessera

pytestmark = pytest.mark.skipif(not tessera.has_part("hdf5"), reason="built without HDF5")


def solved(mesh, equation="poisson", **options):
    """A problem with its solution."""
    problem = tessera.Problem(mesh, equation, solver={"tolerance": 1e-12}, **options)
    problem.solve()
    return problem


def test_is_the_solution(square, rng):
    """At points inside, of any shape."""
    problem = solved(square, degree=3, f="exp(x)")
    field, x = problem.field(), rng.random((2, 5, 3))
    expected = problem.sample(x.reshape(2, -1).T).reshape(5, 3)
    assert field(*x) == pytest.approx(expected, abs=1e-14)
    assert field(0.5, x[1]) == pytest.approx(field(np.full((5, 3), 0.5), x[1]))
    assert field(np.zeros(0), np.zeros(0)).shape == (0,)


@pytest.mark.parametrize("element", ["rt", "q"])
def test_velocity_and_pressure(square, element):
    """Of flows with both elements."""
    flow = solved(
        square,
        "stokes",
        element=element,
        degree=2,
        nu=0.5,
        f=["y", "x*x"],
        boundary={"left": {"velocity": ["y*(1 - y)", 0]}, "right": {"pressure": "1 + y"}, "all": {"velocity": [0, 0]}},
    )
    for name in ("u", "v", "p"):
        assert flow.field(name)(0.3, 0.4) == pytest.approx(flow.sample([[0.3, 0.4]], name)[0], abs=1e-13)


def test_pressure_on_a_solid():
    """sigma n = - P n: with lambda 0 and mu 1/2 a column under P = 0.1 becomes shorter by P."""
    sides = {"left": {"displacement": [0, None]}, "bottom": {"displacement": [None, 0]}, "right": {"traction": [0, 0]}}
    sides["top"] = {"pressure": 0.1}
    column = solved(tessera.Mesh.box([3, 3]), "elasticity", degree=2, mu=0.5, lambda_=0.0, boundary=sides)
    assert column.field("v")(0.2, 1.0) == pytest.approx(-0.1, abs=1e-9)
    with pytest.raises(TypeError, match="the pressure on a solid is a number or an expression"):
        tessera.Problem(column.mesh, "elasticity", mu=1.0, boundary={"top": {"pressure": lambda x: x}})


def test_as_data_on_another_mesh(square):
    """As a load and as a part of a coefficient: of fields the library itself, of callables by NumPy."""
    heat = solved(square, degree=4, f="exp(x)")
    field, other = heat.field(), tessera.Mesh.box([5, 7])
    direct = solved(other, degree=3, f=field, a=lambda x, y: 1 + field(x, y) ** 2, boundary={"left": field, "all": 0})
    around = solved(other, degree=3, f=lambda x, y: field(x, y), a=lambda x, y: 1 + field(x, y) ** 2)
    assert direct.u.numpy() == pytest.approx(around.u.numpy(), abs=1e-12)
    assert direct.value() > 0


def test_lives_by_itself():
    """The solution may go, and goes on in time without it."""
    problem = tessera.Problem(
        tessera.Mesh.box([4, 4]), "transport", degree=2, f=1, boundary={"all": 0}, time={"end": 1, "step": 0.1}
    )
    problem.step()
    field, before = problem.field(), problem.sample([[0.5, 0.5]])[0]
    problem.step()
    after = problem.sample([[0.5, 0.5]])[0]
    del problem
    assert field(0.5, 0.5) == pytest.approx(before, abs=1e-14) and abs(after - before) > 1e-3


def test_refusals(square):
    """Names, coordinates, points outside."""
    problem = solved(square, degree=2)
    with pytest.raises(tessera.InvalidInput, match="field: there is no 'w'; expected one of u"):
        problem.field("w")
    with pytest.raises(TypeError, match="3 coordinates, expected 2"):
        problem.field()(1, 2, 3)
    with pytest.raises(tessera.InvalidInput, match=r"the point \(3.0, 0.5\) lies in no cell"):
        problem.field()(np.array([0.5, 3]), 0.5)
    with pytest.raises(tessera.InvalidInput, match="data.f.*is nan at"):
        tessera.Problem(tessera.Mesh.box([2, 2], upper=[2, 2]), f=problem.field())
