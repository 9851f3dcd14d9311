#!/usr/bin/env python3
"""Run: ctest -R t9_vtkhdf_read. Files of output.vtkhdf beside those of output.vtu, both read by VTK: the same cells,
points and numbers, of all problems, meshes and devices; of runs in time (VTK 9.4 or newer) step by step. Values at
points are those of output.points. Ends with 77 where VTK or HDF5 is missing."""
import glob
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy
except ImportError as error:
    print(f"skipped: {error}; install python3-vtk9")
    sys.exit(77)

PROGRAM = sys.argv[1]
VERSION = (vtk.vtkVersion.GetVTKMajorVersion(), vtk.vtkVersion.GetVTKMinorVersion())
FLOW = "exact: {velocity: [x + 2*y, x - y], pressure: 0}"
STEADY = {
    "poisson": "mesh: {box: {dim: 3, cells: [3, 2, 2]}}\nspace: {degree: 3}\ndata: {f: '1 + x', exact: x*y}",
    "poisson in the emulator": "mesh: {box: {cells: [4, 4]}}\nspace: {degree: 2}",
    "poisson with hanging nodes": "mesh: {ball: {dim: 3}, refine_where: x}\nspace: {degree: 2}",
    "poisson of a file": "mesh: {file: arc.msh}\nspace: {degree: 4}\nboundary: {all: {dirichlet: 0}}",
    "poisson dg": "mesh: {box: {cells: [4, 3]}}\nspace: {degree: 2, element: dg}",
    "elasticity": "mesh: {kind: forest, box: {cells: [4, 2]}, refine_where: x - 0.5}\nspace: {degree: 2}\n"
    "data: {lambda: 1, mu: 1, f: [0, -1]}\nboundary: {left: {displacement: [0, 0]}, all: {traction: [0, 0]}}",
    "stokes": f"mesh: {{box: {{cells: [4, 4]}}}}\nspace: {{degree: 2}}\ndata: {{{FLOW}}}\n"
    "boundary: {all: {velocity: exact}}",
    "transport": "mesh: {box: {cells: [8, 8]}}\nspace: {degree: 2}\ndata: {b: [1, 0.5], a: 0.1, f: 1}\n"
    "boundary: {all: {dirichlet: 0}}",
}
IN_TIME = {
    "transport": "mesh: {kind: forest, box: {cells: [8, 8]}}\nspace: {degree: 3}\n"
    "data: {b: [1, 0.5], a: 0.001, initial: 'exp(-60*(pow(x-0.3,2)+pow(y-0.4,2)))'}\n"
    "boundary: {all: {dirichlet: 0}}\ntime: {end: 0.2, step: 0.01}\nadapt: {every: 5, max_level: 2}",
    "navier_stokes": "mesh: {box: {cells: [4, 4]}}\nspace: {degree: 2}\ndata: {nu: 0.1, f: [y, 0]}\n"
    "boundary: {all: {velocity: [0, 0]}}\ntime: {end: 0.1, step: 0.02}",
    "elasticity": "mesh: {box: {cells: [4, 2]}}\nspace: {degree: 2}\n"
    "data: {lambda: 1, mu: 1, density: 1, f: [0, -1]}\nboundary: {left: {displacement: [0, 0]}, "
    "all: {traction: [0, 0]}}\ntime: {end: 0.1, step: 0.02}",
    "adaptive poisson": "mesh: {l_shape: {dim: 2}}\nspace: {degree: 2}\nadapt: {steps: 3}",
}


def run(folder, name, text, *options):
    with open(os.path.join(folder, "a.yaml"), "w", encoding="ascii") as file:
        file.write(f"problem: {name}\n{text}\n")
    command = [PROGRAM, "solve", "a.yaml", "--quiet", "--set", "output.vtkhdf=u.vtkhdf", "--vtu", "u.vtu", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=100)
    if done.returncode == 3:
        print(f"skipped: {done.stderr}")
        sys.exit(77)
    assert done.returncode == 0, f"{name}: exit {done.returncode}\n{done.stderr}{done.stdout}"


def read_hdf(path, step=None):
    reader = vtk.vtkHDFReader()
    reader.SetFileName(path)
    reader.UpdateInformation()
    if step is not None:
        reader.SetStep(step)
    reader.Update()
    return reader.GetOutputDataObject(0), reader


def read_vtu(path):
    reader = vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(path)
    reader.Update()
    return reader.GetOutput()


def arrays(grid):
    """All that a grid has, by name."""
    found = {
        "points": vtk_to_numpy(grid.GetPoints().GetData()),
        "connectivity": vtk_to_numpy(grid.GetCells().GetConnectivityArray()),
        "offsets": vtk_to_numpy(grid.GetCells().GetOffsetsArray()),
        "types": np.array([grid.GetCellType(c) for c in range(grid.GetNumberOfCells())]),
    }
    for kind, data in (("point", grid.GetPointData()), ("cell", grid.GetCellData())):
        for i in range(data.GetNumberOfArrays()):
            found[f"{kind} {data.GetArrayName(i)}"] = vtk_to_numpy(data.GetArray(i))
    return found


def compare(name, one, other):
    a, b = arrays(one), arrays(other)
    assert sorted(a) == sorted(b), f"{name}: {sorted(a)} and {sorted(b)}"
    assert len(a["types"]) > 1 and len(a) > 4
    for key, values in a.items():
        assert values.shape == b[key].shape, f"{name}: {key} of {values.shape} and {b[key].shape}"
        assert np.array_equal(values, b[key], equal_nan=values.dtype.kind == "f"), f"{name}: {key}"


def write_arc(path):
    """Two cells of second degree, which bend as a parabola does."""
    nodes = [(i / 2, j / 2 + 0.1 * (i / 2) * (2 - i / 2) * (j / 2)) for j in range(3) for i in range(5)]
    order = [(0, 0), (2, 0), (2, 2), (0, 2), (1, 0), (2, 1), (1, 2), (0, 1), (1, 1)]
    cells = [[1 + 2 * e + a + 5 * b for a, b in order] for e in range(2)]
    with open(path, "w", encoding="ascii") as file:
        file.write(f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{len(nodes)}\n")
        file.write("".join(f"{i + 1} {x} {y} 0\n" for i, (x, y) in enumerate(nodes)))
        file.write("$EndNodes\n$Elements\n2\n")
        file.write("".join(f"{i + 1} 10 2 0 1 {' '.join(map(str, c))}\n" for i, c in enumerate(cells)))
        file.write("$EndElements\n")


def check_points(folder):
    """Places within cells: VTK interpolates by the cells' own polynomials."""
    points = [[0.3, 0.4], [0.71, 0.15], [0.05, 0.95]]
    text = "mesh: {box: {cells: [3, 3]}}\nspace: {degree: 4}\ndata: {f: 'exp(x)*y'}"
    run(folder, "poisson", text, "--json", "a.json", "--set", f"output.points={points}")
    with open(os.path.join(folder, "a.json"), encoding="utf-8") as file:
        told = [point["u"] for point in json.load(file)["points"]]
    grid = read_hdf(os.path.join(folder, "u.vtkhdf"))[0]
    locator = vtk.vtkCellLocator()
    locator.SetDataSet(grid)
    locator.BuildLocator()
    values = vtk_to_numpy(grid.GetPointData().GetArray("u"))
    for point, expected in zip(points, told):
        for cell in range(grid.GetNumberOfCells()):
            of, xi, at, distance, weights = grid.GetCell(cell), [0.0] * 3, [0.0] * 3, vtk.reference(0.0), [0.0] * 25
            sub = vtk.reference(0)
            if of.EvaluatePosition(point + [0.0], at, sub, xi, distance, weights) != 1:
                continue
            got = sum(w * values[of.GetPointId(i)] for i, w in enumerate(weights))
            assert abs(got - expected) < 1e-12, f"{point}: {got} and {expected}"
            break
        else:
            raise AssertionError(f"{point} is in no cell")


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "u.vtkhdf")
        write_arc(os.path.join(folder, "arc.msh"))
        for name, text in STEADY.items():
            run(folder, name.split()[0], text, *(("--device", "emulator") if "emulator" in name else ()))
            compare(name, read_hdf(path)[0], read_vtu(os.path.join(folder, "u.vtu")))
        check_points(folder)
        if VERSION < (9, 4):
            print(f"VTK {VERSION[0]}.{VERSION[1]} reads no steps: t9_vtkhdf does")
            return 0
        for name, text in IN_TIME.items():
            for old in glob.glob(os.path.join(folder, "u*")):
                os.remove(old)
            run(folder, name.split()[-1], text)
            files = sorted(glob.glob(os.path.join(folder, "u-*.vtu")))
            steps = read_hdf(path, 0)[1].GetNumberOfSteps()
            assert steps == len(files) > 2, f"{name}: {steps} steps, {len(files)} files"
            for step, file in enumerate(files):
                compare(f"{name}, step {step}", read_hdf(path, step)[0], read_vtu(file))
    return 0


if __name__ == "__main__":
    sys.exit(main())
