#!/usr/bin/env python3
"""Coarsest levels of trees by kind of solver: coarse_kinds.py TESSERA [KIND...] (aggregation sparse cg amg auto).

Hexahedra whose inner vertices are moved by a fifth of a cell, cells and vertices shuffled, from Gmsh files that this
writes into a directory of its own. One thread. Prints CSV: processor seconds of the whole program (other work shares
the machine), iterations, and the shares of set-up and of the coarsest level. Elasticity: nu 0.3, clamped on the left,
pulled across on the right. '>' before a count: ended without the tolerance.
"""
import os
import random
import re
import resource
import subprocess
import sys
import tempfile

CASES = (("cube-13", (13, 13, 13), 1, True), ("beam-10", (41, 7, 7), 10, True), ("beam-50", (101, 5, 5), 50, True),
         ("beam-50-file", (100, 4, 4), 50, True), ("poisson-24", (24, 24, 24), 1, False))


def write_mesh(path, cells, length):
    """Gmsh 2.2; boundaries left and right at the ends of x, side elsewhere."""
    draw = random.Random(1)
    n = [c + 1 for c in cells]
    h = (length / cells[0], 1 / cells[1], 1 / cells[2])
    index = lambda at: at[0] + n[0] * (at[1] + n[1] * at[2])
    grid = [(i, j, k) for k in range(n[2]) for j in range(n[1]) for i in range(n[0])]
    number = list(range(len(grid)))
    draw.shuffle(number)
    places = [None] * len(grid)
    for at in grid:
        inside = all(0 < at[d] < cells[d] for d in range(3))
        places[number[index(at)]] = [h[d] * (at[d] + (draw.uniform(-0.2, 0.2) if inside else 0)) for d in range(3)]
    corner = lambda at, *steps: [index([at[d] + s[d] for d in range(3)]) for s in steps]
    hexahedra = [(5, 1, corner(at, *[(x, y, z) for z in (0, 1) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))]))
                 for at in grid if all(at[d] < cells[d] for d in range(3))]
    draw.shuffle(hexahedra)
    faces = []
    for at in grid:
        for d in range(3):
            e, f = (d + 1) % 3, (d + 2) % 3
            if at[d] in (0, cells[d]) and at[e] < cells[e] and at[f] < cells[f]:
                unit = [tuple(int(a == b) for b in range(3)) for a in range(3)]
                both = tuple(a + b for a, b in zip(unit[e], unit[f]))
                tag = 4 if d else 2 if at[0] == 0 else 3
                faces.append((3, tag, corner(at, (0, 0, 0), unit[e], both, unit[f])))
    with open(path, "w", encoding="utf-8") as file:
        file.write('$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n4\n3 1 "body"\n2 2 "left"\n2 3 "right"\n'
                   f'2 4 "side"\n$EndPhysicalNames\n$Nodes\n{len(places)}\n')
        for i, x in enumerate(places):
            file.write(f"{i + 1} {x[0]:.12g} {x[1]:.12g} {x[2]:.12g}\n")
        file.write(f"$EndNodes\n$Elements\n{len(faces) + len(hexahedra)}\n")
        for i, (kind, tag, corners) in enumerate(faces + hexahedra):
            file.write(f"{i + 1} {kind} 2 {tag} {tag} " + " ".join(str(number[c] + 1) for c in corners) + "\n")
        file.write("$EndElements\n")


def case_of(mesh, elastic):
    head = f"mesh: {{file: {mesh}}}\nspace: {{degree: 2}}\n"
    if not elastic:
        return "problem: poisson\n" + head + 'data: {f: "1 + x"}\nboundary: {all: {dirichlet: 0}}\n'
    return ("problem: elasticity\n" + head + "data: {young: 1000, poisson: 0.3}\n"
            "boundary: {all: {traction: [0, 0, 0]}, left: {displacement: [0, 0, 0]}, right: {traction: [0, 0, -1]}}\n")


def number(pattern, text):
    found = re.search(pattern, text)
    return float(found.group(1)) if found else float("nan")


def main():
    program = os.path.abspath(sys.argv[1])
    kinds = sys.argv[2:] or ["aggregation", "sparse", "auto"]
    os.chdir(tempfile.mkdtemp())
    print("case,coarse_unknowns,coarse,iterations,cpu_seconds,set_up_share,coarse_share")
    for name, cells, length, elastic in CASES:
        write_mesh(name + ".msh", cells, length)
        with open(name + ".yaml", "w", encoding="utf-8") as file:
            file.write(case_of(name + ".msh", elastic))
        for kind in kinds:
            if kind == "amg" and elastic:
                continue
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            run = subprocess.run([program, "solve", name + ".yaml", "--threads", "1", "--device", "cpu", "--verbose",
                                  "--set", "solver.coarse=" + kind], capture_output=True, text=True, check=False,
                                 env=dict(os.environ, OPENBLAS_NUM_THREADS="1"))
            seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
            text = run.stdout + run.stderr
            solve = number(r"onverged after \d+ iterations, ([\d.]+) s", text)
            set_up = number(r"set-up +([\d.]+)", text)
            mark = ">" if "not converged" in text else ""
            print(f"{name},{number(r'  0 +[0-9]+ +([0-9]+)', text):.0f},{kind},{mark}"
                  f"{number(r'onverged after ([0-9]+)', text):.0f},{seconds:.2f},{set_up / (set_up + solve):.2f},"
                  f"{number(r'coarse level ([0-9.]+)', text) / solve:.2f}", flush=True)


main()
