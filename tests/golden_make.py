#!/usr/bin/env python3
"""Makes tests/data/golden.json: what a program answers to many small cases.

Usage: golden_make.py PROGRAM > tests/data/golden.json

The committed file was made by the program of commit c0337f0, the last before boxes and forests became kinds of one
mesh (a Release build, 512 bits, p4est, HDF5 and hypre built in); rows with Chebyshev's smoother, and those of
meshes of trees, when its polynomial became that of the fourth kind and full multigrid their start; 32 rows of boxes
when odd numbers of cells and stretched cells got other coarse meshes, none of the others changed; those of odd
numbers once more when their last cell stayed single; 87 rows of full multigrid when its levels got boundary values of
their own; 3 adaptive rows when cells of equal indicators came to be refined together; rows of a mesh file when its
cells got an order of their own, of channels when the cylinder got a ring of cells, one of a
ball when Robin terms took the points of a and c; 10 of meshes of trees when their cycle came to be chosen by a trial.
Make it again only for a change that
means to change an answer, with the reason in the commit; `git diff` then shows the rows that changed.
tests/golden_testing.h says how rows are compared.

A row that stands too close to a decision is refused, as its counts could differ by round-off: a residual beside the
tolerance, or another count with two threads than with one. A row is one line: what is run (case, sets, options),
what it needs of a build (needs), which round it belongs to (brief: the sanitizers' too; sweep: the slow one), then
what the report said."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROWS = []


def row(name, case, *sets, options="", needs=(), sweep=False, brief=False, answer=False, ties=False):
    """Adds a row. Each of `sets` is a text for --set, or a list of them.

    answer: how it is found may change; ties: cells of a symmetric mesh are equally good to refine."""
    flat = [one for given in sets for one in ([given] if isinstance(given, str) else given)]
    flags = {key: True for key, value in (("sweep", sweep), ("brief", brief), ("answer", answer), ("ties",
        ties)) if value}
    ROWS.append({"name": name, "case": case, "sets": flat, "options": options, "needs": list(needs), **flags})


def forest(name, case, *sets, needs=(), **more):
    row(name, case, *sets, needs=["p4est", *needs], **more)


def box(cells, **keys):
    """mesh={box: ...} with these cells."""
    keys = {"cells": cells, **({"dim": 2} if isinstance(cells, int) else {}), **keys}
    inside = ", ".join(f"{key}: {value}" for key, value in keys.items())
    return "mesh={box: {" + inside + "}}"


def solver(**keys):
    return [f"solver.{key}={value}" for key, value in keys.items()]


def steps(count, *more):
    return [f"adapt.steps={count}", "adapt.tolerance=0", *more]


DOUBLE = "solver.precision=double"
# Positive, and no product of functions of x and y.
VARIABLE = ["data.a=1/(0.05 + 2*(x*x + y*y + z*z))", "data.exact=null", "data.f=1 + x - y/2"]
REACTION = ["data.c=2", "data.f=0.75*exp(x/2)*cos(y + 0.3) + 2*(exp(x/2)*cos(y + 0.3) + x*z)"]
METHODS = ("vcycle", "fmg", "gmres", "cg")
SMOOTHERS = ("patch", "patch_additive", "jacobi", "chebyshev", "gauss_seidel")
ODD_3D = "[6, 3, 4]"


def files():
    """The cases of the repository as they are."""
    for name in ("graded", "high-degree", "mixed-boundary", "odd-sizes", "poisson-cube", "poisson-square",
        "pure-neumann",
                 "variable-coefficient"):
        row(f"file {name}", name)
    for name in ("ball", "fichera", "l-shape", "periodic", "plate"):
        forest(f"file {name}", name, ties=name in ("fichera", "plate"))


def box_degrees():
    """Every degree on even and odd boxes, constant and variable coefficients, with the solver that is chosen."""
    for degree in (*range(1, 11), 13, 20):
        p = f"space.degree={degree}"
        cells = max(2, 24 // degree)
        row(f"square p{degree}", "golden", box(cells + cells % 2), p, brief=degree in (2, 3))
        row(f"square odd p{degree}", "golden", box(f"[{cells + 1 - cells % 2}, 5]"), p, DOUBLE, REACTION)
        row(f"square variable p{degree}", "golden", box(cells + cells % 2), p, DOUBLE, VARIABLE, brief=degree == 3)
        if degree <= 10:
            row(f"cube p{degree}", "golden", box("[4, 4, 4]" if degree < 7 else "[2, 2, 4]"), p, DOUBLE,
                brief=degree == 3)
            row(f"cube odd p{degree}", "golden", box(ODD_3D if degree < 7 else "[2, 3, 2]"), p)
            row(f"cube variable p{degree}", "golden", box("[4, 2, 3]"), p, VARIABLE, sweep=degree > 6)
            row(f"cube variable double p{degree}", "golden", box("[4, 2, 3]"), p, VARIABLE, DOUBLE, sweep=True)


def box_solvers():
    """Every method with every smoother; those that do not converge stop after ten iterations."""
    for dim, cells, degree in ((2, "[12, 8]", 4), (3, "[4, 4, 2]", 3)):
        for data, sets in (("", []), (" variable", VARIABLE)):
            for method in METHODS:
                for smoother in SMOOTHERS:
                    name = f"{dim}D{data} {method} {smoother}"
                    choice = solver(method=method, smoother=smoother, max_iterations=10)
                    row(name, "golden", box(cells), f"space.degree={degree}", sets, choice, DOUBLE,
                        brief=(dim, data, method) == (2, " variable", "cg"))
                    row(f"{name} mixed", "golden", box(cells), f"space.degree={degree}", sets, choice, sweep=True)
    for local in ("exact", "mean", "scaled", "rank1"):
        row(f"constant {local}", "golden", solver(local_solver=local), DOUBLE)
        if local != "exact":
            for dim, cells in ((2, "[8, 8]"), (3, "[4, 4, 4]")):
                row(f"variable {local} {dim}D", "golden", box(cells), VARIABLE, "space.degree=3", DOUBLE,
                    solver(local_solver=local, max_iterations=20))
    for order in ("same", "reversed"):
        for pre, post in ((1, 1), (0, 1), (2, 0), (3, 2)):
            row(f"order {order} {pre} {post}", "golden", box("[8, 16]"), DOUBLE,
                solver(order=order, pre_smoothing=pre, post_smoothing=post, max_iterations=30, method="gmres"))
    for precision in ("mixed", "double", "single"):
        for tolerance in ("1e-3", "1e-6"):
            row(f"precision {precision} {tolerance}", "golden", box("[16, 16]"),
                solver(precision=precision, tolerance=tolerance, method="vcycle"), brief=tolerance == "1e-6")
    row("neumann variable", "pure-neumann", "data.a=1 + x/2", "data.exact=null", "data.f=x - 0.5",
        "mesh.box.cells=[8, 6]", DOUBLE)
    row("precision double 1e-12", "golden", box("[8, 4, 4]"), solver(tolerance="1e-12", method="cg"), DOUBLE)


def box_shapes():
    """Graded, stretched and natural boxes."""
    for precision in ("double", "mixed"):
        p = f"solver.precision={precision}"
        row(f"graded 2D {precision}", "golden",
            box("[12, 8]", spacing="{x: s*s, y: [0, 0.05, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95, 1]}"), p)
        row(f"graded 3D {precision}", "golden", box("[6, 4, 4]", spacing='{z: "s + 0.1*sin(2*pi*s)"}'), p,
            "space.degree=3")
        row(f"graded variable {precision}", "golden", box("[4, 4, 6]", spacing="{x: s*s}"), p, VARIABLE,
            "space.degree=2")
        row(f"stretched {precision}", "golden", box("[16, 8]", lower="[-1, 0]", upper="[1, 0.25]"), p)
        for degree in (1, 2, 5):
            row(f"mixed-boundary p{degree} {precision}", "mixed-boundary", "mesh.box.cells=[4, 6, 2]", p,
                f"space.degree={degree}", brief=degree == 2)
        row(f"robin variable {precision}", "golden", p, VARIABLE, "boundary.all={robin: {alpha: 1 + x, g: y}}")
        row(f"neumann 3D {precision}", "pure-neumann", "mesh={box: {cells: [4, 4, 5]}}", p, "space.degree=3")
        row(f"one face {precision}", "golden", "boundary.right.neumann=0.5*exp(x/2)*cos(y + 0.3) + z", REACTION, p)


def forest_domains():
    """Every domain, with low and high degrees, uniform and with hanging nodes."""
    ball, shell = "mesh={ball: {dim: %d}, refine: %d%s}", "mesh={shell: {dim: %d}, refine: %d%s}"
    for text, name in ((ball, "ball"), (shell, "shell")):
        for degree in range(1, 9):
            forest(f"{name} 2D p{degree}", "golden", text % (2, 2, ""), f"space.degree={degree}", DOUBLE)
            forest(f"{name} 2D hanging p{degree}", "golden", text % (2, 1, ', refine_where: "0.3 - hypot(x - 0.7, y)"'),
                   f"space.degree={degree}", DOUBLE, brief=degree == 3)
            refine = 2 if degree < 4 else 1
            forest(f"{name} 3D p{degree}", "golden", text % (3, refine, ""), f"space.degree={degree}",
                   sweep=degree in (6, 8))
            forest(f"{name} 3D hanging p{degree}", "golden", text % (3, 1, ', refine_where: "0.3 - hypot(x - 0.7, y)"'),
                   f"space.degree={degree}", DOUBLE, sweep=degree > 4)
    for dim, refine in ((2, 2), (3, 1)):
        forest(f"l_shape {dim}D", "golden", "mesh={l_shape: {dim: %d}, refine: %d}" % (dim, refine))
        forest(f"channel {dim}D", "golden", "mesh={channel: {dim: %d}, refine: %d}" % (dim, refine - 1),
            "space.degree=2")
    forest("fichera", "golden", "mesh={fichera: {dim: 3}, refine: 1}", "space.degree=3", DOUBLE)
    for degree in (1, 2, 3, 4):
        forest(f"geometry_degree {degree}", "golden", shell % (2, 2, f", geometry_degree: {degree}"), DOUBLE)
    # refine_where nowhere positive: trees all the same.
    for dim, cells in ((2, "[4, 4]"), (3, "[2, 3, 2]")):
        for degree in (1, 2, 4, 7):
            forest(f"box of trees {dim}D p{degree}", "golden", f"space.degree={degree}", DOUBLE,
                   "mesh={box: {cells: %s}, refine: 1, refine_where: -1}" % cells)
    for where in ("x", "xy", "y"):
        forest(f"periodic {where}", "periodic", f"mesh.box.periodic={where}", "data.c=1", DOUBLE,
               "data.f=sin(2*pi*x)*(1 + cos(2*pi*y))", "data.exact=null")
    forest("periodic 3D", "periodic", "mesh={box: {cells: [4, 2, 3], periodic: xz}, refine_where: 0.3 - y}",
        "space.degree=2")


def forest_solvers():
    """Methods, smoothers, precisions, coarse solvers and coarsenings on the ball with hanging nodes."""
    mesh = 'mesh={ball: {dim: 2}, refine: 2, refine_where: "0.3 - hypot(x - 0.7, y)", refine_times: 2}'
    for method in METHODS:
        for smoother in ("jacobi", "chebyshev", "cell_patch"):
            for data, sets in (("", []), (" variable", VARIABLE)):
                choice = solver(method=method, smoother=smoother, max_iterations=10)
                forest(f"ball{data} {method} {smoother}", "golden", mesh, sets, choice, "space.degree=3", DOUBLE,
                       brief=method == "cg" and data == "")
                forest(f"ball{data} {method} {smoother} mixed", "golden", mesh, sets, choice, "space.degree=3",
                    sweep=True)
    for coarsening in ("mesh", "degree"):
        for coarse in ("direct", "amg", "cg"):
            for precision in ("double", "mixed"):
                forest(f"coarse {coarse} {coarsening} {precision}", "golden",
                       "mesh={shell: {dim: 2}, refine: 3}", f"solver.precision={precision}", "space.degree=4",
                       solver(coarse=coarse, coarsening=coarsening), needs=["hypre"] if coarse == "amg" else [])
        forest(f"coarsening {coarsening} 3D hanging", "golden", "space.degree=4", f"solver.coarsening={coarsening}",
               "mesh={ball: {}, refine: 1, refine_where: x - 0.4}", DOUBLE)
    for pre, post in ((1, 1), (2, 1), (3, 3)):
        forest(f"sweeps {pre} {post}", "golden", mesh, DOUBLE, solver(pre_smoothing=pre, post_smoothing=post,
            method="vcycle"))
    for precision in ("mixed", "double", "single"):
        forest(f"ball precision {precision}", "golden", mesh, solver(precision=precision, tolerance="1e-5"), brief=True)
    stretched = "mesh={box: {cells: [8, 8], upper: [1, 0.05]}, refine: 1, refine_where: -1}"
    forest("stretched cell_patch", "golden", stretched, solver(smoother="cell_patch"), DOUBLE)
    forest("stretched chosen", "golden", stretched, DOUBLE)
    bars = "mesh={kind: forest, box: {dim: 3, cells: [1, 2, 2], upper: [1, 0.05, 0.05]}, refine: 1}"
    forest("stretched two ways", "golden", bars, "space.degree=3", DOUBLE)
    forest("stretched lines 3D", "golden", bars, "mesh.box.upper=[1, 1, 0.05]", "space.degree=3",
           solver(smoother="line_patch"), DOUBLE)


def forest_data():
    """Materials, named boundaries, Robin, pure Neumann, reaction, boundary data."""
    plain = ["adapt=null", "mesh.refine=1", "space.degree=4"]
    for precision in ("double", "mixed"):
        p = f"solver.precision={precision}"
        forest(f"plate {precision}", "plate", plain, p)
        forest(f"plate materials {precision}", "plate", plain, p, "data.materials.plate={a: 1 + x/9, c: 0.5, f: y}")
        forest(f"plate boundaries {precision}", "plate", plain, p, "boundary.hole={robin: {alpha: 1 + x*x, g: y}}",
               "boundary.sides.dirichlet=x", "boundary.right.neumann=y")
        forest(f"channel boundaries {precision}", "golden", "mesh={channel: {dim: 2}}", "boundary.inflow.dirichlet=y",
               "boundary.outflow={robin: {alpha: 2, g: x}}", "boundary.cylinder.neumann=1", "data.exact=null", p)
        forest(f"shell reaction {precision}", "golden", 'mesh={shell: {}, refine: 1}', REACTION, "space.degree=3", p)
        forest(f"ball robin {precision}", "golden", "mesh={ball: {dim: 2}, refine: 2}", VARIABLE, p,
               "boundary.surface={robin: {alpha: 2, g: 1 + x}}", "boundary.all=null")
        forest(f"ball neumann {precision}", "golden", "mesh={ball: {dim: 2}, refine: 2}", p, "data.f=x",
            "data.exact=null",
               "boundary={all: {neumann: 0}}")
    # The same space and the same answer whether such a box is of trees or not.
    forest("refined box", "golden", "mesh={box: {dim: 2, cells: 4}, refine: 2}", "solver.tolerance=1e-11", DOUBLE,
           "space.degree=2", answer=True)


def adaptive():
    """Marks by both estimators, both markings; cells and unknowns of every step."""
    f = ["data.exact=null", "data.f=exp(x)*(1 + y/3)", "boundary={all: {dirichlet: 0}}"]
    for degree in (1, 2, 3, 5):
        for marking in ("bulk", "fraction"):
            forest(f"l_shape residual {marking} p{degree}", "golden", f, f"space.degree={degree}", DOUBLE,
                   "mesh={l_shape: {}, refine: 1}", f"adapt.marking={marking}", steps(6), brief=degree == 2)
    forest("l_shape residual mixed", "golden", f, "mesh={l_shape: {}, refine: 1}", steps(6), "space.degree=2")
    forest("ball 2D residual exact", "golden", "mesh={ball: {dim: 2}, refine: 1}", "space.degree=2", steps(5))
    forest("fichera residual", "golden", f, "mesh={fichera: {}}", "data.f=exp(x)*(1 + y/3 - z/4)", "space.degree=2",
        steps(4))
    forest("shell 3D residual", "golden", "mesh={shell: {}}", "space.degree=2", steps(3), DOUBLE)
    forest("box residual", "golden", box("[3, 2]"), steps(5), "space.degree=2", DOUBLE)
    forest("box 3D residual", "golden", box("[3, 2, 2]"), steps(3), "space.degree=2", DOUBLE, f,
           "data.f=exp(3*x)*(1 + y/3 - z/5)")
    forest("periodic residual", "periodic", "mesh.refine_where=null", "data.f=exp(sin(2*pi*x + 0.3))*(1 + y)",
        "data.exact=null",
           steps(4), "space.degree=2", DOUBLE)
    for coarsening in ("mesh", "degree"):
        for method in ("cg", "fmg", "gmres"):
            forest(f"adapt {method} {coarsening}", "golden", f, "data.f=exp(x)*(1 + y/4)",
                "mesh={l_shape: {}, refine: 1}",
                   "space.degree=4", DOUBLE, steps(5), solver(method=method, coarsening=coarsening))
    forest("adapt cell_patch", "golden", f, "mesh={l_shape: {}, refine: 1}", "space.degree=4", DOUBLE, steps(5),
           "solver.smoother=cell_patch")
    dwr = "adapt={estimator: dwr, goal: {%s}}"
    forest("dwr point", "golden", f, "mesh={l_shape: {}, refine: 1}", "space.degree=2", dwr % "point: [-0.3, 0.4]",
        steps(5), DOUBLE)
    forest("dwr point 3D", "golden", f, "mesh={fichera: {}}", "space.degree=1", dwr % "point: [-0.3, 0.4, -0.6]",
        steps(3), DOUBLE)
    # f = y, as plate, hole and goal are symmetric.
    forest("dwr mean", "plate", "data.f=y", "space.degree=2", steps(6), DOUBLE, brief=True)
    forest("dwr mean p4", "plate", "data.f=y", "space.degree=4", steps(4))
    forest("dwr fraction", "plate", "data.f=y", "space.degree=3", steps(4), "adapt.marking=fraction",
        "adapt.fraction=0.3", DOUBLE)
    forest("max_dofs", "golden", f, "mesh={l_shape: {}, refine: 1}", steps(20), "adapt.max_dofs=900", DOUBLE)
    forest("tolerance", "golden", f, "mesh={l_shape: {}, refine: 1}", "adapt={tolerance: 0.02}", DOUBLE)
    forest("checkpoint", "golden", f, "mesh={l_shape: {}, refine: 1}", "space.degree=2", steps(3), DOUBLE,
           "output.checkpoint=golden.h5", needs=["hdf5"])
    forest("restart", "golden", f, "mesh={l_shape: {}, refine: 1}", "space.degree=2", steps(3), DOUBLE,
           options="--restart golden.h5", needs=["hdf5"])


def emulator():
    """Kernels in the emulator: compiled once a machine, some seconds each, so the most in the slow round."""
    def case(name, base, *sets, first=False, forest=False):
        row(f"emulator {name}", base, *sets, options="--device emulator", needs=["emulator"] + ["p4est"] * forest,
            sweep=not first)
    case("square", "golden", "space.degree=3", first=True)
    case("cube", "golden", box("[4, 4, 2]"), "space.degree=2", DOUBLE)
    case("odd", "golden", box("[5, 3]"), "space.degree=4", REACTION, DOUBLE, "solver.tolerance=2e-10")
    case("variable", "golden", box("[6, 4]"), "space.degree=3", VARIABLE, DOUBLE)
    case("variable 3D", "golden", box("[2, 2, 4]"), "space.degree=2", VARIABLE)
    case("boundaries", "mixed-boundary", "mesh.box.cells=[2, 2, 2]", "space.degree=2", DOUBLE)
    for smoother in SMOOTHERS:
        case(smoother, "golden", box("[4, 4]"), "space.degree=2", solver(smoother=smoother, method="cg"), DOUBLE)
    for method in METHODS:
        case(method, "golden", box("[8, 4]"), "space.degree=3", solver(method=method))
    case("ball", "golden", "mesh={ball: {dim: 2}, refine: 1, refine_where: x - 0.4}", "space.degree=2", DOUBLE,
        first=True,
         forest=True)
    case("ball 3D", "golden", "mesh={ball: {}, refine: 1, refine_where: x - 0.6}", "space.degree=2", forest=True)
    case("periodic", "periodic", "mesh.box.cells=[4, 4]", "space.degree=2", DOUBLE, forest=True)
    case("plate", "plate", steps(2), "space.degree=1", forest=True)
    case("l_shape", "golden", "mesh={l_shape: {}, refine: 1}", "space.degree=2", steps(3), DOUBLE, forest=True)
    case("degree first", "golden", "mesh={l_shape: {}, refine: 1}", "space.degree=4", DOUBLE,
        "solver.coarsening=degree",
         "solver.smoother=cell_patch", forest=True)


def answer(program, one, folder, threads):
    """What the program reports: exit status and report."""
    base = TESTS / "data" if one["case"] == "golden" else TESTS.parent / "cases"
    command = [program, "solve", f"{base / one['case']}.yaml", "--quiet", "--json", "-", "--threads", str(threads)]
    for text in one["sets"]:
        command += ["--set", text]
    command += one["options"].split()
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env={**os.environ,
        "OMP_WAIT_POLICY": "passive"})
    if done.returncode not in (0, 1):
        raise SystemExit(f"{one['name']}: exit status {done.returncode}: {done.stderr}{' '.join(command)}")
    return done.returncode, json.loads(done.stdout)


def summary(status, report):
    """What of a report is compared."""
    kept = {"exit": status, "status": report["status"], "dofs": report["dofs"], "levels": report["levels"],
            "hierarchy": [[level["cells"], level["dofs"]] for level in report["hierarchy"]],
            "iterations": report["iterations"], "fractional": report["fractional_iterations"],
            "tolerance": report["tolerance"], "residuals": report["residuals"], "precision": report["precision"]}
    for key in ("errors", "steps"):
        if report.get(key):
            kept[key] = report[key]
    for step in kept.get("steps", []):
        del step["effectivity"]
    return kept


def rounded(value):
    """With 13 digits, which is more than is compared."""
    if isinstance(value, float):
        return float(f"{value:.13g}")
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return {key: rounded(one) for key, one in value.items()} if isinstance(value, dict) else value


def counts(result):
    return [result[key] for key in ("exit", "status", "dofs", "levels", "hierarchy", "iterations")] + [
        [step[key] for key in ("cells", "dofs", "hanging", "iterations")] for step in result.get("steps", [])]


def check(one, first, second):
    """Whether counts of this row could differ by round-off."""
    if counts(first) != counts(second):
        raise SystemExit(f"{one['name']}: other counts with two threads\n{counts(first)}\n{counts(second)}")
    near = [r for r in first["residuals"] if abs(r / first["tolerance"] - 1) < 0.01]
    if near:
        raise SystemExit(f"{one['name']}: a residual {near[0]} beside the tolerance {first['tolerance']}")


def main():
    for make in (files, box_degrees, box_solvers, box_shapes, forest_domains, forest_solvers, forest_data, adaptive,
        emulator):
        make()
    names = [one["name"] for one in ROWS]
    assert len(set(names)) == len(names), "two rows of one name"
    program = str(Path(sys.argv[1]).resolve())
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for one in ROWS:
            first, second = (summary(*answer(program, one, folder, threads)) for threads in (1, 2))
            check(one, first, second)
            lines.append(json.dumps({**one, **rounded(first)}))
    print("[\n" + ",\n".join(lines) + "\n]")


if __name__ == "__main__":
    main()
