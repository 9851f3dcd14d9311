"""tessera.solve(): results, reports and refusals of cases."""

import copy
import json
import pickle
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest

import tessera
from conftest import needs_trees

EXACT = {
    "problem": "poisson",
    "mesh": {"box": {"dim": 2, "cells": [8, 8]}},
    "space": {"degree": 4},
    "data": {"exact": "sin(pi*x)*sin(pi*y)", "f": "2*pi*pi*sin(pi*x)*sin(pi*y)"},
    "output": {"points": [[0.5, 0.5]], "values": {"mean": {"mean": "domain"}}},
}


def test_dict_text_and_file_are_one(tmp_path):
    """The same case in three forms has the same bits."""
    path = tmp_path / "case.yaml"
    path.write_text(json.dumps(EXACT))
    results = [tessera.solve(case) for case in (EXACT, json.dumps(EXACT), path, str(path))]
    for result in results:
        assert result.status == "converged"
        assert np.array_equal(np.asarray(result.u), np.asarray(results[0].u))


def test_numbers_of_a_known_solution():
    """u = sin(pi x) sin(pi y): 1 in the middle, mean 4 / pi^2."""
    result = tessera.solve(EXACT)
    assert result.errors["l2"] < 1e-6 and result.errors["h1"] < 1e-4
    assert result.points[0]["u"] == pytest.approx(1, abs=1e-6)
    assert result.values["mean"] == pytest.approx(4 / np.pi**2, abs=1e-7)
    assert result.residuals[-1] <= 1e-9 and len(result.residuals) == result.iterations + 1
    assert result.times["solve"] > 0
    assert result.sample([[0.5, 0.5], [0.25, 0.5]], ["u", "ux"]) == pytest.approx(
        np.array([[1, 0], [np.sqrt(0.5), np.pi * np.sqrt(0.5)]]), abs=1e-3
    )
    assert result.value("u*u") == pytest.approx(0.25, abs=1e-7)


def test_fields_stand_at_their_points():
    """fields["u"][cell, point] at coordinates."""
    result = tessera.solve(EXACT)
    x, u = result.coordinates, result.fields["u"]
    assert x.shape == (64, 25, 2) and u.shape == (64, 25)
    assert np.abs(u - np.sin(np.pi * x[..., 0]) * np.sin(np.pi * x[..., 1])).max() < 1e-5
    assert list(result.fields) == ["u"]
    with pytest.raises(KeyError):
        result.fields["v"]


def test_set_replaces_values():
    """Dotted keys, numbers and lists."""
    result = tessera.solve(EXACT, set={"space.degree": 2, "mesh.box.cells": [4, 6]})
    assert result.report["degree"] == 2 and result.report["dofs"] == 7 * 11


def test_report_is_the_programs(tmp_path):
    """The program beside: the same members, counts and errors."""
    path = tmp_path / "case.yaml"
    path.write_text(json.dumps(EXACT))
    program = subprocess.run(
        [sys.executable, "-m", "tessera", "solve", str(path), "--json", "-"], check=True, capture_output=True, text=True
    )
    theirs, ours = json.loads(program.stdout), tessera.solve(path).report
    assert set(theirs) == set(ours)
    for key in ("iterations", "residuals", "dofs", "errors", "hierarchy", "points", "values", "solver"):
        assert theirs[key] == ours[key]


@pytest.mark.parametrize(
    "case, place",
    [
        ({"problem": "poisson", "mesh": {"box": {"dim": 2, "cels": [4, 4]}}}, "mesh.box"),
        ({"problem": "poison", "mesh": {"box": {"dim": 2, "cells": [4, 4]}}}, "problem"),
        ({"problem": "poisson", "mesh": {"box": {"dim": 2, "cells": [4, 4]}}, "data": {"f": "sin("}}, "data.f"),
        (
            {
                "problem": "poisson",
                "mesh": {"box": {"dim": 2, "cells": [4, 4]}},
                "boundary": {"lefd": {"dirichlet": 0}},
            },
            "boundary: unknown key 'lefd'; did you mean 'left'",
        ),
        (
            {"problem": "poisson", "mesh": {"box": {"dim": 2, "cells": [4, 4]}}, "output": {"points": [[2, 2]]}},
            "output.points",
        ),
        (
            {
                "problem": "poisson",
                "mesh": {"box": {"dim": 2, "cells": [4, 4]}},
                "output": {"values": {"tip": {"max": "domain", "of": "uu"}}},
            },
            "output.values.tip.of: unknown name 'uu'",
        ),
        ({"problem": "poisson", "mesh": {"box": {"dim": 2, "cells": [4, 4]}}, "data": {"a": "x - 0.5"}}, "data.a: the"),
    ],
)
def test_mistakes_have_their_key(case, place, tmp_path):
    """The message is the program's, with the path of the key; a dict has no lines and columns."""
    path = tmp_path / "case.yaml"
    path.write_text(json.dumps(case))
    with pytest.raises(tessera.InvalidInput) as caught:
        tessera.solve(case)
    program = subprocess.run([sys.executable, "-m", "tessera", "solve", str(path)], capture_output=True, text=True)
    assert program.returncode == 2
    assert place in str(caught.value) and caught.value.status == "invalid_input"
    message = re.sub(re.escape(str(path)) + r":\d+:\d+: ", "", program.stderr.replace("tessera: ", "").strip())
    assert message == str(caught.value) and ":1:" not in message


def test_what_json_does_not_know():
    """NumPy's numbers are numbers; callables are refused with a word about Problem."""
    assert tessera.solve(EXACT, set={"space.degree": np.int64(3)}).report["degree"] == 3
    with pytest.raises(TypeError, match="Problem"):
        tessera.solve({**EXACT, "data": {"f": lambda x, y: x}})
    for wrong in (None, [1], b"problem: poisson"):
        with pytest.raises(TypeError, match="is no case: give the path"):
            tessera.solve(wrong)
    with pytest.raises(tessera.InvalidInput, match="problem: is missing"):
        tessera.solve("")
    with pytest.raises(TypeError, match="solve: set: .* is no dict"):
        tessera.solve(EXACT, set=["space.degree=5"])
    with pytest.raises(TypeError, match="is no tessera.Context"):
        tessera.solve(EXACT, context="cpu")


def test_not_converged_keeps_the_result():
    """The last iterate and the report hang on the exception."""
    with pytest.raises(tessera.NotConverged) as caught:
        tessera.solve(EXACT, set={"solver.max_iterations": 1, "solver.method": "cg", "solver.smoother": "jacobi"})
    assert caught.value.status == "not_converged"
    assert caught.value.result.report["status"] == "not_converged" and caught.value.result.iterations == 1


def test_copies_and_pickles():
    """What lives in the library is refused; exceptions go without the result that hangs on them."""
    result = tessera.solve(EXACT)
    for held in (result, result.mesh, result.space, result.u, result.sampler([[0.5, 0.5]]), result.context):
        for copy_of in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match=f"a tessera.{type(held).__name__} lives in the library"):
                copy_of(held)
    with pytest.raises(tessera.NotConverged) as caught:
        tessera.solve(EXACT, set={"solver.max_iterations": 1, "solver.method": "cg", "solver.smoother": "jacobi"})
    other = pickle.loads(pickle.dumps(caught.value))
    assert type(other) is tessera.NotConverged and (str(other), other.status) == (str(caught.value), "not_converged")
    assert other.result is None


def test_values_of_one_place():
    """A point has as many coordinates as the mesh, and a value one place."""
    result = tessera.solve(EXACT)
    for point in ([0.5], [0.5, 0.5, 0.5], 0.5):
        with pytest.raises(tessera.InvalidInput, match="value: point: .*, expected 2 numbers"):
            result.value(point=point)
    with pytest.raises(tessera.InvalidInput, match="more than one of boundary, material, point"):
        result.value(point=[0.5, 0.5], boundary="left")
    with pytest.raises(tessera.InvalidInput, match="value: material: there is no 'core': there are none"):
        result.value(material="core")
    for wrong in (lambda: result.value(3), lambda: result.sample([[0.5, 0.5]], 3)):
        with pytest.raises(TypeError, match="of: 3 is no text"):
            wrong()


def test_missing_file(tmp_path):
    """An OSError too."""
    with pytest.raises(OSError, match="nothing.yaml"):
        tessera.solve(tmp_path / "nothing.yaml")


def test_in_time_and_progress():
    """u_t - Laplace u = 0: the first mode decays with exp(-2 pi^2 t); the parts that are done grow to 1."""
    parts = []
    result = tessera.solve(
        {
            "problem": "transport",
            "mesh": {"box": {"dim": 2, "cells": [4, 4]}},
            "space": {"degree": 5},
            "data": {"a": 1, "f": 0, "initial": "sin(pi*x)*sin(pi*y)"},
            "boundary": {"all": {"dirichlet": 0}},
            "time": {"end": 0.02, "step": 0.0005, "method": "sdirk3"},
            "solver": {"tolerance": 1e-8},
        },
        progress=parts.append,
    )
    assert result.report["time_steps"] == 40 and parts == sorted(parts) and parts[-1] == 1
    assert result.sample([0.5, 0.5])[0] == pytest.approx(np.exp(-2 * np.pi**2 * 0.02), rel=1e-5)


def test_progress_that_raises():
    """Its own exception comes out."""

    def stop(part):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        tessera.solve(EXACT, progress=stop)


@needs_trees
def test_adaptive_result_is_on_the_last_mesh():
    """The problem of the loop's last step stays."""
    result = tessera.solve(
        {
            "problem": "poisson",
            "mesh": {"l_shape": {"dim": 2}},
            "space": {"degree": 2},
            "data": {"f": 1},
            "adapt": {"steps": 3},
        }
    )
    assert result.mesh.cells == result.report["steps"][-1]["cells"]
    assert result.space.dofs == result.report["dofs"]
    assert np.isfinite(result.fields["u"]).all()


def test_html_names_the_result():
    """A table, with texts escaped."""
    text = tessera.solve(EXACT)._repr_html_()
    assert text.startswith("<table>") and "converged" in text and "error l2" in text


def test_warnings_are_pythons():
    """A warning of the run does not go to stderr."""
    flow = {
        "problem": "navier_stokes",
        "mesh": {"box": {"dim": 2, "cells": [4, 4]}},
        "space": {"degree": 2},
        "data": {"nu": 0.001},
        "boundary": {"all": {"velocity": [0, 0]}, "top": {"velocity": [1, 0]}},
        "time": {"end": 0.2, "step": 0.02},
    }
    with pytest.warns(UserWarning) as caught:
        tessera.solve(flow)
    assert any("the error of the velocity is estimated" in str(warning.message) for warning in caught)
    assert {warning.filename for warning in caught} == {__file__}  # the line that called, not one of the package
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="estimated"):
            tessera.solve(flow)
