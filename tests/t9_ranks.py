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

from ranks_cases import BOX, BRIEF, FLUME, FOREST, FREE, GROWTH, HEAT, MORE

LIMIT = 30  # seconds; the aim is 5, which a busy machine does not keep

try:
    import vtk
except ImportError:
    vtk = None

PROGRAM = os.path.abspath(sys.argv[1])
MPIRUN = shutil.which("mpirun")
# Of four layers: more ranks cut other directions too.
GRID = BOX.replace("[6, 5, 8]", "[16, 16, 4]").replace("line.csv", "grid.csv")
RANKS = [2, 3] if len(sys.argv) == 2 else [1, 2, 3, 4, 7]
PATIENCE = 150 if len(sys.argv) == 2 else 300  # seconds a call; seven ranks on two processors wait for each other
ENVIRONMENT = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1",
                   OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", ASAN_OPTIONS="detect_leaks=0")
faults = 0


def check(condition, text):
    global faults
    if not condition:
        faults += 1
        print(f"FAULT: {text}")


def wrote_faults():
    return faults > 0


def call(command, folder, environment=None, text=None):
    start = time.monotonic()
    done = subprocess.run(command, cwd=folder, env=environment or ENVIRONMENT, input=text, capture_output=True,
                          text=True, timeout=PATIENCE)
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


def rows(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return [[float(x) for x in line.split(",")] for line in file.read().split("\n")[1:] if line]


def square_mesh():
    """Squares of Gmsh (format 2.2): 8 x 4 cells on (0, 2) x (0, 1), materials one and two, and the line between."""
    names = [(0, 1, "pin"), (0, 2, "rest"), (1, 3, "wire"), (2, 4, "one"), (2, 5, "two")]
    nodes = [(i / 4, j / 4) for j in range(5) for i in range(9)]
    at = lambda i, j: 1 + i + 9 * j
    elements = [f"15 2 1 1 {at(0, 0)}", f"15 2 2 2 {at(8, 0)}"]
    elements += [f"1 2 3 3 {at(4, j)} {at(4, j + 1)}" for j in range(4)]
    elements += [f"3 2 {4 + i // 4} {4 + i // 4} {at(i, j)} {at(i + 1, j)} {at(i + 1, j + 1)} {at(i, j + 1)}"
                 for j in range(4) for i in range(8)]
    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$PhysicalNames", str(len(names))]
    lines += [f'{dim} {number} "{name}"' for dim, number, name in names] + ["$EndPhysicalNames", "$Nodes"]
    lines += [str(len(nodes))] + [f"{n + 1} {x} {y} 0" for n, (x, y) in enumerate(nodes)] + ["$EndNodes"]
    lines += ["$Elements", str(len(elements))] + [f"{n + 1} {e}" for n, e in enumerate(elements)] + ["$EndElements"]
    return "\n".join(lines) + "\n"


def compare(name, one, many, ranks, tolerance=1e-9):
    check(many["status"] == one["status"] == "converged", f"{name} on {ranks}: {many['status']}")
    levels = [report.get("hierarchy") for report in (one, many)]
    equal = many["iterations"] == one["iterations"] or levels[0] != levels[1]
    check(many["iterations"] <= GROWTH[name] * one["iterations"] if name in GROWTH else equal,
          f"{name} on {ranks}: {many['iterations']} iterations, {one['iterations']} on one")
    check(levels[0] == levels[1] or ranks > 4 or name not in ("flume", "mantle", "eddy", "river"),
          f"{name} on {ranks}: levels {levels[1]}, not {levels[0]}")
    check(name not in ("direct", "given_up") or all("factors" in r["solver"]["method"] for r in (one, many)),
          f"{name} on {ranks}: {many['solver']['method']}")
    check(many["dofs"] == one["dofs"], f"{name} on {ranks}: {many['dofs']} unknowns, not {one['dofs']}")
    check(ranks == 1 or many["ranks"] == ranks, f"{name}: the report of {ranks} ranks")
    for kind in ("errors", "values"):
        check(kind == "errors" or len(one[kind]) > 0, f"{name}: no {kind}")
        for key, value in (one.get(kind) or {}).items():
            check(abs(many[kind][key] - value) <= tolerance * max(1, abs(value)),
                  f"{name} on {ranks}: {kind} {key} {many[kind][key]}, not {value}")
    for a, b in zip(one.get("balance", {}).items(), many.get("balance", {}).items()):
        for x, y in zip(*(c[1] if isinstance(c[1], list) else [c[1]] for c in (a, b))):
            check(a[0] == b[0] and abs(x - y) <= max(tolerance, 1e-7 * (name == "heat")) * max(1, abs(x)),
                  f"{name} on {ranks}: balance {b}, not {a}")
    check(len(one.get("steps", [])) == len(many.get("steps", [])), f"{name} on {ranks}: steps")
    for a, b in zip(one.get("steps", []), many.get("steps", [])):
        other = [key for key in ("cells", "dofs", "hanging") if a[key] != b[key]]
        check(not other, f"{name} on {ranks}: {other} of step {b} instead of {a}")
        for key in ("estimate", "upper"): # the dual solution is found to 1e-6
            check(abs(a[key] - b[key]) <= 1e-5 * a["upper"], f"{name} on {ranks}: {key} of step {b} instead of {a}")
    meshes = [[(r["step"], r["cells"], r["dofs"]) for r in report.get("remeshes", [])] for report in (one, many)]
    check(meshes[0] == meshes[1], f"{name} on {ranks}: meshes {meshes[1]}, not {meshes[0]}")
    check(name not in ("hill", "beam", "lid") or len(meshes[0]) > 1, f"{name}: the mesh stays")
    check(len(one["points"]) == len(many["points"]) > 0, f"{name} on {ranks}: points")
    for a, b in zip(one["points"], many["points"]):
        pairs = [(x, y) for key in a if key != "name" for x, y in zip(*(c[key] if isinstance(c[key], list) else [c[key]]
                                                                         for c in (a, b)))]
        check(all(abs(x - y) <= tolerance * max(1, abs(x)) for x, y in pairs), f"{name} on {ranks}: {b} instead of {a}")


def cells_of(path):
    """The cells of a file that VTK reads: centre of the nodes, mean of u; sorted."""
    reader = vtk.vtkXMLPUnstructuredGridReader() if path.endswith("pvtu") else vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(path)
    reader.Update()
    grid = reader.GetOutput()
    u = grid.GetPointData().GetArray("u")
    result = []
    for c in range(grid.GetNumberOfCells()):
        ids = grid.GetCell(c).GetPointIds()
        nodes = [ids.GetId(k) for k in range(ids.GetNumberOfIds())]
        row = [sum(grid.GetPoint(k)[d] for k in nodes) / len(nodes) for d in range(3)]
        result.append([round(x, 9) for x in row] + [sum(u.GetTuple1(k) for k in nodes) / len(nodes)])
    return sorted(result)


def compare_files(folder, one, many, ranks):
    if not vtk:
        return
    a, b = (cells_of(os.path.join(folder, report["vtu"])) for report in (one, many))
    check(many["vtu"].endswith(".pvtu"), many["vtu"])
    check(len(a) == len(b) > 0, f"VTK reads {len(b)} cells of {ranks} pieces, not {len(a)}")
    for x, y in zip(a, b):
        check(max(abs(p - q) for p, q in zip(x, y)) <= 1e-8, f"cell {y} of {ranks} pieces, not {x}")


def same_results(folder):
    for name, text in (("box", BOX), ("forest", FOREST), ("heat", HEAT), ("grid", GRID)):
        with open(os.path.join(folder, f"{name}.yaml"), "w", encoding="utf-8") as file:
            file.write(text)
        extra = ["--vtu", "one.vtu"] if name in ("forest", "grid") else []
        _, one, errors = solve(folder, 0, f"{name}.yaml", *extra)
        check(not errors, errors)
        table = {"box": "line.csv", "heat": "series.csv"}.get(name)
        line = rows(folder, table) if table else []
        for ranks in RANKS[:1] if name == "heat" else RANKS:
            extra = ["--vtu", "many.vtu"] if name in ("forest", "grid") else []
            _, many, errors = solve(folder, ranks, f"{name}.yaml", *extra)
            check(not errors, f"{name} on {ranks}: {errors}")
            compare(name, one, many, ranks, 1e-6 if name == "heat" else 1e-9)
            if name == "forest" and ranks == 2 or name == "grid" and ranks > 2:
                compare_files(folder, one, many, ranks)
            if table:
                check(len(line) == len(rows(folder, table)) > 0, f"{name} on {ranks}: rows of {table}")
            for a, b in zip(line, rows(folder, table) if table else []):
                check(all(abs(x - y) <= 1e-6 for x, y in zip(a, b)), f"{table} on {ranks}: {b} instead of {a}")


def more_results(folder):
    shutil.copy(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cases", "plate.msh"), folder)
    with open(os.path.join(folder, "square.msh"), "w", encoding="utf-8") as file:
        file.write(square_mesh())
    cases = MORE if len(RANKS) > 2 else {name: MORE[name] for name in BRIEF}
    for number, (name, text) in enumerate(cases.items()):
        with open(os.path.join(folder, f"{name}.yaml"), "w", encoding="utf-8") as file:
            file.write(text)
        code, one, warnings = solve(folder, 0, f"{name}.yaml")
        check(code == 0 and (not warnings or warnings.startswith("warning: ")), f"{name}: {code} {warnings}")
        most = 7 if name in ("waves", "adaptive") else 4
        for ranks in [r for r in RANKS if r <= most] if len(RANKS) > 2 else [RANKS[number % 2]]:
            code, many, errors = solve(folder, ranks, f"{name}.yaml")
            check(code == 0 and errors == warnings, f"{name} on {ranks}: {code} {errors} instead of {warnings}")
            # what the velocity of a new mesh has of divergence is removed to 1e-4, whatever the tolerance of steps
            compare(name, one, many, ranks, 1e-7 if name == "past" else 1e-8)
    unbalanced = FREE.replace("right: {traction: [1, 0]}", "right: {traction: [1, 0.1]}")
    with open(os.path.join(folder, "unbalanced.yaml"), "w", encoding="utf-8") as file:
        file.write(unbalanced)
    for command in ([], mpirun((2, []))):
        expect("unbalanced", command + [PROGRAM, "solve", "unbalanced.yaml", "--quiet"], folder, 2, ", 0.1)",
               "3 rigid motions", "their moment about the origin 0.2")


# ---- what is refused, and what fails -------------------------------------------------------------------------


def expect(what, command, folder, code, *words, environment=None):
    """One line of Tessera, this exit status, soon."""
    status, _, errors, seconds = call(command, folder, environment)
    lines = [line for line in errors.split("\n") if line.startswith("tessera: ")]
    check(status == code, f"{what}: exit {status}, not {code}: {errors}")
    check(len(lines) == 1, f"{what}: {len(lines)} messages: {errors}")
    for word in words:
        check(word in errors, f"{what}: '{word}' is not in '{errors}'")
    check(seconds < LIMIT, f"{what}: {seconds:.1f} s")
    return lines


def refusals(folder):
    with open(os.path.join(folder, "points.yaml"), "w", encoding="utf-8") as file:
        file.write("problem: poisson\nmesh: {box: {cells: [4, 4]}}\nsolver: {smoother: gauss_seidel}\n")
    told = [expect(command, mpirun((2, [PROGRAM, command, "points.yaml"])), folder, 2, "points.yaml:3:20", "one rank")
            for command in ("solve", "check")]
    check(told[0] == told[1], f"solve and check: {told}")
    with open(os.path.join(folder, "still.yaml"), "w", encoding="utf-8") as file:
        file.write("problem: stokes\nmesh: {box: {cells: [4, 4]}}\nspace: {degree: 2, element: q}\n"
                   "solver: {method: direct}\n")
    expect("direct", mpirun((2, [PROGRAM, "solve", "still.yaml"])), folder, 2, "still.yaml:4:18", "one rank")
    with open(os.path.join(folder, "spaced.yaml"), "w", encoding="utf-8") as file:
        file.write("problem: transport\nmesh: {box: {cells: [4, 4], periodic: x, spacing: {y: s*s}}}\n"
                   "data: {a: 1, b: [1, 0]}\n")
    expect("spacing", mpirun((2, [PROGRAM, "solve", "spaced.yaml"])), folder, 2, "spaced.yaml:2:39", "one rank")
    expect("gauss_seidel", mpirun((2, [PROGRAM, "solve", "forest.yaml", "--set", "solver.smoother=jacobi", "--set",
                                       "solver.coarse=amg"])), folder, 2, "solver.coarse", "amg works on one rank")
    with open(os.path.join(folder, "nan.yaml"), "w", encoding="utf-8") as file:
        file.write(FLUME.replace('"sin(3*x*y)"', '"sqrt(0.9 - y)"')) # of two ranks of three
    expect("a force that is none", mpirun((3, [PROGRAM, "solve", "nan.yaml"])), folder, 2, "rank 1 of 3", "is nan at")
    expect("info", mpirun((2, [PROGRAM, "info"])), folder, 2, "info is for one")
    expect("--ranks 0", [PROGRAM, "solve", "box.yaml", "--ranks", "0"], folder, 2, "--ranks 0")
    expect("--ranks inside", mpirun((2, [PROGRAM, "solve", "box.yaml", "--ranks", "2"])), folder, 2, "mpirun began")
    code, text, _, _ = call(mpirun((2, [PROGRAM, "solve", "box.yaml"])), folder, dict(ENVIRONMENT, TERM="xterm"))
    check(code == 0 and "ranks     2" in text and "\033" not in text, f"codes of a terminal in a pipe: {text!r}")
    with open(os.path.join(folder, "ends.yaml"), "w", encoding="utf-8") as file:
        file.write("problem: poisson\nmesh: {box: {cells: [2, 2, 6]}}\nspace: {degree: 2}\n"
                   "boundary: {left: {neumann: 1}, front: {dirichlet: 1}}\n")
    code, text, _, _ = call(mpirun((3, [PROGRAM, "solve", "ends.yaml"])), folder) # `back` is on the last rank alone
    with open(os.path.join(folder, "pins.msh"), "w", encoding="utf-8") as file:
        file.write(square_mesh())
    with open(os.path.join(folder, "pins.yaml"), "w", encoding="utf-8") as file:
        file.write("problem: poisson\nmesh: {file: pins.msh}\nspace: {degree: 2}\nboundary: {all: {dirichlet: 0}}\n")
    told = [call(command + [PROGRAM, "check", "pins.yaml"], folder)[1] for command in ([], mpirun((3, [])))]
    parts = [[line for line in t.split("\n") if line.startswith(("boundary", "material"))] for t in told]
    check(parts[0] == parts[1] and "no outer faces" in told[0], f"groups and materials: {parts}")
    check("default   u = 0 on right, bottom, top, back: " in text, f"boundaries without a condition: {text!r}")
    expect("no mpirun", [PROGRAM, "solve", "box.yaml", "--ranks", "2"], folder, 3, "openmpi-bin",
           environment=dict(ENVIRONMENT, PATH="/nowhere"))
    code, _, errors, _ = call([PROGRAM, "solve", "box.yaml", "--ranks=2", "--quiet", "--json", "own.json"], folder)
    check(code == 0 and not errors, f"--ranks=2: {code} {errors}")
    with open(os.path.join(folder, "own.json"), encoding="utf-8") as file:
        check(json.load(file)["ranks"] == 2, "--ranks=2 has not begun two ranks")


def devices(folder):
    """A device each: the emulator, which takes its time."""
    small = {"forest": FOREST.replace("degree: 4", "degree: 2").replace("refine: 2,", "refine: 1,"),
             "square": "problem: poisson\nmesh: {box: {cells: [4, 8]}}\nspace: {degree: 2}\ndata: {f: 1}\n"
                       "boundary: {all: {dirichlet: x*y}}\n"
                       "output: {values: {m: {mean: domain}}, points: {a: [0.3, 0.4]}}\n",
             "flume": FLUME}
    flow = ("problem: {}\nmesh: {{kind: forest, box: {{cells: [4, 4]}}}}\nspace: {{element: q, degree: 2}}\n"
            "boundary: {{all: {{velocity: [y*(1 - y), 0]}}, right: outflow}}\n"
            "output: {{values: {{f: {{force: bottom, of: x}}}}, points: {{a: [0.3, 0.4]}}}}\n{}")
    small["still"] = flow.format("stokes", "data: {nu: 1, f: [y, -x]}\n")
    small["moving"] = flow.format("navier_stokes",
                                  "data: {nu: 0.01, f: [y*sin(t), -x]}\ntime: {end: 0.1, step: 0.02}\n")
    for (name, text), transport in zip(small.items(), ("mpi", "peer", "nccl", "peer", "nccl")):
        with open(os.path.join(folder, f"{name}.yaml"), "w", encoding="utf-8") as file:
            file.write(text)
        _, one, warnings = solve(folder, 0, f"{name}.yaml", "--device", "cpu")
        check(not warnings or warnings.startswith("warning: the error of the velocity"), warnings)
        ENVIRONMENT["TESSERA_TRANSPORT"] = transport
        _, many, errors = solve(folder, 2, f"{name}.yaml", "--device", "emulator")
        check(errors == warnings, f"{name} on devices: {errors} instead of {warnings}")
        check(many["device"] == "emulator", many["device"])
        compare(f"{name} on devices", one, many, 2, 1e-6 if name == "moving" else 1e-8)
        del ENVIRONMENT["TESSERA_TRANSPORT"]
    expect("a transport", mpirun((2, [PROGRAM, "solve", "square.yaml", "--device", "emulator"])), folder, 2,
           "TESSERA_TRANSPORT is 'pigeon'", environment=dict(ENVIRONMENT, TESSERA_TRANSPORT="pigeon"))
    expect("a GPU twice", [PROGRAM, "solve", "square.yaml", "--device", "cuda:0,0"], folder, 2, "GPU 0 is named twice")
    expect("cuda:all inside", mpirun((2, [PROGRAM, "solve", "square.yaml", "--device", "cuda:all"])), folder, 2,
           "mpirun began")
    expect("both", [PROGRAM, "solve", "square.yaml", "--device", "cuda:0,1", "--ranks", "2"], folder, 2,
           "one or the other")


def studies(folder):
    tables = []
    for ranks in (1, 2):
        code, _, errors, _ = call([PROGRAM, "study", "box.yaml", "--over", "space.degree=1,2", "--set",
                                   "output.values=null", "--csv", "study.csv", "--quiet", "--ranks", str(ranks)],
                                  folder)
        check(code == 0 and not errors, f"study on {ranks}: {code} {errors}")
        with open(os.path.join(folder, "study.csv"), encoding="utf-8") as file:
            table = [line.split(",") for line in file.read().split("\n") if line and line[0] != "#"]
        column = table[0].index("l2") if "l2" in table[0] else table[0].index("error_l2")
        tables.append([float(row[column]) for row in table[1:]])
    check(len(tables[0]) == len(tables[1]) == 2, f"studies: {tables}")
    for a, b in zip(*tables):
        check(abs(a - b) <= 1e-9 * a, f"studies: {tables}")


def faults_of_one(folder):
    one = [PROGRAM, "solve", "box.yaml", "--quiet"]
    expect("another case", mpirun((1, one), (1, [PROGRAM, "solve", "forest.yaml", "--quiet"])), folder, 2,
           "rank 1 of 2: ", "another one than rank 0")
    expect("an option of one", mpirun((1, one), (1, one + ["--no-such-option"])), folder, 2, "no-such-option")
    os.mkdir(os.path.join(folder, "u_0001.vtu"))
    expect("a file of one", mpirun((2, one + ["--vtu", "u.vtu"])), folder, 4, "rank 1 of 2: cannot write",
           "u_0001.vtu")
    expect("a folder", mpirun((2, one + ["--vtu", "nowhere/u.vtu"])), folder, 4, "tessera: cannot write nowhere/u.vtu")
    expect("a report", mpirun((2, one + ["--json", "nowhere/r.json"])), folder, 4,
           "tessera: cannot write nowhere/r.json")


def endings(folder):
    """A rank that is killed, and an interrupt."""
    with open(os.path.join(folder, "long.yaml"), "w", encoding="utf-8") as file:
        file.write(HEAT.replace("end: 0.1", "end: 1e6"))
    for number, to_rank in ((signal.SIGKILL, True), (signal.SIGINT, False)):
        with subprocess.Popen(mpirun((2, [PROGRAM, "solve", "long.yaml", "--quiet"])), cwd=folder, env=ENVIRONMENT,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            time.sleep(1.5)
            with open(f"/proc/{run.pid}/task/{run.pid}/children", encoding="utf-8") as file:
                ranks = [int(x) for x in file.read().split()]
            check(len(ranks) == 2, f"{len(ranks)} ranks are there")
            start = time.monotonic()
            os.kill(ranks[1] if to_rank and len(ranks) > 1 else run.pid, number)
            try:
                check(run.wait(timeout=LIMIT) != 0, f"signal {number}: exit 0")
            except subprocess.TimeoutExpired:
                check(False, f"signal {number}: still there after {time.monotonic() - start:.0f} s")
                run.kill()


def main():
    if not MPIRUN:
        print("skipped: mpirun is missing (openmpi-bin)")
        return 77
    _, text, _, _ = call([PROGRAM, "info", "--json"], ".")
    if not json.loads(text)["parts"]["mpi"]:
        print("skipped: a build without MPI")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        same_results(folder)
        more_results(folder)
        refusals(folder)
        devices(folder)
        studies(folder)
        faults_of_one(folder)
        endings(folder)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
