#!/usr/bin/env python3
"""Run: ctest -R t9_ranks_cases. Every case of cases/, made small, on several ranks and on one: the report, the rows of
tables and the names of files. Arguments: the program, and then the numbers of ranks (2) and names of cases (all).
Ends with 77 where mpirun or a part of the program is missing."""
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cases")
MPIRUN = shutil.which("mpirun")
PATIENCE = 200  # seconds a call
ENVIRONMENT = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1",
                   OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", ASAN_OPTIONS="detect_leaks=0")
# What makes a case small.
SMALL = {
    "adaptive-hill": ["time.end=0.04"],
    "ball": ["mesh.refine=1", "mesh.refine_times=1"],
    "bracket": ["space.degree=1"],
    "cantilever": ["mesh.box.cells=[6,2,4]", "space.degree=2", "solver.tolerance=1e-9"],
    "cavity-3d": ["mesh.box.cells=[2,2,4]", "space.degree=2", "time={end: 0.2, step: 0.02}", "output.vtu.every=4",
                  "output.png.every=5"],
    "cavity-explicit": ["mesh.box.cells=[4,4,8]", "time.end=0.02", "output.vtu.every=20"],
    "cavity-flow": ["mesh.box.cells=[4,6]", "time={end: 0.2, step: 0.02}", "output.vtu.every=5",
                    "output.png.every=10"],
    "cavity": ["mesh.box.cells=[8,8]"],
    "channel-flow": ["time={end: 0.2, step: 0.02}", "output.vtu.every=5", "output.png.every=10"],
    "cylinder-adaptive": ["output.average.from=0.01", "space.degree=2", "time={end: 0.02, step: 0.002}",
                          "adapt.every=4"],
    "cylinder": ["output.average.from=0.01", "mesh.refine=0", "space.degree=2", "time={end: 0.02, step: 0.002}",
                 "output.vtu.every=5", "output.png.every=10"],
    "elastic-cube": ["mesh.box.cells=[3,3,4]", "time.end=2.5e-3"],
    "elastic-plate": ["mesh.refine=1"],
    "fichera": ["adapt.steps=3"],
    "front": ["time.end=0.05", "output.vtu.every=5"],
    "goal": ["adapt.steps=5"],
    "heat": ["mesh.box.cells=[8,8]", "time.end=0.1"],
    "kershaw": ["mesh.box.cells=[6,6,6]", "space.degree=2"],
    "l-shape": ["adapt.steps=6"],
    "mixed-boundary": ["mesh.box.cells=[4,4,4]", "space.degree=3"],
    "odd-sizes": ["mesh.box.cells=[6,10,6]"],
    "plate": ["adapt.steps=3"],
    "poisson-cube": ["mesh.box.cells=[8,8,8]"],
    "rotating-gaussian": ["time.end=0.05"],
    "shear-layers": ["mesh.box.cells=[8,8]", "time={end: 0.1, step: 0.01}", "output.vtu.every=5",
                     "output.png.every=10"],
    "step": ["space.degree=2", "time={end: 0.2, step: 0.02}", "output.vtu.every=5", "output.png.every=10"],
    "stokes-3d": ["mesh.box.cells=[4,4,4]", "space.degree=1"],
    "stokes-cavity": ["mesh.box.cells=[4,4,8]", "space.degree=1"],
    "stokes-manufactured-3d": ["mesh.box.cells=[4,4,4]", "space.degree=1"],
    "stokes-manufactured": ["mesh.box.cells=[8,8]"],
    "sun": ["mesh.refine=1"],
    "taylor-green-1600": ["mesh.box.cells=[4,4,4]", "space.degree=1", "time.end=0.3"],
    "taylor-green-3d": ["mesh.box.cells=[3,3,4]", "space.degree=2", "time={end: 0.2, step: 0.02}",
                        "output.vtu.every=5", "output.png.every=10"],
    "taylor-green-rt": ["mesh.box.cells=[4,4,4]", "space.degree=1", "time={end: 0.2, step: 0.02}",
                        "output.vtu.every=5"],
    "taylor-green": ["time={end: 0.2, step: 0.02}", "output.png.every=10"],
    "three-bodies": ["mesh.box.cells=[12,12]", "time.end=0.05"],
    "transport-dg": ["mesh.box.cells=[8,8]", "time.end=0.1"],
    "transport": ["mesh.box.cells=[12,8]", "time.end=0.2"],
    "variable-coefficient": ["mesh.box.cells=[8,8]", "solver.local_solver=auto"],
}
# Keys of reports that tell of machines and clocks, or of round-off.
LEFT_OUT = {"seconds", "memory", "memory_peak", "ranks", "threads", "times", "setup", "started", "host", "version",
            "dofs_per_second", "residuals", "fractional_iterations", "places", "smoother", "launches", "divergence_l2",
            "divergence_relative", "vtu", "case", "precision", "hierarchy", "levels", "operator", "transfer", "coarse",
            "frequency", "mesh", "device", "description", "defect", "phases"}
# The same where boxes become trees on several ranks, levels have other cells, a solver is for one rank, or cells in the
# order of a flow are blocks of ranks.
OF_SOLVERS = {"solver", "iterations", "iterations_per_step"}
faults = 0


def fault(text):
    global faults
    faults += 1
    print(f"FAULT: {text}", flush=True)


def size_of(numbers):
    return max((abs(x) for x in numbers if isinstance(x, float)), default=0)


def differences(a, b, path, tolerance, found, size=0):
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted((set(a) | set(b)) - LEFT_OUT):
            if key not in a or key not in b:
                found.append(f"{path}.{key}: only on {'several ranks' if key not in a else 'one rank'}")
            else:
                differences(a[key], b[key], f"{path}.{key}", tolerance, found)
    elif isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            found.append(f"{path}: {len(b)} entries, not {len(a)}")
        for i, (x, y) in enumerate(zip(a, b)):
            differences(x, y, f"{path}[{i}]", tolerance, found, size_of(a))
    elif isinstance(a, float) or isinstance(b, float):
        if a is None or b is None or not abs(a - b) <= tolerance * max(abs(a), abs(b), size, 1e-2):
            found.append(f"{path}: {b!r}, not {a!r}")
    elif a != b:
        found.append(f"{path}: {b!r}, not {a!r}")


def solve(folder, ranks, name):
    os.mkdir(folder)
    command = [MPIRUN, "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
    command += [PROGRAM, "solve", os.path.join(CASES, f"{name}.yaml"), "--quiet", "--json", "report.json"]
    for setting in ["solver.tolerance=1e-10"] + SMALL.get(name, []):
        command += ["--set", setting]
    try:
        done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return None, f"no end after {PATIENCE} s"
    try:
        with open(os.path.join(folder, "report.json"), encoding="utf-8") as file:
            return json.load(file), done.stderr
    except (OSError, ValueError):
        return None, done.stderr


def tables_of(folder):
    tables = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".csv"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                tables[name] = list(csv.reader(file))
    return tables


def compare_tables(name, ranks, one, many, tolerance):
    if set(one) != set(many):
        fault(f"{name} on {ranks}: tables {sorted(many)}, not {sorted(one)}")
    for table in set(one) & set(many):
        if len(one[table]) != len(many[table]) or one[table][:1] != many[table][:1]:
            fault(f"{name} on {ranks}: {len(many[table])} rows of {table}, not {len(one[table])}")
        for a, b in zip(one[table][1:], many[table][1:]):
            wrong = [column for column, x, y in zip(one[table][0], a, b)
                     if column not in ("seconds", "residual", "iterations") and x != y
                     and not abs(float(x) - float(y)) <= tolerance * max(1e-2, abs(float(x)))]
            if wrong:
                fault(f"{name} on {ranks}: {wrong} of {table}: {b}, not {a}")
                break


def compare_files(name, ranks, folders):
    """The same files, but for pieces."""
    files = [{f for f in os.listdir(folder)} for folder in folders]
    pieces = {f for f in files[1] if f.endswith(".vtu") and f[-9] == "_" and f[-8:-4].isdigit()}
    lists = {f for f in files[1] if f.endswith(".pvtu")}
    expected = {f for f in files[0] if not f.endswith(".vtu")}
    if files[1] - pieces - lists != expected or len(pieces) != ranks * len(lists):
        fault(f"{name} on {ranks}: files {sorted(files[1])}, not {sorted(files[0])}")
    if {f[:-5] for f in lists} != {f[:-4] for f in files[0] if f.endswith(".vtu")}:
        fault(f"{name} on {ranks}: lists {sorted(lists)} for {sorted(files[0])}")


def run(folder, name, numbers):
    one, warnings = solve(os.path.join(folder, f"{name}-1"), 1, name)
    if one is None:
        fault(f"{name} on one rank: {warnings}")
        return
    for ranks in numbers:
        many, told = solve(os.path.join(folder, f"{name}-{ranks}"), ranks, name)
        if many is None or many["status"] != one["status"]:
            fault(f"{name} on {ranks}: {many and many['status']} {told}")
            continue
        found = []
        methods = [report.get("solver", {}).get("method") for report in (one, many)]
        same = methods[0] == methods[1] and one.get("hierarchy") == many.get("hierarchy")
        left_out = set() if same and one["problem"] != "transport" else OF_SOLVERS
        if many["iterations"] > 1.5 * one["iterations"] + 1 and methods[0] == methods[1]:
            fault(f"{name} on {ranks}: {many['iterations']} iterations, not {one['iterations']}")
        differences(*({key: value for key, value in report.items() if key not in left_out} for report in (one, many)),
                    "", 1e-7 if "time" in one else 1e-8, found)
        for text in found:
            fault(f"{name} on {ranks}{text}")
        lines = [[line for line in text.split("\n") if line.startswith(("tessera: ", "warning: "))]
                 for text in (told, warnings)]
        if lines[0] != lines[1]:
            fault(f"{name} on {ranks}: tells {lines[0]}, not {lines[1]}")
        folders = [os.path.join(folder, f"{name}-{n}") for n in (1, ranks)]
        compare_tables(name, ranks, *(tables_of(f) for f in folders), 1e-7)
        compare_files(name, ranks, folders)


def main():
    numbers = [int(word) for word in sys.argv[2:] if word.isdigit()] or [2]
    names = [word for word in sys.argv[2:] if not word.isdigit()] or sorted(
        name[:-5] for name in os.listdir(CASES) if name.endswith(".yaml"))
    if not MPIRUN:
        print("skipped: mpirun is missing (openmpi-bin)")
        return 77
    parts = json.loads(subprocess.run([PROGRAM, "info", "--json"], capture_output=True, text=True, check=True).stdout)
    if not parts["parts"]["mpi"] or not parts["parts"]["p4est"]:
        print("skipped: a build without MPI or p4est")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            run(folder, name, numbers)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
