"""Problems: data as numbers, expressions and callables, steps in time, files."""

import time
from concurrent.futures import ThreadPoolExecutor
import traceback

import numpy as np
import pytest

import tessera
from conftest import needs_trees


def test_callables_and_expressions_agree(square):
    """The same data in three forms."""
    forms = [
        {"a": "1 + x*y", "f": "exp(x)"},
        {"a": lambda x, y: 1 + x * y, "f": lambda x, y: np.exp(x)},
        {"a": lambda x, y, z: 1 + x * y + 0 * z, "f": lambda x: np.exp(x)},
    ]
    solutions = []
    for data in forms:
        problem = tessera.Problem(square, degree=4, solver={"tolerance": 1e-12}, **data)
        problem.solve()
        solutions.append(problem.u.numpy())
    assert solutions[1] == pytest.approx(solutions[0], abs=1e-11)
    assert solutions[2] == pytest.approx(solutions[0], abs=1e-11)


def test_parameters_of_callables():
    """A coordinate with the default 0 has its value all the same; what is no coordinate needs a default."""

    def after_steps(f):
        heat = tessera.Problem(tessera.Mesh.box([4, 4]), "transport", degree=2, f=f, time={"end": 1, "step": 0.5})
        list(heat.steps())
        return heat.value("u")

    wanted = after_steps("x*t")
    assert wanted > 0
    for f in (
        lambda x, y, t=0: x * t,
        lambda x, t=0.0: x * t,
        lambda t, x: x * t,
        lambda x, y, z=0, t=0: (x + z) * t,
        lambda x, t, k=1: k * x * t,
        lambda a, b, c, d: a * d,
    ):
        assert after_steps(f) == pytest.approx(wanted, rel=1e-9)
    with pytest.raises(TypeError, match="time needs a default"):
        after_steps(lambda x, y, time: x * time)
    with pytest.raises(TypeError, match="t is a coordinate, and its default 0.5 would not be used"):
        after_steps(lambda x, t=0.5: x * t)
    with pytest.raises(TypeError, match="takes x, y, z or t"):
        after_steps(lambda *all: all[0])


def test_arrays_of_one_number(square):
    """A field at a point is an array without dimensions."""
    problem = tessera.Problem(square, degree=2, f=np.array(3.0))
    problem.solve()
    assert problem.value("u") == pytest.approx(0.03513 * 3, rel=1e-2)


def test_order_of_errors():
    """u = exp(x) cos(y), degree 3: halving cells divides the error by 16."""
    errors = []
    for n in (4, 8):
        problem = tessera.Problem(
            tessera.Mesh.box([n, n]),
            degree=3,
            f=0,
            exact="exp(x)*cos(y)",
            boundary={"all": lambda x, y: np.exp(x) * np.cos(y)},
            solver={"tolerance": 1e-12},
        )
        problem.solve()
        errors.append(problem.errors["l2"])
    assert 14 < errors[0] / errors[1] < 18


def test_conditions(square):
    """u = x: flux 1 on the right, u + du/dn = 2 there, both with 0 on the left."""
    for right in ({"neumann": 1}, {"robin": 2, "alpha": 1}):
        problem = tessera.Problem(
            square,
            f=0,
            boundary={"left": 0, "right": right, "all": {"neumann": 0}},
            exact="x",
            solver={"tolerance": 1e-12},
        )
        problem.solve()
        assert problem.errors["l2"] < 1e-10
    with pytest.raises(tessera.InvalidInput, match="did you mean 'left'"):
        tessera.Problem(square, boundary={"lefd": 0})
    with pytest.raises(tessera.InvalidInput, match="boundary 'left': there is no 'dirichle'; did you mean 'dirichlet'"):
        tessera.Problem(square, boundary={"left": {"dirichle": 0}})


def test_own_traceback(square):
    """A callable that raises ends the solve; the traceback goes through it."""

    def broken(x, y):
        return x / (1 - y) + no_such_name  # noqa: F821  pylint: disable=undefined-variable

    with pytest.raises(NameError) as caught:
        tessera.Problem(square, f=broken)
    assert any(frame.name == "broken" for frame in traceback.extract_tb(caught.value.__traceback__))
    tessera.Problem(square, f=1).solve()  # and the context can be used again


def test_callables_that_are_none(square):
    """Wrong shapes and arguments."""
    with pytest.raises(ValueError, match="shape"):
        tessera.Problem(square, f=lambda x, y: x[:-1])
    with pytest.raises(TypeError, match="takes x, y, z or t"):
        tessera.Problem(square, f=lambda a, b, c, d, e: a)
    with pytest.raises(TypeError, match="no function"):
        tessera.Problem(square, f=object())
    with pytest.raises(tessera.InvalidInput, match="no_such"):
        tessera.Problem(square, f="no_such(x)")
    for wrong in (lambda x, y: None, lambda x, y: 1j * x, lambda x, y: "text"):
        with pytest.raises(TypeError, match="expected real numbers"):
            tessera.Problem(square, f=wrong)
    with pytest.raises(tessera.InvalidInput, match="is nan at"):
        tessera.Problem(square, f=lambda x, y: np.nan * x)
    with pytest.raises(TypeError, match="a square of numbers"):
        tessera.Problem(square, a=np.ones(3))


def test_options_are_checked(square):
    """Unknown names, with those that there are in Python."""
    with pytest.raises(tessera.InvalidInput, match="no 'ff'; did you mean 'f'"):
        tessera.Problem(square, ff=1)
    with pytest.raises(tessera.InvalidInput, match="expected one of a, .* boundary, c, .* nu, "):
        tessera.Problem(square, zzzz=1)
    with pytest.raises(TypeError, match="is no tessera.Mesh"):
        tessera.Problem("box")
    with pytest.raises(TypeError, match="Problem.solver: 'cg', expected a dict"):
        tessera.Problem(square, solver="cg")
    with pytest.raises(TypeError, match="Problem.guess: .*, expected a tessera.Vector"):
        tessera.Problem(square, guess=np.zeros(3))
    with pytest.raises(TypeError, match="is no dict of conditions by name"):
        tessera.Problem(square, boundary="left")


@pytest.mark.parametrize(
    "equation, options, message",
    [
        ("poisson", {"a": 1, "nu": 2}, "nu is given twice, by two of a, mu, nu"),
        ("poisson", {"f": [1, 2]}, "f: 2 functions, expected at most 1"),
        ("elasticity", {"f": [1, 2, 3]}, "f: 3 functions, expected at most 2"),
        ("poisson", {"exact": ["x", "y"]}, "exact: 2 functions, expected at most 1"),
        ("poisson", {"boundary": {"left": [0, 1]}}, "boundary 'left': 2 functions, expected at most 1"),
        ("elasticity", {"boundary": {"left": {"pressure": [1, 2]}}}, "boundary 'left': 2 functions"),
        ("poisson", {"boundary": {"left": {"robin": 1}}}, "boundary 'left': robin needs alpha"),
        ("poisson", {"boundary": {"left": {"neumann": 1, "alph": 2}}}, "boundary 'left': .* did you mean 'alpha'"),
        ("poisson", {"materials": {"core": {"aa": 1}}}, "materials 'core': there is no 'aa'"),
    ],
)
def test_data_without_effect(square, equation, options, message):
    """What would be left out is refused."""
    with pytest.raises(tessera.InvalidInput, match=message):
        tessera.Problem(square, equation, **options)


def test_callables_cannot_write_points(square):
    """They see the library's memory, read-only, without a copy."""

    def writes(x, y):
        x += 1
        return y

    with pytest.raises(ValueError, match="read-only"):
        tessera.Problem(square, f=writes)


def test_steps_in_time(square):
    """Heat: the first mode decays; step by step as in one go."""

    def make():
        return tessera.Problem(
            square,
            "transport",
            degree=4,
            f=0,
            initial="sin(pi*x)*sin(pi*y)",
            boundary={"all": 0},
            time={"end": 0.05, "step": 0.005, "method": "sdirk3"},
            solver={"tolerance": 1e-9},
        )

    whole, single = make(), make()
    whole.solve()
    count = sum(1 for _ in single.steps())
    assert count == 10 and single.time == pytest.approx(0.05)
    assert np.array_equal(whole.u.numpy(), single.u.numpy())
    assert whole.sample([0.5, 0.5])[0] == pytest.approx(np.exp(-2 * np.pi**2 * 0.05), rel=1e-4)
    with pytest.raises(tessera.InvalidInput, match="end"):
        single.step()


def test_elasticity():
    """A bar that is pulled: u = x / 2, v = 0 with lambda 0, mu 1; the force is the traction."""
    problem = tessera.Problem(
        tessera.Mesh.box([4, 2], upper=[2, 1]),
        "elasticity",
        degree=2,
        mu=1.0,
        lambda_=0.0,
        boundary={
            "left": {"displacement": [0, None]},
            "bottom": {"displacement": [None, 0]},
            "right": {"traction": [1, 0]},
            "top": {"traction": [0, 0]},
        },
    )
    problem.solve()
    assert problem.sample([[2, 0.3]], ["u", "v", "sxx"])[0] == pytest.approx([1, 0, 1], abs=1e-7)
    assert problem.value(kind="force", boundary="left", of="x") == pytest.approx(-1, abs=1e-7)


def test_matrix_coefficient(square):
    """a = [[2, 1], [1, 3]]: u = x y has f = -2 a_xy = -2."""
    problem = tessera.Problem(square, a=[[2, 1], [1, 3]], f=-2, exact="x*y", boundary={"all": "x*y"}, degree=2)
    problem.solve()
    assert problem.errors["l2"] < 1e-8


def test_monitor_and_result(square):
    """Residuals as they come, and the same in the end."""
    seen = []
    result = tessera.Problem(square, degree=5, a="1 + 9*x").solve(progress=lambda i, r: seen.append((i, r)))
    assert [i for i, _ in seen] == list(range(result.count + 1))
    assert [r for _, r in seen] == pytest.approx(result.residuals)

    def stop(iteration, residual):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        tessera.Problem(square, degree=5, a="1 + 9*x").solve(progress=stop)


def test_add_load(square):
    """A load of one's own: that of f = 1 by hand."""

    def add(space, b):
        b += 1.0 / 64  # sum over all nodes is cut at the boundary; degree 1, inner nodes: h^2

    by_hand = tessera.Problem(square, degree=1, f=0, add_load=add)
    usual = tessera.Problem(square, degree=1, f=1)
    by_hand.solve(), usual.solve()
    assert by_hand.u.numpy() == pytest.approx(usual.u.numpy(), abs=1e-9)


def test_threads_have_their_contexts(square):
    """Four threads with contexts of their own solve at once, with callables."""
    results = [None] * 4

    def work(i):
        mesh = tessera.Mesh.box([8, 8], context=tessera.Context("cpu", threads=1))
        problem = tessera.Problem(mesh, f=lambda x, y: np.full_like(x, i + 1.0))
        problem.solve()
        results[i] = problem.value()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    assert results == pytest.approx([results[0] * (i + 1) for i in range(4)])
    with ThreadPoolExecutor(1) as other:
        assert other.submit(tessera.Context.default).result() is not square.context is tessera.Context.default()


def test_threads_wait_for_a_context():
    """Of one context, so that a solve and the callables of another one never run at the same time."""
    mesh, inside, most = tessera.Mesh.box([2, 2], context=tessera.Context("cpu", threads=1)), [], []

    def f(x, y):
        inside.append(x)
        most.append(len(inside))
        time.sleep(0.01)
        inside.pop()
        return x

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: tessera.Problem(mesh, f=f).solve(), range(4)))
    assert len(most) >= 4 and max(most) == 1


def test_vtu_and_meshio(square, tmp_path):
    """Files: the VTU is there, and meshio's points carry the values."""
    problem = tessera.Problem(square, f=0, boundary={"all": "x*y"}, degree=2)
    problem.solve()
    problem.to_vtu(tmp_path / "u.vtu")
    assert b"Lagrange" in (tmp_path / "u.vtu").read_bytes() or (tmp_path / "u.vtu").stat().st_size > 1000
    with pytest.raises(OSError):
        problem.to_vtu(tmp_path / "no" / "u.vtu")
    pytest.importorskip("meshio")
    mesh = problem.to_meshio()
    assert mesh.point_data["u"] == pytest.approx(mesh.points[:, 0] * mesh.points[:, 1], abs=1e-8)
    corners = mesh.points[mesh.cells[0].data]
    (ax, ay), (bx, by) = (corners[:, 2] - corners[:, 0]).T, (corners[:, 3] - corners[:, 1]).T
    area = 0.5 * (ax * by - ay * bx)
    assert (area > 0).all() and area.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    "cells, options", [([4, 4], {"edges": True}), ([2, 2, 2], {}), ([2, 2, 2], {"slice": ("x", 0.3)})]
)
def test_plot(cells, options):
    """Pictures have the values of the solution."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    problem = tessera.Problem(tessera.Mesh.box(cells), f=0, boundary={"all": "x + y"}, degree=2)
    problem.solve()
    axes = problem.plot(**options)
    values = axes.collections[0].get_array()
    assert values.min() >= -1e-8 and values.max() <= 2 + 1e-8
    plt.close(axes.figure)
    if len(cells) == 3:
        with pytest.raises(tessera.InvalidInput, match="no cell at z = 5"):
            problem.plot(slice=("z", 5))
    for wrong in ({"edges": True}, {"slice": "z"}) if len(cells) == 3 else ({"slice": ("z", 0)},):
        with pytest.raises(tessera.InvalidInput, match="slice"):
            problem.plot(**wrong)
    with pytest.raises(TypeError, match="is no expression"):
        problem.plot(["u", "ux"])
    with pytest.raises(tessera.InvalidInput, match="0 intervals a cell"):
        problem.over_cells("u", 0)
    plt.close("all")


@needs_trees
def test_adaptive_by_hand():
    """Mark by the estimator, refine, solve again: the estimate falls."""
    mesh, norms = tessera.Mesh.l_shape(refine=1), []
    for _ in range(4):
        problem = tessera.Problem(mesh, degree=2)
        problem.solve()
        eta = problem.indicators()
        norms.append(np.sqrt((eta**2).sum()))
        mesh = mesh.refine(problem.mark(eta))
    assert norms[-1] < norms[0] / 2


@pytest.mark.skipif(not tessera.has_part("hdf5"), reason="built without HDF5")
def test_vtkhdf(tmp_path, square):
    """A whole HDF5 file; one that cannot be written raises with the reason."""
    problem = tessera.Problem(square, degree=2, f=1)
    problem.solve()
    path = problem.to_vtkhdf(tmp_path / "u.vtkhdf")
    data = path.read_bytes()
    assert data[:8] == b"\x89HDF\r\n\x1a\n" and b"UnstructuredGrid" in data
    assert [p.name for p in tmp_path.iterdir()] == ["u.vtkhdf"]
    with pytest.raises(tessera.FileError, match="No such file"):
        problem.to_vtkhdf(tmp_path / "no" / "u.vtkhdf")


@needs_trees
def test_sampler(rng):
    """The same bits as sample(), step by step, until the mesh changes."""
    disk = tessera.Mesh.ball(2)
    problem = tessera.Problem(
        disk, "transport", degree=2, a=0.1, b=["-y", "x"], f="x", boundary={"all": 0}, time={"end": 1, "step": 0.1}
    )
    points = 0.6 * rng.random((50, 2))
    sampler, names = problem.sampler(points), ["u", "ux"]
    points_then, points[:] = points.copy(), 0
    for _ in range(2):
        problem.step()
        assert np.array_equal(sampler(names), problem.sample(points_then, names)) and abs(sampler(names)).max() > 1e-3
        assert sampler().shape == sampler("u*u").shape == (50,)
    assert len(sampler) == 50 and not sampler.moved.any() and "50 points in 2D" in repr(sampler)
    with pytest.raises(ValueError, match="read-only"):
        sampler.points[0] = 0
    with pytest.raises(tessera.InvalidInput, match="'uu'"):
        sampler("uu")
    assert not problem.remesh(max_level=2, every=1000)["changed"] and sampler().any()
    assert problem.remesh(max_level=1, every=1, tolerance=1e-6)["changed"]
    with pytest.raises(tessera.InvalidInput, match="another mesh since remesh"):
        sampler()
    assert np.array_equal(problem.sampler(points_then)(names), problem.sample(points_then, names))
    with pytest.raises(tessera.InvalidInput, match="lies in no cell"):
        problem.sampler([[2, 2]])
    with pytest.raises(tessera.InvalidInput, match=r"expected \(n, 2\)"):
        problem.sampler([1, 2, 3])
