#!/usr/bin/env python3
"""How far what is chosen by itself is from the best of eight settings: CPU seconds of one thread, iterations.

  auto_settings.py TESSERA FOLDER CSV [WORD]...   FOLDER: files of people_meshes.py make; it may lack some

Rows are 33 cases (cubes, curved cells, hanging nodes, split tetrahedra, plates, needles, Kershaw's cells, at degrees
2, 4, 7 or 3, 5, 7) and the Poisson rows of people_meshes.py of at most 2.5e5 unknowns. WORD: only rows whose name has
it. Each setting runs REPEATS times, all settings in turn; its time is the least. Times are of whole processes, set-up
among them, without what a process takes for nothing. `ratio`: auto over the best setting that converged."""
import csv
import json
import resource
import subprocess
import sys
from pathlib import Path

import people_meshes

REPEATS = 2
MOST = 2.5e5  # unknowns
LIMIT = 300  # s
AFTER = ["method=gmres", "pre_smoothing=0"]
SETTINGS = {
    "auto": [],
    "chebyshev 4": ["smoother=chebyshev", "smoother_degree=4"],
    "chebyshev 6": ["smoother=chebyshev", "smoother_degree=6"],
    "chebyshev 8 after": ["smoother=chebyshev", "smoother_degree=8", *AFTER],
    "cells 2": ["smoother=cell_patch", "smoother_degree=2"],
    "cells 4": ["smoother=cell_patch", "smoother_degree=4"],
    "cells 8 after": ["smoother=cell_patch", "smoother_degree=8", *AFTER],
    "cells 16 after, degree": ["smoother=cell_patch", "smoother_degree=16", "coarsening=degree", *AFTER],
    "lines 1": ["smoother=line_patch", "smoother_degree=1"],
}

BENT = ["x + 0.05*sin(pi*x)*sin(pi*y)*sin(pi*z)", "y + 0.05*sin(pi*x)*sin(2*pi*y)*sin(pi*z)",
        "z - 0.04*sin(2*pi*x)*sin(pi*y)*sin(pi*z)"]
ZERO = {"all": {"dirichlet": 0}}


def write_tetrahedra(path, n=3):
    """A cube of n^3 cells of six tetrahedra each, that have a diagonal in common."""
    edge = n + 1
    corners = [(i, j, k) for k in range(edge) for j in range(edge) for i in range(edge)]
    number = {c: 1 + i for i, c in enumerate(corners)}
    cells = []
    for i, j, k in (c for c in corners if max(c) < n):
        for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)):
            at, path_of = [i, j, k], [(i, j, k)]
            for d in (a, b, c):
                at[d] += 1
                path_of.append(tuple(at))
            even = (a, b, c) in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
            cell = [number[p] for p in path_of]
            cells.append(cell if even else [cell[1], cell[0], *cell[2:]])
    with open(path, "w", encoding="ascii") as file:
        file.write(f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{len(corners)}\n")
        for c, i in number.items():
            file.write(f"{i} {c[0] / n:.17g} {c[1] / n:.17g} {c[2] / n:.17g}\n")
        file.write(f"$EndNodes\n$Elements\n{len(cells)}\n")
        for i, cell in enumerate(cells):
            file.write(f"{i + 1} 4 2 1 1 {' '.join(map(str, cell))}\n")
        file.write("$EndElements\n")


def kershaw(folder, cells, eps):
    """Kershaw's cells of the CEED benchmarks, by piecewise linear functions of x."""
    w = zip((0, 1 / 6, 1 / 3, 0.5, 2 / 3, 5 / 6, 1), (0, 0, 1, 0.5, 0, 1, 1))
    tables = {"ww": w, "ll": ((0, 0), (0.5, eps / 2), (1, 1)), "rr": ((0, 0), (0.5, 1 - eps / 2), (1, 1))}
    files = {}
    for name, points in tables.items():
        files[name] = {"file": str(Path(folder).resolve() / f"{name}{eps}.csv")}
        Path(files[name]["file"]).write_text("".join(f"{s:.17g},{v:.17g}\n" for s, v in points), encoding="ascii")
    return {"tables": files,
            "mesh": {"box": {"cells": [cells] * 3}, "geometry_degree": 1,
                     "map": ["x", "ll(y) + ww(x)*(rr(y) - ll(y))", "ll(z) + ww(x)*(rr(z) - ll(z))"]}}


def cases(folder):
    """(name, case)"""
    tetrahedra = (Path(folder) / "tetrahedra.msh").resolve()
    write_tetrahedra(tetrahedra)
    for degree, cells in ((2, 24), (4, 12), (7, 8)):
        box = {"cells": [cells] * 3}
        meshes = {"cube": {"kind": "forest", "box": box},
                  "bent": {"box": {"cells": [cells // 4] * 3}, "refine": 2, "map": BENT, "geometry_degree": 2},
                  "ball hanging": {"ball": {"dim": 3}, "refine": {2: 3, 4: 2, 7: 1}[degree],
                                   "refine_where": "0.08 - fabs(hypot(hypot(x - 0.1, y + 0.05), z - 0.07) - 0.55)"},
                  "tets split": {"file": str(tetrahedra), "split": True}}
        for thin in (10, 100):
            for name, upper in (("plate", [1, 1, 1 / thin]), ("needle", [1, 1 / thin, 1 / thin])):
                meshes[f"{name} 1:{thin}"] = {"kind": "forest", "box": {**box, "upper": upper}}
        for name, mesh in meshes.items():
            yield f"{name} Q{degree}", {"mesh": mesh, "space": {"degree": degree}}
    for eps in (1, 0.3, 0.1):
        for degree, cells in ((3, 12), (5, 8), (7, 6)):
            yield f"kershaw {eps} p{degree}", {**kershaw(folder, cells, eps), "space": {"degree": degree}}


def rows(folder):
    for name, case in cases(folder):
        yield name, {"problem": "poisson", "data": {"f": "1 + x"}, "boundary": ZERO, **case}
    for mesh, equation, degree in people_meshes.ROWS:
        if equation is not people_meshes.POISSON:
            continue
        if isinstance(mesh, str) and not (Path(folder) / f"{mesh}.msh").exists():
            continue
        case = people_meshes.case_of(folder, mesh, equation, degree)
        if "box" in case["mesh"]:
            case["mesh"]["kind"] = "forest"
        yield f"{mesh if isinstance(mesh, str) else next(iter(mesh))} Q{degree}", case


def seconds(command, text):
    """CPU seconds of a process, its standard output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return float("inf"), "{}"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def solve(program, case, setting):
    """CPU seconds of solve and set-up; iterations or None; the report."""
    case = {**case, "solver": {"tolerance": 1e-8, "max_iterations": 100}}
    for item in setting:
        key, value = item.split("=")
        case["solver"][key] = int(value) if value.isdigit() else value
    took, out = seconds([program, "solve", "-", "--threads", "1", "--quiet", "--json", "-"], json.dumps(case))
    try:
        report = json.loads(out)
    except ValueError:
        report = {}
    converged = report.get("status") == "converged"
    return took, report.get("iterations") if converged else None, report


def try_row(program, case):
    """{setting: (CPU seconds, iterations)}, unknowns; None: too large."""
    found = {}
    for repeat in range(REPEATS):
        for name, setting in SETTINGS.items():
            if repeat and found[name][0] > 3:
                continue
            took, count, report = solve(program, case, setting)
            if name == "auto" and (report.get("dofs") or 0) > MOST:
                return None, 0
            if name == "auto":
                unknowns = report.get("dofs")
            old = found.get(name, (float("inf"), None))
            found[name] = (min(took, old[0]), count)
    return found, unknowns


def main():
    if len(sys.argv) < 4:
        print(__doc__)
        return 2
    program, folder, words = sys.argv[1], sys.argv[2], sys.argv[4:]
    worst = 0
    with open(sys.argv[3], "w", encoding="ascii", newline="") as file:
        Path(folder).mkdir(parents=True, exist_ok=True)
        out = csv.writer(file)
        out.writerow(["case", "unknowns", "best", "best_its", "best_s", "auto_its", "auto_s", "ratio",
                      *list(SETTINGS)[1:]])
        trivial = {"problem": "poisson", "mesh": {"kind": "forest", "box": {"cells": [2, 2]}}, "space": {"degree": 1}}
        start = min(solve(program, trivial, [])[0] for _ in range(5))
        for name, case in rows(folder):
            if words and not any(w in name for w in words):
                continue
            found, unknowns = try_row(program, case)
            if not found:
                continue
            took = {k: v[0] - start for k, v in found.items() if v[1] is not None}
            best = min((k for k in took if k != "auto"), key=took.get, default="none")
            ratio = took.get("auto", float("inf")) / took[best] if best in took else float("nan")
            worst = max(worst, ratio)
            line = [name, unknowns, best, found[best][1] if best in found else "", f"{took.get(best, 0):.3f}",
                    found["auto"][1], f"{took.get('auto', float('inf')):.3f}", f"{ratio:.2f}",
                    *(f"{v[1]} {v[0] - start:.3f}" for k, v in found.items() if k != "auto")]
            out.writerow(line)
            file.flush()
            print(*line, sep=" | ", flush=True)
    print(f"largest ratio {worst:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
