"""Operators and V-cycles inside SciPy."""

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator, aslinearoperator, cg, eigsh

import tessera
from conftest import needs_trees


def test_matrix_of_one_cell():
    """Q_1 on the unit square without given values: the textbook matrix, 1/6 of 4, -1, -1, -2."""
    op = tessera.Operator(tessera.Space(tessera.Mesh.box([1, 1]), 1, given=None))
    a, b, c = 4 / 6, -1 / 6, -2 / 6
    assert op @ np.eye(4) == pytest.approx(np.array([[a, b, b, c], [b, a, c, b], [b, c, a, b], [c, b, b, a]]))


def test_mass_and_robin():
    """Sums of all entries: area of the domain, length of a side."""
    mesh = tessera.Mesh.box([3, 2], upper=[3, 2])
    space = tessera.Space(mesh, 3, given=None)
    ones = np.ones(space.length)
    assert ones @ (tessera.Operator(space, c=2.0) @ ones) == pytest.approx(12)
    assert ones @ (tessera.Operator(space, a=1, robin={"left": 5.0}) @ ones) == pytest.approx(10)
    assert ones @ (tessera.Operator(space, robin={"left": 5.0}) @ ones) == pytest.approx(10)  # and -div(grad u)
    with pytest.raises(tessera.InvalidInput, match="neither a diffusion nor a mass term"):
        tessera.Operator(space, [{"term": "robin", "boundary": 0}])
    with pytest.raises(tessera.InvalidInput, match="did you mean 'left'"):
        tessera.Operator(space, robin={"lefd": 1.0})


def test_only_unknowns(square):
    """No zero eigenvalues of given nodes: the least of -Laplace on the square is 2 pi^2 times the mass."""
    space = tessera.Space(square, 3)
    op, mass = tessera.Operator(space), tessera.Operator(space, c=1.0)
    assert isinstance(op, LinearOperator) and op.shape == (space.dofs, space.dofs) == (23 * 23, 23 * 23)
    cycle = tessera.Multigrid(op)
    least = eigsh(
        op, 1, M=mass, which="SM", Minv=aslinearoperator(np.linalg.inv(mass @ np.eye(space.dofs))), maxiter=9000
    )
    assert least[0][0] == pytest.approx(2 * np.pi**2, rel=1e-4)
    assert np.linalg.eigvalsh(op @ np.eye(space.dofs))[0] > 0
    assert cycle.shape == op.shape


def test_boundaries_by_name(square):
    """Given on the left alone."""
    space = tessera.Space(square, 2, given=["left"])
    assert space.dofs == 16 * 17 and (space.coordinates()[space.free][:, 0] > 0).all()
    assert tessera.Space(square, 2, given="left").dofs == space.dofs
    with pytest.raises(tessera.InvalidInput, match="did you mean 'right'"):
        tessera.Space(square, 2, given=["rigth"])
    for which in ([2], [-1], 0):
        with pytest.raises(tessera.InvalidInput, match="'left': .*, expected a list of components below 2"):
            tessera.Space(square, 2, components=2, given={"left": which})
    for entries in ({"f": [1, 2]}, {"g": {"right": [1, 2]}}):
        with pytest.raises(tessera.InvalidInput, match="load: .*: 2 functions, expected at most 1"):
            space.load(**entries)


def test_components(square):
    """Unknowns of two components, of which one is given on the left."""
    space = tessera.Space(square, 2, components=2, given={"left": [0]})
    free = np.zeros(space.length, bool)
    free[space.free] = True
    x = space.coordinates()[:, 0]
    assert len(x) == 2 * 17 * 17 and free[: 17 * 17][x[: 17 * 17] == 0].sum() == 0 and free.sum() == 2 * 17 * 17 - 17


@pytest.mark.parametrize("precision, most", [("double", 8), ("single", 8)])
def test_multigrid_inside_scipy(square, precision, most):
    """-div((1 + x y) grad u) = 1 by SciPy's CG with a V-cycle: as many iterations as the library, its solution."""
    coefficient = lambda x, y: 1 + x * y  # pylint: disable=unnecessary-lambda-assignment
    space = tessera.Space(square, 4)
    op = tessera.Operator(space, a=coefficient)
    cycle = tessera.Multigrid(op, precision=precision)
    b, count = op.restrict(space.load("1")), []
    x, info = cg(op, b, M=cycle, rtol=1e-8, callback=lambda _: count.append(1))
    assert info == 0 and len(count) <= most
    problem = tessera.Problem(square, degree=4, f=1, a="1 + x*y", solver={"tolerance": 1e-11})
    problem.solve()
    assert x == pytest.approx(np.asarray(problem.u)[space.free], abs=1e-8)


def test_scale_of_small_vectors(square):
    """float32 inside: a vector of 1e-60 comes out as well as one of 1."""
    space = tessera.Space(square, 3)
    cycle = tessera.Multigrid(tessera.Operator(space), precision="single")
    b = np.linspace(1, 2, space.dofs)
    assert cycle @ (1e-60 * b) == pytest.approx(1e-60 * (cycle @ b), rel=1e-4)
    assert (cycle @ np.zeros(space.dofs) == 0).all()


@needs_trees
def test_hanging_nodes_are_symmetric(rng):
    """On a mesh with hanging nodes the operator is symmetric, and so is the cycle."""
    mesh = tessera.Mesh.ball(dim=2, refine=1)
    mesh = mesh.refine(mesh.centres[:, 0] > 0.2)
    space = tessera.Space(mesh, 3)
    op = tessera.Operator(space)
    cycle = tessera.Multigrid(op)
    x, y = rng.standard_normal((2, space.dofs))
    assert x @ (op @ y) == pytest.approx(y @ (op @ x), rel=1e-11)
    assert x @ (cycle @ y) == pytest.approx(y @ (cycle @ x), rel=1e-6)


def test_diagonal(square):
    """That of the matrix."""
    op = tessera.Operator(tessera.Space(square, 2), c="1 + x")
    assert op.diagonal() == pytest.approx(np.diag(op @ np.eye(op.shape[0])))


def test_emulated_gpu_inside_scipy():
    """SciPy's vectors go there and back."""
    results = []
    for device in ("cpu", "emulator"):
        space = tessera.Space(tessera.Mesh.box([4, 4], context=tessera.Context(device)), 2)
        op = tessera.Operator(space, a="1 + x")
        results.append(cg(op, op.restrict(space.load("x")), M=tessera.Multigrid(op), rtol=1e-10)[0])
    assert results[0] == pytest.approx(results[1], abs=1e-11)


def test_complex_vectors(square, rng):
    """By real and imaginary part; nothing is left out."""
    a = tessera.Operator(tessera.Space(square, 2), c=1)
    for linear in (a, tessera.Multigrid(a), tessera.Multigrid(a, precision="single")):
        x, y = rng.standard_normal((2, a.shape[0]))
        assert linear @ (x + 1j * y) == pytest.approx(linear @ x + 1j * (linear @ y), rel=1e-12)


def test_transposes(square, rng):
    """Of symmetric operators their own; of others there is none."""
    space = tessera.Space(square, 2)
    a, moves = tessera.Operator(space, a="1 + x"), tessera.Operator(space, velocity=[1, 2])
    x = rng.standard_normal(a.shape[0])
    assert a.T @ x == pytest.approx(a @ x) and tessera.Multigrid(a).T @ x == pytest.approx(tessera.Multigrid(a) @ x)
    assert np.abs(moves @ np.eye(len(x)) - (moves @ np.eye(len(x))).T).max() > 1e-3
    transport = tessera.Problem(square, "transport", degree=2, b=[1, 2], f=1)
    for other in (moves, tessera.Multigrid(moves), tessera.Multigrid(a, symmetric=False), transport.operator):
        with pytest.raises(NotImplementedError, match="is not symmetric"):
            other.T @ np.ones(other.shape[0])


def test_options_are_checked(square):
    """Names that there are in Python, and what a cycle is of."""
    space = tessera.Space(square, 2)
    with pytest.raises(tessera.InvalidInput, match="expected one of a, c, .* robin, .* velocity"):
        tessera.Operator(space, zzzz=1)
    with pytest.raises(TypeError, match="is no tessera.Operator"):
        tessera.Multigrid(space)
    with pytest.raises(TypeError, match="is no tessera.Space"):
        tessera.Operator(square)
    with pytest.raises(tessera.InvalidInput, match="no 'count'"):
        tessera.Multigrid(tessera.Operator(space), smoother="count")
    for wrong in (tessera.Operator(space).restrict, tessera.Operator(space).extend):
        with pytest.raises(tessera.InvalidInput, match="an array of shape"):
            wrong(np.ones(3))
