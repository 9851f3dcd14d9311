#!/usr/bin/env python3
"""Run: ctest -R t9_vtu_values. Nodes and values of VTU files come from one mapping, the cells' own: on every domain,
degree of the geometry and of the solution the values at nodes are those of output.points there, which no point is moved
to; where the space has polynomials of x (degree of the solution not below the geometry's) one of them is read back to
round-off at random places of VTK's cells. VTK reads; ends with 77 where it or a part of the program is missing."""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

try:
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy
except ImportError as error:
    print(f"skipped: {error}; install python3-vtk9")
    sys.exit(77)

PROGRAM = sys.argv[1]
WHOLE = len(sys.argv) > 2  # all combinations
DOMAINS = {
    "disk": (2, "ball: {dim: 2}, refine: 1"),
    "ring": (2, "shell: {dim: 2, radius: 2, inner_radius: 1}, refine_where: \"x > 1\""),
    "channel": (2, "channel: {dim: 2}"),
    "map": (2, 'box: {cells: [3, 2]}, map: ["x + 0.2*sin(y)", "y*(1 + 0.3*x*x)"]'),
    "file": (2, "file: arc.msh"),
    "hanging": (2, 'ball: {dim: 2}, refine: 1, refine_where: "x > 0.3"'),
    "l": (2, "l_shape: {dim: 2}, refine: 1"),
    "box": (2, "box: {cells: [3, 2]}"),
    "ball": (3, "ball: {dim: 3}"),
    "shell": (3, "shell: {dim: 3, radius: 2, inner_radius: 1}"),
    "fichera": (3, "fichera: {dim: 3}"),
    "map 3D": (3, 'box: {cells: [2, 2, 1]}, map: ["x + 0.2*sin(y)", "y*(1 + 0.3*x*z)", "z + 0.1*x*y"]'),
}
# a polynomial of degree 1 and its negative Laplacian; of elasticity each component
LINEAR = {2: "1 + 2*x - 3*y", 3: "1 + 2*x - 3*y + z"}


def linear(x):
    return 1 + 2 * x[0] - 3 * x[1] + x[2]


def write_arc(path):
    """Two cells of second degree, which bend as a parabola does."""
    nodes, numbers = [], {}
    for j in range(3):
        for i in range(5):
            numbers[i, j] = len(nodes) + 1
            nodes.append((i / 2, j / 2 + 0.1 * (i / 2) * (2 - i / 2) * (j / 2)))
    cells = []
    for e in range(2):
        o = 2 * e
        order = [(0, 0), (2, 0), (2, 2), (0, 2), (1, 0), (2, 1), (1, 2), (0, 1), (1, 1)]
        cells.append([numbers[o + a, b] for a, b in order])
    text = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n" % len(nodes)
    text += "".join(f"{i + 1} {x} {y} 0\n" for i, (x, y) in enumerate(nodes))
    text += "$EndNodes\n$Elements\n2\n"
    text += "".join(f"{i + 1} 10 2 0 1 {' '.join(map(str, c))}\n" for i, c in enumerate(cells))
    with open(path, "w", encoding="ascii") as file:
        file.write(text + "$EndElements\n")


def case(problem, dim, mesh, geometry, degree, points):
    lines = [f"problem: {problem}", f"mesh: {{{mesh}{geometry}}}"]
    value = f'"{LINEAR[dim]}"'
    if problem == "poisson":
        lines += [f"space: {{degree: {degree}}}", f"data: {{f: 0, exact: {value}}}"]
        lines += ["boundary: {all: {dirichlet: exact}}"]
    elif problem == "elasticity":
        vector = "[" + ", ".join([value] * dim) + "]"
        lines += [f"space: {{degree: {degree}}}", f"data: {{lambda: 1, mu: 1, exact: {vector}}}"]
        lines += ["boundary: {all: {displacement: exact}}"]
    else:
        vector = "[x + 2*y, x - y]" if dim == 2 else "[x + 2*y, z - y, x]"
        lines += [f"space: {{element: q, degree: {degree}}}"]
        lines += [f"data: {{exact: {{velocity: {vector}, pressure: 0}}}}"]
        lines += ["boundary: {all: {velocity: exact}}"]
    lines += ["solver: {tolerance: 1e-12}"]
    if points:
        lines += ["output: {points: [" + ", ".join(str([float(v) for v in p]) for p in points) + "]}"]
    return "\n".join(lines) + "\n"


def solve(text, *options):
    with open("a.yaml", "w", encoding="ascii") as file:
        file.write(text)
    run = subprocess.run(
        [PROGRAM, "solve", "a.yaml", "--quiet", "--device", "cpu", "--json", "a.json", *options],
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode == 3:
        print("skipped:", run.stderr)
        sys.exit(77)
    # a solve that ends at its round-off is as good
    if run.returncode not in (0, 1) or not os.path.exists("a.json"):
        raise AssertionError(f"exit {run.returncode}:\n{text}\n{run.stderr}")
    with open("a.json", encoding="utf-8") as file:
        return json.load(file)


def read(path):
    reader = vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(path)
    reader.Update()
    assert reader.GetErrorCode() == 0
    grid = reader.GetOutput()
    data = grid.GetPointData()
    arrays = {data.GetArrayName(i): vtk_to_numpy(data.GetArray(i)) for i in range(data.GetNumberOfArrays())}
    return grid, vtk_to_numpy(grid.GetPoints().GetData()), arrays


def fields(problem, arrays):
    """Arrays of the file and their names in the report, without those that jump between cells."""
    if problem == "poisson":
        return [("u", "u")]
    if problem == "elasticity":
        return [("displacement", "displacement")]
    return [("velocity", "velocity"), ("pressure", "pressure")]


def component(value, d):
    return float(value[d]) if hasattr(value, "__len__") else float(value)


def check_points(label, problem, dim, x, arrays, report, chosen):
    for i, point in zip(chosen, report["points"]):
        # a node on a curved boundary may miss the cell by round-off
        assert not point.get("moved") or point["moved"] < 1e-9, f"{label}: node {x[i]} lies outside of the mesh"
        for array, key in fields(problem, arrays):
            scale = max(float(abs(arrays[array]).max()), 1e-2)
            for d in range(dim if array in ("velocity", "displacement") else 1):
                have, want = component(arrays[array][i], d), component(point[key], d)
                assert abs(have - want) <= 2e-9 * scale, f"{label}: {array} at {x[i]}: {have}, expected {want}"


def check_polynomial(label, problem, dim, grid, arrays):
    for _ in range(10):
        cell = grid.GetCell(random.randrange(grid.GetNumberOfCells()))
        at = [random.random() if d < dim else 0.0 for d in range(3)]
        x, weights = [0.0] * 3, [0.0] * cell.GetNumberOfPoints()
        cell.EvaluateLocation(vtk.reference(0), at, x, weights)
        array = fields(problem, arrays)[0][0]
        have = sum(w * component(arrays[array][cell.GetPointId(i)], 0) for i, w in enumerate(weights))
        want = x[0] + 2 * x[1] if problem == "stokes" else linear(x)
        assert abs(have - want) <= 1e-8, f"{label}: {array} at {x}: {have}, expected {want}"


def check(problem, name, geometry, degree):
    dim, mesh = DOMAINS[name]
    curved = name not in ("box", "file")
    text = f", geometry_degree: {geometry}" if curved else ""
    label = f"{problem} on {name}, geometry {geometry}, degree {degree}"
    for file in os.listdir("."):
        if file.endswith(".vtu"):
            os.unlink(file)
    solve(case(problem, dim, mesh, text, degree, None), "--vtu", "a.vtu")
    grid, x, arrays = read("a.vtu")
    chosen = random.sample(range(len(x)), min(8, len(x)))
    report = solve(case(problem, dim, mesh, text, degree, [x[i][:dim] for i in chosen]))
    check_points(label, problem, dim, x, arrays, report, chosen)
    of_cells = {"box": 1, "file": 2}.get(name, geometry)
    if degree >= of_cells:
        check_polynomial(label, problem, dim, grid, arrays)


def main():
    random.seed(7)
    count = 0
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    write_arc("arc.msh")
    for name, (dim, _) in DOMAINS.items():
        for geometry in range(1, 5):
            for degree in (1, 2, 3, 4) if dim == 2 else (1, 2, 3):
                if name in ("box", "file") and geometry > 1:
                    continue
                kinds = ["poisson", "elasticity"] + (["stokes"] if degree > 1 else [])
                for problem in kinds if WHOLE else [kinds[(geometry + degree) % len(kinds)]]:
                    if not WHOLE and random.random() > (0.5 if dim == 2 else 0.3):
                        continue
                    check(problem, name, geometry, degree)
                    count += 1
    os.chdir("/")
    subprocess.run(["rm", "-rf", folder], check=True)
    print(f"{count} files agree with points, read by VTK {vtk.vtkVersion.GetVTKVersion()}")


if __name__ == "__main__":
    main()
