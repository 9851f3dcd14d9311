#!/usr/bin/env python3
"""Flows in time by OpenFOAM's icoFoam, beside cavity_flow.yaml and cylinder_flow.yaml.

openfoam_flows.py PROCESSES cavity CELLS:DT... | cylinder FACTOR:DT...

Finite volumes of second order, `backward` in time, PISO with two corrections, pressure by GAMG to 0.05 of its residual;
the cavity has CELLS equal cells a direction, the channel blocks of which those at the cylinder are an O (FACTOR 1:
2,100 cells). Cases are written to a folder that is removed again. A line a size: cells, steps, seconds of icoFoam, and
what ngsolve_flows.py tells: the energy at t = 4, or the largest drag."""
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import numpy

HEAD = "FoamFile {{ version 2.0; format ascii; class {}; object {}; }}\n"
EMPTY = "front {type empty;} back {type empty;}"


def write(path, kind, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(HEAD.format(kind, os.path.basename(path)) + text)


def write_numbers(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def ramp(t):
    return (1 - math.cos(math.pi * t)) / 2 if t < 1 else 1


def vectors(rows):
    return f"{len(rows)}\n(\n" + "\n".join("({:.9g} {:.9g} {:.9g})".format(*row) for row in rows) + "\n)\n"


def write_given(patch, points, values, times):
    """Values of the velocity at points of a patch, linear in time between `times`."""
    write_numbers(f"constant/boundaryData/{patch}/points", vectors(points))
    for t in times:
        write_numbers(f"constant/boundaryData/{patch}/{t:.6g}/U", vectors([(v, 0, 0) for v in values(t)]))


def write_common(end, dt, processes, functions=""):
    write("system/controlDict", "dictionary",
          f"application icoFoam; startFrom startTime; startTime 0; stopAt endTime; endTime {end}; deltaT {dt};"
          f" writeControl runTime; writeInterval {end}; writeFormat ascii; writePrecision 12; timePrecision 9;"
          f" runTimeModifiable false; functions {{ {functions} }}\n")
    write("system/fvSchemes", "dictionary",
          "ddtSchemes {default backward;} gradSchemes {default Gauss linear;}\n"
          "divSchemes {default none; div(phi,U) Gauss linear;} laplacianSchemes {default Gauss linear corrected;}\n"
          "interpolationSchemes {default linear;} snGradSchemes {default corrected;}\n")
    write("system/fvSolution", "dictionary",
          "solvers {\n p {solver GAMG; smoother GaussSeidel; tolerance 1e-7; relTol 0.05;}\n"
          " pFinal {$p; relTol 0.01;}\n"
          " U {solver smoothSolver; smoother symGaussSeidel; tolerance 1e-7; relTol 0.01;}\n}\n"
          "PISO {nCorrectors 2; nNonOrthogonalCorrectors 0; pRefCell 0; pRefValue 0;}\n")
    write("system/decomposeParDict", "dictionary",
          f"numberOfSubdomains {processes}; method simple; simpleCoeffs {{ n ({processes} 1 1); delta 0.001; }}\n")
    write("constant/transportProperties", "dictionary", "nu [0 2 -1 0 0 0 0] 1e-3;\n")


def write_fields(velocity, pressure):
    write("0/U", "volVectorField",
          f"dimensions [0 1 -1 0 0 0 0]; internalField uniform (0 0 0);\nboundaryField {{ {velocity} {EMPTY} }}\n")
    write("0/p", "volScalarField",
          f"dimensions [0 2 -2 0 0 0 0]; internalField uniform 0;\nboundaryField {{ {pressure} {EMPTY} }}\n")


def write_mesh(corners, blocks, edges, patches):
    """Vertices at z = 0; those at z = 1 follow."""
    n = len(corners)
    hexes = "\n".join(f"hex ({' '.join(str(v) for v in b[0])} {' '.join(str(v + n) for v in b[0])}) ({b[1]} {b[2]} 1) "
                      f"simpleGrading ({b[3]} {b[4]} 1)" for b in blocks)
    sides = "\n".join(f"{name} {{type {kind}; faces ({' '.join(f'({a} {b} {b + n} {a + n})' for a, b in faces)});}}"
                      for name, kind, faces in patches)
    flat = []
    for name, up in (("back", 0), ("front", 1)):
        faces = " ".join("(" + " ".join(str(v + up * n) for v in b[0]) + ")" for b in blocks)
        flat.append(f"{name} {{type empty; faces ({faces});}}")
    arcs = "\n".join(f"arc {a + up * n} {b + up * n} ({x} {y} {up})" for a, b, x, y in edges for up in (0, 1))
    points = "\n".join(f"({x} {y} {z})" for z in (0, 1) for x, y in corners)
    write("system/blockMeshDict", "dictionary",
          f"vertices ({points});\nblocks ({hexes});\nedges ({arcs});\nboundary ({sides} {' '.join(flat)});\n")


def make_cavity(cells, dt, processes):
    write_mesh([(0, 0), (1, 0), (1, 1), (0, 1)], [((0, 1, 2, 3), cells, cells, 1, 1)], [],
               [("lid", "patch", [(2, 3)]), ("walls", "wall", [(0, 1), (1, 2), (3, 0)])])
    x = [i / 200 for i in range(201)]
    write_given("lid", [(a, 1, z) for a in x for z in (0, 1)],
                lambda t: [ramp(t) * 16 * a * a * (1 - a)**2 for a in x for _ in range(2)],
                [i / 50 for i in range(51)] + [10])
    write_common(4, dt, processes)
    write_fields("lid {type timeVaryingMappedFixedValue; setAverage off; offset (0 0 0);} walls {type noSlip;}",
                 "lid {type zeroGradient;} walls {type zeroGradient;}")
    return 4, cells * cells


def make_cylinder(s, dt, processes):
    xs, ys, r = (0, 0.1, 0.3, 2.2), (0, 0.1, 0.3, 0.41), 0.05 / math.sqrt(2)
    corners = [(x, y) for y in ys for x in xs]
    corners += [(0.2 + a * r, 0.2 + b * r) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    nx, ny, across = (6 * s, 10 * s, 60 * s), (6 * s, 10 * s, 7 * s), 12 * s
    at = lambda i, j: 4 * j + i
    blocks = [((at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)), nx[i], ny[j], (1, 1, 4)[i], 1)
              for j in range(3) for i in range(3) if (i, j) != (1, 1)]
    square, circle = (at(1, 1), at(2, 1), at(2, 2), at(1, 2)), (16, 17, 18, 19)
    for k in range(4):
        m = (k + 1) % 4
        blocks.append(((square[k], square[m], circle[m], circle[k]), 10 * s, across, 1, 0.2))
    edges = [(circle[k], circle[(k + 1) % 4], 0.2 + a * 0.05, 0.2 + b * 0.05)
             for k, (a, b) in enumerate(((0, -1), (1, 0), (0, 1), (-1, 0)))]
    write_mesh(corners, blocks, edges,
               [("inlet", "patch", [(at(0, j + 1), at(0, j)) for j in range(3)]),
                ("outlet", "patch", [(at(3, j), at(3, j + 1)) for j in range(3)]),
                ("walls", "wall", [(at(i, 0), at(i + 1, 0)) for i in range(3)] +
                 [(at(i + 1, 3), at(i, 3)) for i in range(3)]),
                ("cylinder", "wall", [(circle[(k + 1) % 4], circle[k]) for k in range(4)])])
    y = [0.41 * i / 200 for i in range(201)]
    write_given("inlet", [(0, a, z) for a in y for z in (0, 1)],
                lambda t: [6 * a * (0.41 - a) / 0.41**2 * math.sin(math.pi * t / 8) for a in y for _ in range(2)],
                [i / 40 for i in range(181)])
    write_common(4.25, dt, processes,
                 "forces {type forces; libs (\"libforces.so\"); patches (cylinder); rho rhoInf; rhoInf 1;"
                 " CofR (0 0 0); writeControl timeStep; writeInterval 10; log false;}")
    write_fields("inlet {type timeVaryingMappedFixedValue; setAverage off; offset (0 0 0);} outlet {type zeroGradient;}"
                 " walls {type noSlip;} cylinder {type noSlip;}",
                 "inlet {type zeroGradient;} outlet {type fixedValue; value uniform 0;} walls {type zeroGradient;}"
                 " cylinder {type zeroGradient;}")
    return 4.25, sum(b[1] * b[2] for b in blocks)


def energy():
    """Of equal cells: the mean of the squares."""
    total = count = 0
    for part in [d for d in os.listdir(".") if d.startswith("processor")] or ["."]:
        text = open(f"{part}/4/U").read()
        begin = text.index("(", text.index("internalField nonuniform") if "internalField nonuniform" in text
                           else text.index("nonuniform"))
        rows = re.findall(r"\(([-+.e\d]+) ([-+.e\d]+) [-+.e\d]+\)", text[begin:text.index("boundaryField")])
        total += sum(float(u)**2 + float(v)**2 for u, v in rows)
        count += len(rows)
    return 0.5 * total / count


def largest_drag():
    rows = []
    for folder, _, files in os.walk("postProcessing"):
        for name in files:
            if name not in ("force.dat", "forces.dat"):
                continue
            for line in open(os.path.join(folder, name)):
                if not line.startswith("#"):
                    numbers = [float(n) for n in re.findall(r"[-+]?\d[-+.e\d]*", line)]
                    pressure_and_friction = numbers[1] if name == "force.dat" else numbers[1] + numbers[4]
                    rows.append((numbers[0], 20 * pressure_and_friction))
    t, drag = numpy.array([row for row in rows if 3.6 <= row[0] <= 4.25]).T
    return float(numpy.polynomial.Polynomial.fit(t, drag, 4)(numpy.linspace(3.6, 4.25, 4001)).max())


def shell(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}:\n{done.stdout[-2000:]}")


def main():
    processes, which = int(sys.argv[1]), sys.argv[2]
    os.environ.setdefault("WM_PROJECT_DIR", "/usr/share/openfoam")  # Debian's
    for size in sys.argv[3:]:
        cells, dt = size.split(":")
        folder = tempfile.mkdtemp()
        os.chdir(folder)
        end, count = (make_cavity if which == "cavity" else make_cylinder)(int(cells), float(dt), processes)
        shell("blockMesh")
        if processes > 1:
            shell("decomposePar")
        start = time.time()
        parallel = ("mpirun", "--allow-run-as-root", "-n", str(processes), "icoFoam", "-parallel")
        shell(*(parallel if processes > 1 else ("icoFoam",)))
        seconds = time.time() - start
        value = energy() if which == "cavity" else largest_drag()
        print(f"openfoam,{which},{size},{count},{round(end / float(dt))},0,{seconds:.3f},{value:.9f}", flush=True)
        os.chdir("/")
        shutil.rmtree(folder)


main()
