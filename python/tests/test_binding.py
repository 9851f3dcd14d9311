"""The package as a whole: declarations, docstrings, import."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

import tessera
from tessera import _binding
from tessera._words import WORDS


def test_every_function_is_declared():
    """Each function of the public headers can be called."""
    headers = Path(__file__).parents[2] / "include" / "tessera"
    names = {name for name in WORDS if name.startswith("tes_") and name != "tes_mask_line"}
    assert len(names) > 60 and headers.is_dir()
    assert not [name for name in names if not hasattr(_binding.lib, name)]


def test_help_is_the_headers():
    """Options are described in the words of C."""
    assert "Gauss-Lobatto" not in tessera.Problem.help("degree")
    assert "limits" in tessera.Problem.help("degree")
    assert "dim lambda" in tessera.Problem.help("lambda_") and "nu" in tessera.Problem.help("nu")
    with pytest.raises(tessera.InvalidInput, match="Problem.help: there is no 'degre'; did you mean 'degree'"):
        tessera.Problem.help("degre")
    for noun in (tessera.Mesh, tessera.Space, tessera.Operator, tessera.Multigrid, tessera.Problem):
        assert noun.help().count("\n") > 3 and noun.__doc__


def test_import_is_light():
    """Neither SciPy nor matplotlib is imported with the package."""
    code = "import sys, tessera; print(sorted({'scipy', 'matplotlib', 'pyvista', 'meshio', 'tqdm'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "[]\n"


def test_program():
    """python -m tessera is the program, with its exit statuses."""
    version = subprocess.run([sys.executable, "-m", "tessera", "--version"], check=True, capture_output=True, text=True)
    assert version.stdout == f"tessera {tessera.__version__}\n"
    wrong = subprocess.run([sys.executable, "-m", "tessera", "slove"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2 and "did you mean 'solve'" in wrong.stderr


def test_many_objects_leave_no_memory():
    """References are given back."""
    context = tessera.Context("cpu")

    def once():
        problem = tessera.Problem(tessera.Mesh.box([8, 8], context=context), f=lambda x, y: x, a=lambda x, y: 1 + y)
        problem.solve()
        return problem.value()

    once()
    before, alive = context.memory, len(tessera._core._alive)
    start = time.time()
    while time.time() < start + 0.5:
        once()
    assert context.memory == before and len(tessera._core._alive) == alive
