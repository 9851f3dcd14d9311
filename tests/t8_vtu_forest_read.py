#!/usr/bin/env python3
"""Run: ctest -R t8_vtu_forest_read. VTK reads the files of `t8_vtu_forest write`: the cells fill the unit box, levels
and fields of cells are there, and at random points of all cells, hanging or not, u is its formula. Ends with 77
where VTK or forests are missing."""
import math
import os
import random
import subprocess
import sys
import tempfile

try:
    import vtk
except ImportError as error:
    print(f"skipped: {error}; install python3-vtk9")
    sys.exit(77)


def formula(dim, k, x):
    value = (x[0] - 0.3) ** k + 2 * x[1] ** k * (1 + x[0])
    return value - (x[2] + 0.1) ** k * x[1] if dim == 3 else value


def check_cell(grid, dim, k, index):
    cell = grid.GetCell(index)
    count = cell.GetNumberOfPoints()
    assert count == (k + 1) ** dim, count
    u, error = (grid.GetPointData().GetArray(name) for name in ("u", "error"))
    for _ in range(5):
        at = [random.random() for _ in range(dim)] + [0.0] * (3 - dim)
        x, weights = [0.0] * 3, [0.0] * count
        cell.EvaluateLocation(vtk.reference(0), at, x, weights)
        ids = [cell.GetPointId(i) for i in range(count)]
        value = sum(w * u.GetTuple1(i) for w, i in zip(weights, ids))
        assert abs(value - formula(dim, k, x)) < 1e-10, (dim, k, index, x, value)
        assert all(abs(error.GetTuple1(i)) < 1e-11 for i in ids)
    bounds = cell.GetBounds()
    singular = grid.GetPointData().GetArray("singular")  # 1/x: blank where x = 0 is a corner
    assert all(math.isnan(singular.GetTuple1(cell.GetPointId(i))) == (bounds[0] < 1e-12) for i in range(2**dim)), index
    size = 1.0
    for d in range(dim):
        size *= bounds[2 * d + 1] - bounds[2 * d]
    return size


def check_file(path, dim, k):
    reader = vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(path)
    reader.Update()
    grid = reader.GetOutput()
    cells = grid.GetNumberOfCells()
    assert cells > 2**dim, cells
    levels = grid.GetCellData().GetArray("level").GetRange()
    assert levels[1] > levels[0] >= 1, levels
    assert grid.GetCellData().GetArray("estimate").GetRange() == (0, cells - 1)
    volume = sum(check_cell(grid, dim, k, index) for index in range(cells))
    assert abs(volume - 1) < 1e-12, volume


def check_material(path):
    reader = vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(path)
    reader.Update()
    grid = reader.GetOutput()
    a, material = grid.GetPointData().GetArray("a"), grid.GetCellData().GetArray("material")
    assert [material.GetTuple1(c) for c in range(2)] == [-1, 0]
    for c in range(2):
        cell = grid.GetCell(c)
        assert {a.GetTuple1(cell.GetPointId(i)) for i in range(9)} == {1 + c}


def main():
    random.seed(1)
    with tempfile.TemporaryDirectory() as folder:
        status = subprocess.run([sys.argv[1], "write", folder], check=False).returncode
        if status:
            return status
        check_material(os.path.join(folder, "material.vtu"))
        os.remove(os.path.join(folder, "material.vtu"))
        for name in sorted(os.listdir(folder)):
            dim, k = (int(part) for part in name[:-4].split("-"))
            check_file(os.path.join(folder, name), dim, k)
    print("VTK reads the forests right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
