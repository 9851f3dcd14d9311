"""Operators and V-cycles inside petsc4py: as many iterations as the library, its solutions."""

import numpy as np
import pytest

import tessera
from conftest import needs_trees

PETSc = pytest.importorskip("petsc4py.PETSc", reason="petsc4py is not installed")


def solve(operator, cycle, b, kind="cg"):
    """(solution, iterations) of PETSc."""
    ksp = PETSc.KSP().create(PETSc.COMM_SELF)
    ksp.setOperators(operator.to_petsc())
    ksp.setType(kind)
    ksp.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
    ksp.setTolerances(rtol=1e-9, atol=0, max_it=100)
    if cycle is not None:
        ksp.setPC(cycle.to_petsc())
    x = PETSc.Vec().createWithArray(np.zeros(len(b)), comm=PETSc.COMM_SELF)
    ksp.solve(PETSc.Vec().createWithArray(b.copy(), comm=PETSc.COMM_SELF), x)
    assert ksp.getConvergedReason() > 0
    return x.getArray().copy(), ksp.getIterationNumber()


def compare(problem, operator, precision, **smoother):
    """A cycle for PETSc with the settings of the problem, and the iterations of the library's own solver."""
    iterations = problem.solve().count
    assert 3 <= iterations <= 40
    return tessera.Multigrid(operator, precision=precision, **smoother), iterations


@pytest.mark.parametrize("precision", ["double", "single"])
def test_poisson(precision):
    """-div((1 + x y) grad u) = 1 on a box."""
    mesh = tessera.Mesh.box([12, 12])
    solver = {"method": "cg", "precision": "double" if precision == "double" else "mixed", "tolerance": 1e-9}
    problem = tessera.Problem(mesh, degree=4, a="1 + x*y", f=1, solver=solver)
    operator = tessera.Operator(tessera.Space(mesh, 4), a="1 + x*y")
    cycle, iterations = compare(problem, operator, precision)
    x, count = solve(operator, cycle, operator.restrict(operator.space.load("1")))
    assert count == iterations
    assert x == pytest.approx(operator.restrict(problem.u), rel=1e-7)


@needs_trees
def test_elasticity():
    """A plate that is held on the left, on a mesh of trees with hanging nodes."""
    mesh = tessera.Mesh.box([8, 4], upper=[2, 1], kind="forest")
    mesh = mesh.refine(mesh.centres[:, 0] < 0.5)
    space = tessera.Space(mesh, 3, components=2, given=["left"])
    operator = tessera.Operator(space, strain=1.0, grad_div=2.0)
    solver = {"method": "cg", "precision": "double", "tolerance": 1e-9, "smoother": "chebyshev", "smoother_degree": 3}
    problem = tessera.Problem(mesh, "elasticity", degree=3, mu=1, lambda_=2.0, f=[0, "-1 - x"],
                              boundary={"left": 0, "all": {"traction": [0, 0]}}, solver=solver)
    cycle, iterations = compare(problem, operator, "double", smoother={"kind": "chebyshev", "degree": 3})
    x, count = solve(operator, cycle, operator.restrict(space.load([0, "-1 - x"])))
    assert count == iterations
    assert x == pytest.approx(operator.restrict(problem.u), rel=1e-6, abs=1e-8)


def test_without_copies():
    """Where all nodes are unknowns the arrays of PETSc are read and written themselves."""
    space = tessera.Space(tessera.Mesh.box([3, 2]), 3, given=None)
    operator = tessera.Operator(space, a=1, c=1)
    seen, apply = [], operator.apply
    operator.apply = lambda x, out: (seen.append((x.ctypes.data, out.ctypes.data)), apply(x, out))[1]
    matrix = operator.to_petsc()
    x, y = matrix.createVecs()
    x.setRandom()
    matrix.mult(x, y)
    assert seen == [(x.getArray(readonly=1).ctypes.data, y.getArray().ctypes.data)]
    assert y.getArray() == pytest.approx(operator @ x.getArray())


def test_diagonal(square):
    """By Jacobi: what PETSc takes from the matrix."""
    operator = tessera.Operator(tessera.Space(square, 2), c="1 + x")
    diagonal = operator.to_petsc().getDiagonal().getArray()
    assert diagonal == pytest.approx(np.diag(operator @ np.eye(operator.shape[0])))


def test_exceptions_come_out(square):
    """Of the library, through PETSc."""
    operator = tessera.Operator(tessera.Space(square, 2))

    def fail(*_):
        raise tessera.InvalidInput("nothing goes", "invalid_input")

    operator.matvec = fail
    matrix = operator.to_petsc()
    x, y = matrix.createVecs()
    with pytest.raises(tessera.InvalidInput, match="nothing goes"):
        matrix.mult(x, y)
