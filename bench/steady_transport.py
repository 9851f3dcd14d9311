#!/usr/bin/env python3
"""Iterations of steady transport by cell Peclet number |b| h / (2 k a), |b| taken as 1.

  steady_transport.py TESSERA [--ranks N] [--element dg] [MESH]...
    prints a table; MESH: some of box, box3, forest, file, vortex, vortex3, rolls; dg: box, box3,
    vortex

-a Lap u + b . grad u = 1, u = 0 on the boundary, tolerance 1e-9, all that is chosen left to auto. The file is a square
of moved quadrilaterals in a random order, as people_meshes.py writes it."""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from people_meshes import write_box  # noqa: E402

PECLET = (1, 10, 100, 1e4, 1e6)
DEGREES = (1, 2, 4)
# mesh: velocity, cells a direction by degree, mesh of the case
MESHES = {
    "box": ("[0.3, -1]", {1: 256, 2: 256, 4: 64}, "{{box: {{cells: [{n}, {n}]}}}}"),
    "box3": ("[0.3, -1, 0.5]", {1: 24, 2: 16, 4: 8}, "{{box: {{cells: [{n}, {n}, {n}]}}}}"),
    "forest": ("[0.3, -1]", {1: 32, 2: 32, 4: 32},
               "{{box: {{cells: [{n}, {n}]}}, kind: forest, refine_where: 'x + y < 0.6'}}"),
    "file": ("[0.3, -1]", {1: 64, 2: 64, 4: 32}, "{{file: scattered-{n}.msh}}"),
    "vortex3": ("['0.5 - y', 'x - 0.5', 0.2]", {1: 32, 2: 16, 4: 8}, "{{box: {{cells: [{n}, {n}, {n}]}}}}"),
    "rolls": ("['sin(pi*x)*cos(pi*y)', '-cos(pi*x)*sin(pi*y)']", {1: 64, 2: 64, 4: 32},
              "{{box: {{cells: [{n}, {n}]}}}}"),
    "vortex": ("['0.5 - y', 'x - 0.5']", {1: 64, 2: 64, 4: 64}, "{{box: {{cells: [{n}, {n}]}}}}"),
}


def solve(tessera, ranks, element, folder, name, degree, peclet):
    velocity, cells, mesh = MESHES[name]
    n = cells[degree]
    if name == "file":
        write_box(folder / f"scattered-{n}.msh", [n, n], [1, 1], shuffle=True, warp=0.2)
    case, report = folder / "case.yaml", folder / "report.json"
    case.write_text(
        f"problem: transport\nmesh: {mesh.format(n=n)}\nspace: {{degree: {degree}, element: {element}}}\n"
        f"data: {{b: {velocity}, a: {1 / n / (2 * degree * peclet):.6e}, f: 1}}\n"
        "boundary: {all: {dirichlet: 0}}\n")
    report.unlink(missing_ok=True)
    several = ["--ranks", str(ranks), "--threads", "1"] if ranks > 1 else []
    run = subprocess.run([tessera, "solve", case.name, "--quiet", "--json", report.name, *several], cwd=folder,
                         capture_output=True, text=True, timeout=600, check=False)
    if run.returncode:
        return "fails"
    return str(json.loads(report.read_text())["iterations"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tessera", type=Path)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--element", default="q")
    parser.add_argument("mesh", nargs="*", default=list(MESHES))
    asked = parser.parse_intermixed_args()
    tessera = str(asked.tessera.resolve())
    print("| mesh | degree | " + " | ".join(f"{p:g}" for p in PECLET) + " |")
    print("|---|---|" + "---|" * len(PECLET))
    with tempfile.TemporaryDirectory() as folder:
        for name in asked.mesh:
            for degree in DEGREES:
                counts = [solve(tessera, asked.ranks, asked.element, Path(folder), name, degree, p) for p in PECLET]
                n = MESHES[name][1][degree]
                size = f"{n}^3" if name.endswith("3") else f"{n}^2"
                print(f"| {name}, {size} | {degree} | " + " | ".join(counts) + " |", flush=True)


if __name__ == "__main__":
    main()
