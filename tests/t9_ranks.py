#!/usr/bin/env python3
"""Run: ctest -R t9_ranks. The program on several ranks against the program on one: iterations, errors, values, points,
lines, pieces for VTK; what several ranks have not is refused by `solve` and `check` alike; failures of one rank end all
with one message and one status within five seconds. Ends with 77 where mpirun or a part of the program is missing."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.abspath(sys.argv[1])
MPIRUN = shutil.which("mpirun")
RANKS = [2, 3] if len(sys.argv) == 2 else [1, 2, 3, 4, 7]
ENVIRONMENT = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1",
                   OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", ASAN_OPTIONS="detect_leaks=0")
faults = 0


def check(condition, text):
    global faults
    if not condition:
        faults += 1
        print(f"FAULT: {text}")


def call(command, folder, environment=None, text=None):
    start = time.monotonic()
    done = subprocess.run(command, cwd=folder, env=environment or ENVIRONMENT, input=text, capture_output=True,
                          text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr, time.monotonic() - start


def mpirun(*parts):
    """One list of arguments for all ranks as (count, arguments), or several of them."""
    command = [MPIRUN, "--oversubscribe"]
    for i, (count, arguments) in enumerate(parts):
        command += ([":"] if i else []) + ["-n", str(count)] + arguments
    return command


def solve(folder, ranks, case, *options):
    arguments = [PROGRAM, "solve", case, "--quiet", "--json", f"report{ranks}.json", *options]
    code, _, errors, _ = call(mpirun((ranks, arguments)) if ranks else arguments, folder)
    with open(os.path.join(folder, f"report{ranks}.json"), encoding="utf-8") as file:
        return code, json.load(file), errors


def near(a, b, tolerance):
    return abs(a - b) <= tolerance * max(abs(a), abs(b), 1e-300)


def rows(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return [[float(x) for x in line.split(",")] for line in file.read().split("\n")[1:] if line]


BOX = """
problem: poisson
mesh: {box: {cells: [6, 5, 8]}}
space: {degree: 3}
data: {f: 3*pi*pi*sin(pi*x)*sin(pi*y)*sin(pi*z), exact: sin(pi*x)*sin(pi*y)*sin(pi*z)}
boundary: {all: {dirichlet: exact}, left: {neumann: "-pi*sin(pi*y)*sin(pi*z)"}}
solver: {tolerance: 1e-11}
output:
  values: {mean: {mean: domain}, flux: {integral: left, of: ux*nx}, at: {point: [0.3, 0.4, 0.5], of: uz}}
  points: {middle: [0.5, 0.5, 0.5], odd: [0.31, 0.77, 0.375]}
  lines: [{from: [0.5, 0.5, 0], to: [0.5, 0.5, 1], count: 9, file: line.csv}]
"""
FOREST = """
problem: poisson
mesh: {ball: {dim: 2}, refine: 2, refine_where: "x - 0.4"}
space: {degree: 4}
data: {a: 1 + x*x, f: "exp(x)*(y - 1)", exact: x*x*y}
boundary: {all: {dirichlet: exact}}
solver: {tolerance: 1e-11}
output:
  values: {mean: {mean: domain, of: u*u}, flux: {integral: boundary, of: ux*nx + uy*ny}}
  points: {a: [0.3, 0.4], b: [-0.5, 0.1]}
"""


def compare(name, one, many, ranks):
    check(many["status"] == one["status"] and one["status"] == "converged", f"{name} on {ranks}: {many['status']}")
    check(many["iterations"] == one["iterations"],
          f"{name} on {ranks}: {many['iterations']} iterations, {one['iterations']} on one")
    check(many["dofs"] == one["dofs"], f"{name} on {ranks}: {many['dofs']} unknowns, not {one['dofs']}")
    check(ranks == 1 or many["ranks"] == ranks, f"{name}: the report of {ranks} ranks")
    for key in ("error_l2", "error_h1"):
        check(near(many[key], one[key], 1e-9), f"{name} on {ranks}: {key} {many[key]}, not {one[key]}")
    for key, value in one.get("values", {}).items():
        check(near(many["values"][key], value, 1e-9), f"{name} on {ranks}: {key} {many['values'][key]}, not {value}")
    for a, b in zip(one.get("points", []), many.get("points", [])):
        check(near(a["u"], b["u"], 1e-10), f"{name} on {ranks}: {b} instead of {a}")


def same_results(folder):
    for name, text in (("box", BOX), ("forest", FOREST)):
        with open(os.path.join(folder, f"{name}.yaml"), "w", encoding="utf-8") as file:
            file.write(text)
        _, one, errors = solve(folder, 0, f"{name}.yaml")
        check(not errors, errors)
        line = rows(folder, "line.csv") if name == "box" else []
        for ranks in RANKS:
            _, many, errors = solve(folder, ranks, f"{name}.yaml")
            check(not errors, f"{name} on {ranks}: {errors}")
            compare(name, one, many, ranks)
            if name != "box":
                continue
            for a, b in zip(line, rows(folder, "line.csv")):
                check(all(abs(x - y) <= 1e-10 for x, y in zip(a, b)), f"line on {ranks}: {b} instead of {a}")


def main():
    if not MPIRUN:
        print("skipped: mpirun is missing (openmpi-bin)")
        return 77
    code, text, _, _ = call([PROGRAM, "info", "--json"], ".")
    if not json.loads(text)["parts"]["p4est"]:
        print("skipped: a build without MPI")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        same_results(folder)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
