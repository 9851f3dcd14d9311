"""Meshes: domains, arrays, files of others."""

import numpy as np
import pytest

import tessera
from conftest import needs_trees

POINTS = np.array([[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]], float)
CELLS = np.array([[0, 1, 4, 3], [1, 2, 5, 4]])  # round each cell, as VTK has them


def two_cells(**options):
    """(0, 2) x (0, 1) of two cells and two materials."""
    return tessera.Mesh.from_arrays(
        POINTS,
        CELLS,
        boundaries={"left": [[3, 0]], "rest": [[0, 1], [1, 2], [2, 5], [5, 4], [4, 3]]},
        materials={"steel": [0], "glass": [1]},
        **options,
    )


def test_box():
    """Names, numbers, places."""
    mesh = tessera.Mesh.box([4, 2, 3], lower=[0, 0, -1], upper=[2, 1, 0])
    assert (mesh.kind, mesh.dim, mesh.cells) == ("box", 3, 24)
    assert mesh.boundaries == ["left", "right", "bottom", "top", "back", "front"]
    assert mesh.centres[0] == pytest.approx([0.25, 0.25, -5 / 6])
    assert mesh.locate([[1.9, 0.9, -0.01], [9, 9, 9]]).tolist() == [23, -1]


def test_arrays():
    """Cells, names and areas; u = x is in the space, and its energy is the area."""
    mesh = two_cells()
    assert mesh.boundaries == ["left", "rest"] and mesh.materials == ["steel", "glass"] and mesh.cells == 2
    p = tessera.Problem(mesh, f=0, a=1, degree=2, boundary={"left": 0, "rest": "x"})
    p.solve()
    assert p.value("ux*ux + uy*uy") == pytest.approx(2)
    assert p.value("1", boundary="left") == pytest.approx(1)
    assert p.value("1", boundary="rest") == pytest.approx(5)
    assert p.value("1", material="glass") == pytest.approx(1)


def test_names_are_of_different_faces_and_cells():
    """The last of two names was taken."""
    with pytest.raises(tessera.InvalidInput, match="boundary 'b': the face of the vertices .* is in 'a' too"):
        tessera.Mesh.from_arrays(POINTS, CELLS, boundaries={"a": [[3, 0]], "b": [[0, 3]]}, rest="rest")
    with pytest.raises(tessera.InvalidInput, match="material 'glass': a cell of it is in another material too"):
        tessera.Mesh.from_arrays(POINTS, CELLS, materials={"steel": [0], "glass": [1, 0]}, rest="rest")


def test_hexahedra_round_the_face():
    """The order of VTK in 3D."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 2], [1, 0, 2], [1, 1, 2], [0, 1, 2]], float)
    mesh = tessera.Mesh.from_arrays(corners, [list(range(8))], boundaries={"below": [0, 1, 2, 3]}, rest="rest")
    p = tessera.Problem(mesh, f=0, degree=1, boundary={"below": 0, "rest": "z"})
    p.solve()
    assert p.value("1") == pytest.approx(2) and p.value("1", boundary="below") == pytest.approx(1)


@pytest.mark.parametrize(
    "points, cells, message",
    [
        (POINTS[:, :1], CELLS, "points: an array of shape"),
        (POINTS, CELLS[:, :3], "cells: an array of shape"),
        (POINTS, CELLS + 0.5, "type float64"),
        (POINTS, CELLS + 3, "vertices 3 to 8 of 6 points"),
        (POINTS, CELLS[:, ::-1], "inverted|degenerate|negative"),
    ],
)
def test_arrays_that_are_no_mesh(points, cells, message):
    """Refused with what was found."""
    with pytest.raises(tessera.InvalidInput, match=message):
        tessera.Mesh.from_arrays(points, cells)


def test_faces_and_cells_that_are_none():
    """A name of two vertices without an edge; materials of cells that there are not."""
    with pytest.raises(tessera.InvalidInput, match=r"boundary 'x': no cell has a face of the vertices \[0, 5\]"):
        tessera.Mesh.from_arrays(POINTS, CELLS, boundaries={"x": [[0, 5]]})
    with pytest.raises(tessera.InvalidInput, match="degenerate: .*; cells: vertices go round a cell"):
        tessera.Mesh.from_arrays([[0, 0], [1, 0], [0, 1], [1, 1]], [[0, 1, 2, 3]], rest="rest")
    for which in ([2], [-1], [0.0], ["a"]):
        with pytest.raises(tessera.InvalidInput, match="material 'x': no numbers of the 2 cells"):
            tessera.Mesh.from_arrays(POINTS, CELLS, materials={"x": which})
    for names in ({"boundaries": [[0, 1]]}, {"materials": [0]}):
        with pytest.raises(TypeError, match="is no dict by name"):
            tessera.Mesh.from_arrays(POINTS, CELLS, **names)
    mask = tessera.Mesh.from_arrays(POINTS, CELLS, materials={"x": np.array([False, True])})
    problem = tessera.Problem(mask, materials={"x": {"f": 1}})
    assert problem.value("1", material="x") == pytest.approx(1)


def test_options_are_checked():
    """Names, words and types of C members."""
    with pytest.raises(tessera.InvalidInput, match="did you mean 'periodic'"):
        tessera.Mesh.box([2, 2], periodc=[True, False])
    with pytest.raises(tessera.InvalidInput, match="did you mean 'channel'"):
        tessera.Mesh("chanel")
    with pytest.raises(TypeError, match="Mesh.refine: 1.5 is no whole number"):
        tessera.Mesh.box([2, 2], refine=1.5)
    with pytest.raises(TypeError, match="neither True nor False"):
        tessera.Mesh.box([2, 2], periodic=[1, 0])
    for corner in ({"lower": [0]}, {"upper": [1, 1, 1]}, {"upper": 1}):
        with pytest.raises(tessera.InvalidInput, match="expected 2 numbers"):
            tessera.Mesh.box([2, 2], **corner)
    with pytest.raises(tessera.InvalidInput, match=r"Mesh.cells\[0\]: 1000000000000 is too large"):
        tessera.Mesh.box([10**12, 2])
    with pytest.raises(TypeError, match="context: 'cpu' is no tessera.Context"):
        tessera.Mesh.box([2, 2], context="cpu")
    assert "uniform refinements" in tessera.Mesh.help("refine") and "\n" not in tessera.Mesh.help("refine")


def test_deformed_by_callables():
    """A quarter of a ring by a map of NumPy functions: its area is 3 pi / 4."""
    mesh = tessera.Mesh.box(
        [4, 4],
        kind="cells",
        geometry_degree=6,
        map=[lambda x, y: (1 + x) * np.cos(np.pi / 2 * y), lambda x, y: (1 + x) * np.sin(np.pi / 2 * y)],
    )
    p = tessera.Problem(mesh, degree=4)
    p.solve()
    assert p.value("1") == pytest.approx(3 * np.pi / 4, rel=1e-9)


def test_gmsh_and_meshio(tmp_path):
    """A file of Gmsh, and the same by meshio: names of physical groups."""
    meshio = pytest.importorskip("meshio")
    path = tmp_path / "two.msh"
    path.write_text(
        '$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n1 1 "hull"\n2 2 "steel"\n$EndPhysicalNames\n'
        "$Nodes\n6\n" + "".join(f"{i + 1} {x:g} {y:g} 0\n" for i, (x, y) in enumerate(POINTS)) + "$EndNodes\n"
        "$Elements\n8\n"
        + "".join(
            f"{i + 1} 1 2 1 1 {a} {b}\n" for i, (a, b) in enumerate([(1, 2), (2, 3), (3, 6), (6, 5), (5, 4), (4, 1)])
        )
        + "7 3 2 2 1 1 2 5 4\n8 3 2 2 1 2 3 6 5\n$EndElements\n"
    )
    meshes = [tessera.Mesh.from_gmsh(path), tessera.Mesh.from_meshio(meshio.read(path))]
    for mesh in meshes:
        assert (mesh.boundaries, mesh.materials, mesh.cells, mesh.dim) == (["hull"], ["steel"], 2, 2)


@needs_trees
def test_refine():
    """Marked cells are halved; wrong marks are refused by name."""
    mesh = tessera.Mesh.ball(dim=2, refine=1)
    mark = np.linalg.norm(mesh.centres, axis=1) < 0.3
    finer = mesh.refine(mark)
    assert finer.cells == mesh.cells + 3 * mark.sum()
    assert mesh.refine().cells == 4 * mesh.cells
    with pytest.raises(tessera.InvalidInput, match="mark: an array of shape"):
        mesh.refine(mark[:-1])
    for wrong in (mark.astype(str), np.full(mesh.cells, np.nan)):
        with pytest.raises(tessera.InvalidInput, match="expected bool or numbers, none of them nan"):
            mesh.refine(wrong)


def test_refine_of_a_box():
    """The library says why not."""
    with pytest.raises(tessera.Error, match="forest|p4est"):
        tessera.Mesh.box([2, 2]).refine()


def test_what_is_no_mesh():
    """Fractions of cells, a single number, a path in the place of a mesh."""
    for cells in ([2.5, 2], 4, "ab"):
        with pytest.raises(tessera.InvalidInput, match="are no numbers of cells"):
            tessera.Mesh.box(cells)
    with pytest.raises(TypeError, match="no mesh of meshio; from_gmsh reads files"):
        tessera.Mesh.from_meshio("mesh.msh")
