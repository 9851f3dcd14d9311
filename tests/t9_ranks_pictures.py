#!/usr/bin/env python3
"""Run: ctest -R t9_ranks_pictures. Pictures and films of several ranks are those of one rank: the same pixels, but for
a few at the cuts and in letters, where round-off decides. Ends with 77 where mpirun or a part of the program is
missing."""
import json
import os
import sys
import tempfile

from png_pixels import decode
from t9_ranks import MPIRUN, call, check, solve, wrote_faults

QUICK = len(sys.argv) == 2
FLAT = """
problem: poisson
mesh: {ball: {dim: 2}, refine: 1, refine_where: "x - 0.4"}
space: {degree: 3}
data: {f: "exp(x)*(y - 1)"}
boundary: {all: {dirichlet: 0}}
solver: {tolerance: 1e-11}
output: {png: {file: u.png, edges: true, width: 500, arrows: [-ux, -uy]}}
"""
SURFACE = """
problem: poisson
mesh: {box: {cells: [3, 2, 7]}}
space: {degree: 2}
data: {f: 1 + x*z}
boundary: {all: {neumann: 0}, left: {dirichlet: 0}}
solver: {tolerance: 1e-11}
output: {png: {file: u.png, edges: true, width: 400}}
"""
CUT = """
problem: elasticity
mesh: {box: {cells: [4, 2, 2], upper: [2, 1, 1]}, kind: forest, refine_where: "x - 1"}
space: {degree: 2}
data: {young: 10, poisson: 0.3, f: [0, 0, -1]}
boundary: {all: {traction: [0, 0, 0]}, left: {displacement: [0, 0, 0]}}
solver: {tolerance: 1e-11}
output: {png: {file: u.png, of: sxx, slice: y=0.5, warp: 0.1, width: 500, arrows: true}}
"""
FILM = """
problem: transport
mesh: {box: {cells: [4, 4]}}
space: {degree: 3}
data: {a: 0.1, b: [1, 0], f: 0, initial: "sin(pi*x)*sin(pi*y)"}
boundary: {all: {dirichlet: 0}}
time: {end: 0.1, step: 0.05}
solver: {tolerance: 1e-11}
output:
  png: {file: u.png, width: 300, arrows: ["-ux", "-uy"]}
  film: film.png
  values: {m: {mean: domain}}
  series: s.csv
  plot: p.svg
"""
CASES = {"flat": FLAT, "surface": SURFACE, "cut": CUT, "film": FILM}


def pixels(path):
    with open(path, "rb") as file:
        width, _, rows = decode(file.read())
    return width, rows


def compare(what, one, other):
    (width, a), (wide, b) = one, other
    check(width == wide and len(a) == len(b) > 0, f"{what}: {wide} wide, {len(b)} bytes, not {width} and {len(a)}")
    wrong = sum(any(abs(x - y) > 2 for x, y in zip(a[i:i + 3], b[i:i + 3])) for i in range(0, min(len(a), len(b)), 3))
    check(wrong <= len(a) // 3 // 2000, f"{what}: {wrong} of {len(a) // 3} pixels differ")
    check(len(set(a[i:i + 3] for i in range(0, len(a), 3))) > 50, f"{what}: nothing is drawn")


def compare_pages(folder):
    """The plot of several ranks is there; SVG pictures of one and of two ranks have the same shapes."""
    with open(os.path.join(folder, "p.svg"), encoding="utf-8") as file:
        check("<polyline" in file.read(), "the plot")
    seen = []
    for ranks in (0, 2):
        code, report, errors = solve(folder, ranks, "flat.yaml", "--png", "u.svg")
        check(code == 0 and not errors, f"flat as SVG on {ranks}: {code} {errors}")
        with open(os.path.join(folder, report["png"]), encoding="utf-8") as file:
            seen.append(file.read())
    counts = [[text.count(shape) for shape in ("<path fill", "<path d", "<circle", "<image")] for text in seen]
    check(counts[0] == counts[1] and counts[0][3] == 1, f"shapes of one and two ranks: {counts}")


def main():
    if not MPIRUN:
        print("skipped: mpirun is missing (openmpi-bin)")
        return 77
    _, text, _, _ = call([sys.argv[1], "info", "--json"], ".")
    parts = json.loads(text)["parts"]
    if not parts["mpi"] or not parts["png"]:
        print("skipped: a build without MPI or libpng")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, case) in enumerate(CASES.items()):
            with open(os.path.join(folder, f"{name}.yaml"), "w", encoding="utf-8") as file:
                file.write(case)
            for ranks in (0, 2 + number % 2) if QUICK else (0, 2, 3, 4, 7):
                code, report, errors = solve(folder, ranks, f"{name}.yaml")
                check(code == 0 and not errors, f"{name} on {ranks}: {code} {errors}")
                kept = pixels(os.path.join(folder, report["png"]))
                if not ranks:
                    one = kept
                    continue
                compare(f"{name} on {ranks}", one, kept)
            if name == "film":
                check(os.path.getsize(os.path.join(folder, "film.png")) > 5000, "the film")
                compare_pages(folder)
    return 1 if wrote_faults() else 0


if __name__ == "__main__":
    sys.exit(main())
