#!/usr/bin/env python3
"""Meshes that people bring: iterations, the coarse level's share, set-up beside solve, bytes per unknown.

  people_meshes.py make FOLDER                          writes the mesh files (Python package gmsh)
  people_meshes.py run TESSERA FOLDER [OPTION]... CSV   solves all rows; OPTION goes to `tessera solve` (--device cuda)

A row is a mesh, an equation and a degree. Meshes are files of Gmsh (Delaunay, frontal and HXT tetrahedra, recombined
quadrilaterals, second degree, shuffled elements), written here, and the domains that Tessera has. Sizes go from 1e3 to
1e6 cells. A limit of 600 s ends a row."""
import csv
import json
import random
import subprocess
import sys
from pathlib import Path

LIMIT = 600

# ---- files written by this program -----------------------------------------------------------------------------------


def box_nodes(cells, upper, warp=0.0):
    """Nodes of a box, x fastest; inner ones are moved by up to `warp` of a cell."""
    rng = random.Random(3)
    counts = [n + 1 for n in cells]
    total = 1
    for n in counts:
        total *= n
    for i in range(total):
        at, rest = [], i
        for n, length in zip(cells, upper):
            k, rest = rest % (n + 1), rest // (n + 1)
            move = warp * rng.uniform(-1, 1) if 0 < k < n else 0
            at.append((k + move) * length / n)
        yield at + [0.0] * (3 - len(at))


def box_cells(cells):
    """Cells of a box in Gmsh's order of corners."""
    nx, ny = cells[0] + 1, cells[1] + 1
    for k in range(cells[2] if len(cells) == 3 else 1):
        for j in range(cells[1]):
            for i in range(cells[0]):
                a = 1 + i + nx * (j + ny * k)
                square = [a, a + 1, a + 1 + nx, a + nx]
                yield square + [n + nx * ny for n in square] if len(cells) == 3 else square


def box_sides(cells):
    """Faces at x = 0 (group 1), x = end (group 2)."""
    nx, ny = cells[0] + 1, cells[1] + 1
    for group, i in ((1, 0), (2, cells[0])):
        for k in range(cells[2] if len(cells) == 3 else 1):
            for j in range(cells[1]):
                a = 1 + i + nx * (j + ny * k)
                line = [a, a + nx]
                yield group, line + [a + nx + nx * ny, a + nx * ny] if len(cells) == 3 else line


def write_box(path, cells, upper, shuffle=False, warp=0.0):
    """A box as a file of format 2.2 with the boundaries `fixed` (x = 0) and `load` (x = end)."""
    dim = len(cells)
    elements = [(3 if dim == 3 else 1, group, nodes) for group, nodes in box_sides(cells)]
    bodies = [(5 if dim == 3 else 3, 3, nodes) for nodes in box_cells(cells)]
    if shuffle:
        random.Random(1).shuffle(bodies)
    elements += bodies
    nodes = list(box_nodes(cells, upper, warp))
    names = list(range(len(nodes)))
    if shuffle:
        random.Random(2).shuffle(names)
    with open(path, "w", encoding="ascii") as file:
        file.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n")
        file.write(f'{dim - 1} 1 "fixed"\n{dim - 1} 2 "load"\n{dim} 3 "body"\n$EndPhysicalNames\n')
        file.write(f"$Nodes\n{len(nodes)}\n")
        for i, at in enumerate(nodes):
            file.write(f"{names[i] + 1} {at[0]:.10g} {at[1]:.10g} {at[2]:.10g}\n")
        file.write(f"$EndNodes\n$Elements\n{len(elements)}\n")
        for i, (kind, group, corners) in enumerate(elements):
            file.write(f"{i + 1} {kind} 2 {group} {group} {' '.join(str(names[c - 1] + 1) for c in corners)}\n")
        file.write("$EndElements\n")


# ---- files written by Gmsh -------------------------------------------------------------------------------------------


def groups_by_x(gmsh, dim, low, high):
    """Boundaries `fixed` at x = low, `load` at x = high, `free`; the body `body`."""
    fixed, load, free = [], [], []
    for _, tag in gmsh.model.getEntities(dim - 1):
        x = gmsh.model.occ.getCenterOfMass(dim - 1, tag)[0]
        (fixed if abs(x - low) < 1e-6 else load if abs(x - high) < 1e-6 else free).append(tag)
    for name, tags in (("fixed", fixed), ("load", load), ("free", free)):
        if tags:
            gmsh.model.addPhysicalGroup(dim - 1, tags, name=name)
    gmsh.model.addPhysicalGroup(dim, [t for _, t in gmsh.model.getEntities(dim)], name="body")


def by_gmsh(path, dim, shape, size, algorithm=None, order=1, recombine=False):
    """shape(occ) draws; returns the range of x."""
    import gmsh  # needed to make files only

    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    gmsh.model.add("part")
    low, high = shape(gmsh.model.occ)
    gmsh.model.occ.synchronize()
    groups_by_x(gmsh, dim, low, high)
    gmsh.option.setNumber("Mesh.MeshSizeMax", size)
    gmsh.option.setNumber("Mesh.MeshSizeMin", size)
    if algorithm:
        gmsh.option.setNumber("Mesh.Algorithm" + ("3D" if dim == 3 else ""), algorithm)
    if recombine:
        gmsh.option.setNumber("Mesh.RecombineAll", 1)
        gmsh.option.setNumber("Mesh.RecombinationAlgorithm", 0)
    gmsh.model.mesh.generate(dim)
    gmsh.model.mesh.setOrder(order)
    gmsh.write(str(path))
    gmsh.finalize()


def cube(occ):
    occ.addBox(0, 0, 0, 1, 1, 1)
    return 0, 1


def ball(occ):
    occ.addSphere(0, 0, 0, 1)
    return 9, 9


def disk(occ):
    occ.addDisk(0, 0, 0, 1, 1)
    return 9, 9


def perforated(occ):
    """A plate with three holes."""
    plate = occ.addRectangle(0, 0, 0, 4, 2)
    holes = [(2, occ.addDisk(x, 1 + y, 0, r, r)) for x, y, r in ((0.8, 0.2, 0.4), (2, -0.3, 0.5), (3.2, 0.3, 0.3))]
    occ.cut([(2, plate)], holes)
    return 0, 4


def bracket(occ, fillet=0.0):
    """An angle bracket with two holes, 100 x 60 x 50 mm."""
    wall = occ.addBox(0, 0, 0, 8, 60, 50)
    body, _ = occ.fuse([(3, occ.addBox(0, 0, 0, 100, 60, 8))], [(3, wall)])
    if fillet:
        occ.synchronize()
        edges = [t for _, t in occ.getEntities(1) if abs(occ.getCenterOfMass(1, t)[0] - 8) < 1e-6
                 and abs(occ.getCenterOfMass(1, t)[2] - 8) < 1e-6 and abs(occ.getCenterOfMass(1, t)[1] - 30) < 1e-6]
        body = [(3, t) for t in [x[1] for x in occ.fillet([body[0][1]], edges, [fillet])]]
    occ.cut(body, [(3, occ.addCylinder(60, 30, -1, 0, 0, 10, 12)), (3, occ.addCylinder(-1, 30, 30, 10, 0, 0, 8))])
    return 0, 100


def rounded(occ):
    return bracket(occ, 4.0)


FILES = {
    "quads-64-shuffled": lambda p: write_box(p, (64, 64), (1, 1), True, 0.2),
    "quads-128-shuffled": lambda p: write_box(p, (128, 128), (1, 1), True),
    "quads-500-shuffled": lambda p: write_box(p, (500, 500), (1, 1), True, 0.2),
    "quads-1000": lambda p: write_box(p, (1000, 1000), (1, 1)),
    "hexes-20-shuffled": lambda p: write_box(p, (20, 20, 20), (1, 1, 1), True, 0.2),
    "hexes-40-shuffled": lambda p: write_box(p, (40, 40, 40), (1, 1, 1), True),
    "beam-12": lambda p: write_box(p, (36, 3, 3), (12, 1, 1)),
    "beam-50": lambda p: write_box(p, (100, 4, 4), (50, 1, 1), True),
    "plate-100": lambda p: write_box(p, (24, 24, 1), (1, 1, 0.01), True),
    "needles": lambda p: write_box(p, (48, 8, 8), (1, 1, 1)),
    "disk-triangles": lambda p: by_gmsh(p, 2, disk, 0.08),
    "disk-curved": lambda p: by_gmsh(p, 2, disk, 0.12, order=2),
    "perforated-quads": lambda p: by_gmsh(p, 2, perforated, 0.08, recombine=True),
    "perforated-fine": lambda p: by_gmsh(p, 2, perforated, 0.012),
    "cube-delaunay": lambda p: by_gmsh(p, 3, cube, 0.17, 1),
    "cube-hxt": lambda p: by_gmsh(p, 3, cube, 0.1, 10),
    "cube-frontal": lambda p: by_gmsh(p, 3, cube, 0.13, 4),
    "ball-delaunay": lambda p: by_gmsh(p, 3, ball, 0.25, 1),
    "ball-curved": lambda p: by_gmsh(p, 3, ball, 0.4, 1, order=2),
    "bracket-6": lambda p: by_gmsh(p, 3, bracket, 6),
    "bracket-3.5": lambda p: by_gmsh(p, 3, bracket, 3.5),
    "bracket-fillet": lambda p: by_gmsh(p, 3, rounded, 6, order=2),
    "cube-large": lambda p: by_gmsh(p, 3, cube, 0.031, 10),
}
SPLIT = ("disk-triangles", "disk-curved", "perforated-quads", "perforated-fine", "cube-", "ball-", "bracket-")

# ---- rows ------------------------------------------------------------------------------------------------------------

ZERO = {"all": {"dirichlet": 0}}
POISSON = {"problem": "poisson", "data": {"f": "1 + x"}, "boundary": ZERO}
HEAT = {"problem": "transport", "data": {"f": 1, "a": 1, "b": ["y", "-x"]}, "boundary": ZERO}
PULLED = {"problem": "elasticity", "data": {"young": 1, "poisson": 0.3},
          "boundary": {"all": {"traction": 0}, "fixed": {"displacement": 0}, "load": {"traction": 1}}}
STOKES = {"problem": "stokes", "data": {"f": 1}, "space": {"element": "q"}}

# mesh (name of a file, or what stands below `mesh`), equation, degree
ROWS = [
    ({"box": {"dim": 2, "cells": 64}}, POISSON, 4), ({"box": {"dim": 3, "cells": 32}}, POISSON, 4),
    ({"box": {"dim": 3, "cells": [80, 8, 8], "upper": [10, 1, 1]}}, PULLED, 2),
    ({"ball": {"dim": 2}, "refine": 4}, POISSON, 4), ({"ball": {"dim": 3}, "refine": 3}, POISSON, 3),
    ({"shell": {"dim": 3}, "refine": 2}, POISSON, 3), ({"fichera": {"dim": 3}, "refine": 3}, POISSON, 3),
    ({"l_shape": {"dim": 2}, "refine": 5}, POISSON, 4), ({"channel": {"dim": 2}, "refine": 2}, STOKES, 3),
    ("quads-64-shuffled", POISSON, 4), ("quads-128-shuffled", POISSON, 3), ("quads-128-shuffled", HEAT, 2),
    ("quads-500-shuffled", POISSON, 2), ("quads-1000", POISSON, 1),
    ("hexes-20-shuffled", POISSON, 4), ("hexes-20-shuffled", PULLED, 2), ("hexes-20-shuffled", STOKES, 2),
    ("hexes-40-shuffled", POISSON, 2), ("beam-12", PULLED, 3), ("beam-50", PULLED, 2), ("plate-100", PULLED, 2),
    ("needles", POISSON, 3),
    ("disk-triangles", POISSON, 4), ("disk-curved", POISSON, 4), ("disk-triangles", STOKES, 3),
    ("perforated-quads", PULLED, 3), ("perforated-fine", POISSON, 2), ("perforated-fine", PULLED, 2),
    ("cube-delaunay", POISSON, 3), ("cube-delaunay", HEAT, 2), ("cube-hxt", POISSON, 2), ("cube-hxt", PULLED, 2),
    ("cube-frontal", STOKES, 2), ("ball-delaunay", POISSON, 3), ("ball-curved", POISSON, 3),
    ("bracket-6", PULLED, 2), ("bracket-6", PULLED, 3), ("bracket-fillet", PULLED, 2),
    ("bracket-3.5", PULLED, 1), ("bracket-3.5", PULLED, 2), ("bracket-3.5", PULLED, 3),
    ("cube-large", POISSON, 1), ("cube-large", POISSON, 2),
]


def mesh_dim(mesh):
    if isinstance(mesh, dict):
        return next(v["dim"] for v in mesh.values() if isinstance(v, dict))
    return 2 if mesh.split("-")[0] in ("quads", "disk", "perforated") else 3


def fill_in(value, dim, of):
    """Vectors of the mesh's dimension in place of single numbers."""
    if of in ("traction", "displacement", "f") and not isinstance(value, (list, dict, str)):
        return [value] + [0] * (dim - 1) if value else [0] * dim
    if of == "b":
        return value + [0] * (dim - 2)
    return value


def case_of(folder, mesh, equation, degree):
    dim = mesh_dim(mesh)
    case = json.loads(json.dumps(equation))
    if isinstance(mesh, dict):
        case["mesh"] = mesh
        for old, new in (("fixed", "left"), ("load", "right")):
            if "box" in mesh and old in case.get("boundary", {}):
                case["boundary"][new] = case["boundary"].pop(old)
    else:
        case["mesh"] = {"file": str(Path(folder).resolve() / f"{mesh}.msh")}
        if mesh.startswith(SPLIT):
            case["mesh"]["split"] = True
    vector = case["problem"] in ("elasticity", "stokes")
    if vector and "f" in case["data"]:
        case["data"]["f"] = fill_in(case["data"]["f"], dim, "f")
    if "b" in case["data"]:
        case["data"]["b"] = fill_in(case["data"]["b"], dim, "b")
    for condition in case.get("boundary", {}).values():
        for key in condition:
            condition[key] = fill_in(condition[key], dim, key)
    case.setdefault("space", {})["degree"] = degree
    if isinstance(mesh, str) and not mesh.startswith(SPLIT) and case["problem"] == "stokes":
        case["boundary"] = {"all": {"velocity": [0] * dim}}
    return case


COLUMNS = ("mesh", "equation", "degree", "cells", "unknowns", "iterations", "status", "setup_s", "solve_s",
           "coarse_share", "bytes_per_unknown", "coarse")


def row_of(mesh, equation, degree, report):
    name = mesh if isinstance(mesh, str) else next(iter(mesh)) + f" {mesh_dim(mesh)}D"
    if not isinstance(report, dict):
        return [name, equation["problem"], degree, "", "", "", report, "", "", "", "", ""]
    times = report.get("times", {})
    setup, solve, coarse = (times.get(k) or 0 for k in ("setup", "solve", "coarse"))
    dofs = report.get("dofs") or 1
    return [name, equation["problem"], degree, report.get("cells", ""), dofs, report.get("iterations"),
            report["status"], f"{setup:.3f}", f"{solve:.3f}", f"{coarse / solve if solve else 0:.2f}",
            round((report.get("memory_peak") or 0) / dofs), (report.get("solver") or {}).get("coarse", "")]


def solve(program, options, case):
    try:
        done = subprocess.run([program, "solve", "-", "--quiet", "--json", "-", *options], input=json.dumps(case),
                              capture_output=True, text=True, check=False, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return f"no answer after {LIMIT} s"
    try:
        return json.loads(done.stdout)
    except ValueError:
        return f"exit {done.returncode}: {done.stderr.strip()[-200:]}"


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "make":
        folder = Path(sys.argv[2])
        folder.mkdir(parents=True, exist_ok=True)
        for name, write in FILES.items():
            if not (folder / f"{name}.msh").exists():
                write(folder / f"{name}.msh")
        return 0
    if len(sys.argv) < 5 or sys.argv[1] != "run":
        print(__doc__)
        return 2
    program, folder, options = sys.argv[2], sys.argv[3], sys.argv[4:-1]
    with open(sys.argv[-1], "w", encoding="ascii", newline="") as file:
        out = csv.writer(file)
        out.writerow(COLUMNS)
        for mesh, equation, degree in ROWS:
            if isinstance(mesh, str) and not (Path(folder) / f"{mesh}.msh").exists():
                continue
            row = row_of(mesh, equation, degree, solve(program, options, case_of(folder, mesh, equation, degree)))
            out.writerow(row)
            file.flush()
            print(*row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
