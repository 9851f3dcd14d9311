#!/usr/bin/env python3
"""Run: ctest -R t8_vtu_read. VTK reads the files of `t8_vtu write`: cell types and degrees, curved geometry and fields
at random points of each cell against the formulas of t8_vtu.c, positive volumes. Ends with 77 where VTK is missing."""
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

CELLS = (2, 3, 2)


def position(dim, degree, u):
    bend = 0.2 if degree >= 2 else 0
    return (
        u[0] + bend * u[1] ** 2,
        1.5 * u[1] - bend * u[0] * u[2],
        u[2] + bend * u[0] ** 2 if dim == 3 else 0,
    )


def field(dim, degree, u):
    value = (u[0] - 0.3) ** degree + 2 * u[1] ** degree * (1 + u[0])
    return value - (u[2] + 0.1) ** degree * u[1] if dim == 3 else value


def corner_of(index):
    return (index % CELLS[0], index // CELLS[0] % CELLS[1], index // (CELLS[0] * CELLS[1]))


def determinant(dim, cell, at):
    """Of the Jacobian of the map from the reference cell, by VTK's own derivatives of the coordinates."""
    points = cell.GetPoints()
    count = cell.GetNumberOfPoints()
    step = 1e-6
    columns = []
    for d in range(dim):
        ends = []
        for side in (-1, 1):
            shifted = list(at)
            shifted[d] += side * step
            x, weights = [0.0] * 3, [0.0] * count
            cell.EvaluateLocation(vtk.reference(0), shifted, x, weights)
            ends.append(x)
        columns.append([(b - a) / (2 * step) for a, b in zip(*ends)])
    assert points.GetNumberOfPoints() == count
    if dim == 2:
        return columns[0][0] * columns[1][1] - columns[0][1] * columns[1][0]
    a, b, c = columns
    return (
        a[0] * (b[1] * c[2] - b[2] * c[1])
        - a[1] * (b[0] * c[2] - b[2] * c[0])
        + a[2] * (b[0] * c[1] - b[1] * c[0])
    )


def check_point(grid, dim, degree, index, tolerance):
    cell = grid.GetCell(index)
    at = [random.random() if d < dim else 0.0 for d in range(3)]
    corner = corner_of(index)
    u = [(corner[d] + at[d]) / CELLS[d] if d < dim else 0.0 for d in range(3)]
    x, weights = [0.0] * 3, [0.0] * cell.GetNumberOfPoints()
    cell.EvaluateLocation(vtk.reference(0), at, x, weights)
    values = grid.GetPointData().GetArray("u")
    value = sum(w * values.GetValue(cell.GetPointId(i)) for i, w in enumerate(weights))
    vectors = grid.GetPointData().GetArray("position")
    stored = [
        sum(w * vectors.GetComponent(cell.GetPointId(i), d) for i, w in enumerate(weights)) for d in range(3)
    ]
    for have, want in zip(x + stored + [value], 2 * position(dim, degree, u) + (field(dim, degree, u),)):
        assert abs(have - want) <= tolerance, f"{dim}D degree {degree} cell {index}: {have}, expected {want}"
    assert determinant(dim, cell, at) > 1e-3, f"{dim}D degree {degree} cell {index}: negative volume"


def check_file(path, dim, degree):
    reader = vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(path)
    reader.Update()
    assert reader.GetErrorCode() == 0, f"VTK cannot read {path}"
    grid = reader.GetOutput()
    cells = math.prod(CELLS[:dim])
    assert grid.GetNumberOfCells() == cells
    assert grid.GetNumberOfPoints() == cells * (degree + 1) ** dim
    tolerance = 1e-5 if degree == 5 else 1e-11 * 4**degree / 4  # degree 5 is written in single precision
    numbers = grid.GetCellData().GetArray("number")
    pairs = grid.GetCellData().GetArray("pair")
    assert pairs.GetNumberOfComponents() == 3
    for index in range(cells):
        assert grid.GetCellType(index) == (70 if dim == 2 else 72)
        assert numbers.GetValue(index) == index
        assert pairs.GetComponent(index, 1) == -index
        cell = grid.GetCell(index)
        assert [cell.GetOrder(d) for d in range(dim)] == [degree] * dim
        for _ in range(3):
            check_point(grid, dim, degree, index, tolerance)


def main():
    random.seed(5)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], "write", folder], check=True)
        for dim in (2, 3):
            for degree in range(1, 13):
                check_file(os.path.join(folder, f"{dim}d-{degree}.vtu"), dim, degree)
    print(f"24 files read by VTK {vtk.vtkVersion.GetVTKVersion()}")


if __name__ == "__main__":
    main()
