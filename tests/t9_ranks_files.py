#!/usr/bin/env python3
"""Run: ctest -R t9_ranks_files. Checkpoints of the program on several ranks: a run that goes on from a file, written by
any number of ranks, ends as a run that was not interrupted. Where the number of ranks is the same it ends with the same
bits. Ends with 77 where mpirun or a part of the program is missing."""
import json
import os
import re
import sys
import tempfile

from ranks_cases import CARRIED, CARRIED_DG, CHANNEL, EDDY, HILL, LID, MANTLE, STILL_DG, STREAM, WAVES
from t9_ranks import MPIRUN, PROGRAM, call, check, expect, mpirun, rows, solve, wrote_faults

QUICK = len(sys.argv) == 2
# In time: a box that is a mesh of trees on several ranks, hanging nodes and means, all vectors of elasticity.
HEAT = """
problem: transport
mesh: {box: {cells: [6, 4], upper: [1.5, 1]}}
space: {degree: 3}
data: {a: 0.1, b: [1, 0.5], f: 0, initial: "sin(pi*x)*sin(pi*y)"}
boundary: {all: {dirichlet: 0}}
time: {end: 0.1, step: 0.02, method: bdf2}
solver: {tolerance: 1e-11}
output: {values: {m: {mean: domain}}, series: series.csv, points: {p: [0.3, 0.5]}, checkpoint: end.h5}
"""
IN_TIME = {
    "heat": (HEAT, 0.06),
    "carried": (CARRIED.replace("output: {", "output: {checkpoint: end.h5, average: {from: 0.02}, "), 0.06),
    "carried_dg": (CARRIED_DG.replace("output: {", "output: {checkpoint: end.h5, "), 0.06),
    "hill": (HILL.replace("series: hill.csv", "checkpoint: end.h5"), 0.1),
    "stream": (STREAM.replace("output:\n  {", "output:\n  {checkpoint: end.h5, "), 0.1),
    "lid": (LID.replace("output:\n  {", "output:\n  {checkpoint: end.h5, "), 0.1),
    "waves": (WAVES.replace("output: {", "output: {checkpoint: end.h5, "), 0.15),
    "eddy": (EDDY.replace("output:\n  {", "output:\n  {checkpoint: end.h5, average: {from: 0.02}, "), 0.1),
}
# Written on and read on, in the quick test.
WAYS = {"heat": [(1, 3), (3, 1), (2, 2)], "carried": [(2, 2)], "carried_dg": [(3, 2), (2, 2)], "hill": [(3, 2)],
        "stream": [(1, 3)], "lid": [(3, 2)], "waves": [(2, 1)], "eddy": [(2, 3), (3, 3)]}
STEADY = """
problem: poisson
mesh: {box: {cells: [4, 3, 6]}}
space: {degree: 3}
data: {f: 3*pi*pi*sin(pi*x)*sin(pi*y)*sin(pi*z), exact: sin(pi*x)*sin(pi*y)*sin(pi*z)}
boundary: {all: {dirichlet: exact}}
solver: {tolerance: 1e-9}
output: {values: {mean: {mean: domain}}, points: {a: [0.5, 0.5, 0.5]}, checkpoint: end.h5}
"""
ADAPTIVE = """
problem: poisson
mesh: {l_shape: {}}
space: {degree: 2}
data: {a: 1 + 0.2*x, f: 1}
boundary: {all: {dirichlet: 0}}
solver: {tolerance: 1e-10}
adapt: {steps: 2}
output: {values: {mean: {mean: domain}}, points: {a: [0.3, 0.4]}, checkpoint: end.h5}
"""
# From the end of HEAT, over another mesh.
AGAIN = """
problem: transport
mesh: {box: {cells: [5, 3], upper: [1.5, 1]}, kind: forest, refine_where: "x - 0.6"}
space: {degree: 2}
data: {a: 0.1, f: 0, initial: {file: half1.h5}}
boundary: {all: {dirichlet: 0}}
time: {end: 0.04, step: 0.02}
solver: {tolerance: 1e-11}
output: {values: {m: {mean: domain}}, points: {p: [0.3, 0.5]}}
"""


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def is_quiet(errors):
    return not errors or errors.startswith("warning: the error of the velocity")


def is_near(a, b, tolerance):
    return abs(a - b) <= tolerance * max(1, abs(b))


def same(what, one, other, tolerance):
    check(one["status"] == other["status"] == "converged", f"{what}: {other['status']}")
    check(len(one["values"]) > 0 and len(one["points"]) > 0, f"{what}: nothing is compared")
    for key, value in one["values"].items():
        check(is_near(other["values"][key], value, tolerance), f"{what}: {key} {other['values'][key]}, not {value}")
    for a, b in zip(one["points"], other["points"]):
        pairs = [(x, y) for key in a if key != "name" for x, y in zip(*(c[key] if isinstance(c[key], list) else [c[key]]
                                                                         for c in (a, b)))]
        check(all(is_near(y, x, tolerance) for x, y in pairs), f"{what}: {b}, not {a}")
    for a, b in zip(one.get("averages", {}).items(), other.get("averages", {}).items()):
        check(json.dumps(a) == json.dumps(b) or tolerance > 0, f"{what}: {b}, not {a}")


def runs_go_on(folder, name, text, half):
    """What is interrupted on some ranks and goes on on others."""
    ways = WAYS[name] if QUICK else [(a, b) for a in (1, 2, 4) for b in (1, 2, 3, 4)]
    write(folder, f"{name}.yaml", text)
    whole, series = {}, {}
    for ranks in sorted({b for _, b in ways}):
        _, whole[ranks], errors = solve(folder, 0 if ranks == 1 else ranks, f"{name}.yaml")
        check(is_quiet(errors), f"{name} on {ranks}: {errors}")
        series[ranks] = rows(folder, "series.csv") if "series.csv" in text else []
    for ranks in sorted({a for a, _ in ways}):
        options = ["--set", f"time.end={half}", "--set", f"output.checkpoint=half{ranks}.h5",
                   "--set", f"output.vtkhdf=half{ranks}.vtkhdf"]
        code, _, errors = solve(folder, 0 if ranks == 1 else ranks, f"{name}.yaml", *options)
        check(code == 0 and is_quiet(errors), f"{name} until {half} on {ranks}: {errors}")
    for a, b in ways:
        what = f"{name} of {a} on {b}"
        options = ["--restart", f"half{a}.h5", "--set", f"output.vtkhdf=half{a}.vtkhdf"]
        code, report, errors = solve(folder, 0 if b == 1 else b, f"{name}.yaml", *options)
        check(code == 0 and is_quiet(errors), f"{what}: {code} {errors}")
        same(what, whole[b], report, 1e-9 if a != b else 1e-11 if name in ("waves", "stream", "lid") else 0)
        again = rows(folder, "series.csv") if series[b] else []
        check(len(again) == len(series[b]), f"{what}: {len(again)} rows of the series, not {len(series[b])}")
        check(all(is_near(x, y, 1e-9) for p, q in zip(series[b][-1:], again[-1:]) for x, y in zip(p, q)),
              f"{what}: {again[-1:]}, not {series[b][-1:]}")


def files_have_the_same_fields(folder):
    """Of a box that is a mesh of trees on several ranks: arrays and points of VTU files, also of degree 1, which the
    cells of trees do not have."""
    write(folder, "fields.yaml", HEAT)
    seen = []
    for ranks in (0, 2):
        code, _, errors = solve(folder, ranks, "fields.yaml", "--vtu", "f.vtu", "--set", "space.degree=1")
        check(code == 0 and not errors, f"fields on {ranks}: {code} {errors}")
        pieces = ["f-000.vtu"] if not ranks else [f"f-000_{i:04}.vtu" for i in range(ranks)]
        names, points = set(), 0
        for piece in pieces:
            with open(os.path.join(folder, piece), "rb") as file:
                head = file.read().decode("latin-1")
            names.add(" ".join(re.findall(r'Name="(\w+)"', head)))
            points += int(re.search(r'NumberOfPoints="(\d+)"', head).group(1))
        seen.append((names, points))
    check(seen[0] == seen[1] and len(seen[0][0]) == 1 and seen[0][1] == 4 * 24, f"fields of one and two ranks: {seen}")


def solutions_are_taken_up(folder):
    """A steady solution is where its restart begins: nothing is left to do, or the next meshes."""
    flow = CHANNEL.replace("output:\n  {", "output:\n  {checkpoint: end.h5, ")
    still = STILL_DG.replace("output:\n", "output:\n  checkpoint: end.h5\n")
    mantle = MANTLE.replace("output:\n  {", "output:\n  {checkpoint: end.h5, ")
    for name, text in (("flow", flow), ("mantle", mantle), ("steady", STEADY), ("still", still),
                       ("adaptive", ADAPTIVE)):
        write(folder, f"{name}.yaml", text)
        for a, b in [(3, 2)] if QUICK else [(1, 2), (3, 1), (2, 3), (4, 4)]:
            _, one, errors = solve(folder, 0 if a == 1 else a, f"{name}.yaml")
            check(not errors, f"{name} on {a}: {errors}")
            options = ["--restart", "end.h5", "--set", "output.checkpoint=null"]
            code, other, errors = solve(folder, 0 if b == 1 else b, f"{name}.yaml", *options)
            what = f"{name} of {a} on {b}"
            check(code == 0 and not errors, f"{what}: {code} {errors}")
            check(other["dofs"] > one["dofs"] if name == "adaptive" else other["iterations"] <= 2,
                  f"{what}: {other['iterations']} iterations, {other['dofs']} unknowns after {one['dofs']}")
            if name != "adaptive":
                same(what, one, other, 1e-7)


def fields_are_initial_values(folder):
    write(folder, "again.yaml", AGAIN)
    _, one, errors = solve(folder, 0, "again.yaml")
    check(not errors, errors)
    for ranks in (3,) if QUICK else (2, 3, 4):
        code, many, errors = solve(folder, ranks, "again.yaml")
        check(code == 0 and not errors, f"again on {ranks}: {code} {errors}")
        same(f"again on {ranks}", one, many, 1e-9)
    expect("another domain", mpirun((2, [PROGRAM, "solve", "again.yaml", "--set", "data.initial.file=end.h5"])),
           folder, 2, "data.initial.file", "u of end.h5 (nan outside of its mesh) is nan at (")
    expect("no file", mpirun((2, [PROGRAM, "solve", "again.yaml", "--set", "data.initial.file=nowhere.h5"])),
           folder, 2, "data.initial.file", "cannot read nowhere.h5")


def what_fails(folder):
    expect("no checkpoint", mpirun((3, [PROGRAM, "solve", "heat.yaml", "--restart", "nowhere.h5"])), folder, 4,
           "tessera: cannot read nowhere.h5")
    expect("another mesh", mpirun((2, [PROGRAM, "solve", "heat.yaml", "--restart", "half1.h5", "--set",
                                       "mesh.box.cells=[5, 4]"])), folder, 2, "half1.h5 is of another mesh")
    expect("no folder", mpirun((2, [PROGRAM, "solve", "heat.yaml", "--set", "output.checkpoint=nowhere/a.h5"])),
           folder, 4, "tessera: cannot write nowhere/a.h5")
    check(not [name for name in os.listdir(folder) if name.endswith(".part")], "parts of files are left")


def main():
    if not MPIRUN:
        print("skipped: mpirun is missing (openmpi-bin)")
        return 77
    _, text, _, _ = call([PROGRAM, "info", "--json"], ".")
    parts = json.loads(text)["parts"]
    if not parts["mpi"] or not parts["hdf5"]:
        print("skipped: a build without MPI or HDF5")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        for name, (text, half) in reversed(IN_TIME.items()):
            runs_go_on(folder, name, text, half)
        solutions_are_taken_up(folder)
        fields_are_initial_values(folder)
        files_have_the_same_fields(folder)
        what_fails(folder)
    return 1 if wrote_faults() else 0


if __name__ == "__main__":
    sys.exit(main())
