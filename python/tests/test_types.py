"""Annotations, as mypy sees them in a program of a user."""

import pytest

GOOD = """
import numpy as np
import tessera

result: tessera.Result = tessera.solve({"problem": "poisson"}, set={"space.degree": 3})
status: str = result.status
number: float = result.values["mean"] + result.errors["l2"] + result.times["solve"]
u: np.ndarray = result.fields["u"]
mesh: tessera.Mesh = tessera.Mesh.box([4, 4], kind="forest").refine()
operator = tessera.Operator(tessera.Space(mesh, degree=3), a="1 + x", robin={"left": 1})
y = operator @ np.ones(operator.shape[0])
cycle = tessera.Multigrid(operator, smoother="chebyshev")
problem = tessera.Problem(mesh, f=lambda x, y: x * y, a=result.field(), boundary={"left": 0})
count: int = problem.solve().count + problem.space.dofs + mesh.cells
probe: tessera.Sampler = problem.sampler([[0.5, 0.5]])
for iterations in problem.steps():
    print(iterations.residuals[-1], problem.time, probe(["u", "ux"])[0, 0], probe.moved.max())
"""
BAD = {
    'tessera.Mesh.box("a")': "arg-type",
    "tessera.solve(3)": "arg-type",
    "problem.sampler(3)(4)": "arg-type",
    'tessera.Problem(mesh, degree="4")': "arg-type",
    "tessera.Multigrid(mesh)": "arg-type",
    "number = result.status": "assignment",
}


def test_mypy(tmp_path):
    """A program without a fault, in the strict mode; and faults that are found."""
    api = pytest.importorskip("mypy.api")
    program = tmp_path / "program.py"
    program.write_text(GOOD + "\n".join(BAD) + "\n")
    text = api.run(["--strict", "--no-incremental", str(program)])[0]
    lines = [line for line in text.splitlines() if ": error:" in line]
    first = GOOD.count("\n") + 1
    for number, kind in enumerate(BAD.values()):
        assert f":{first + number}: error" in lines[number] and f"[{kind}]" in lines[number], lines[number]
    assert len(lines) == len(BAD), "\n".join(lines)
