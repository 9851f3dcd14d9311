"""Draws cases on mesh files, and the relations that such cases have."""

import functools
import os

from compare import compare, tolerance
from meshes import KINDS, read_22, read_41, structured
from program import Refused, observe

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
# files of the repository: dimensions, highest degree of a solution, flows too
STORED = {
    "cases/plate.msh": (2, 4, True),
    "cases/step.msh": (2, 3, True),
    "cases/cylinder.msh": (2, 2, True),
    "tests/data/tetrahedra-ball.msh": (3, 1, False),
    "tests/data/tetrahedra-bracket.msh": (3, 1, False),
    "tests/data/tetrahedra-cube.msh": (3, 1, False),
}


@functools.lru_cache(maxsize=None)
def stored(name):
    """A mesh of a file of the repository."""
    dim = STORED[name][0]
    mesh = (read_22 if dim == 2 else read_41)(os.path.join(ROOT, name), dim, dim == 3)
    mesh.origin = os.path.basename(name)
    return mesh


def draw(r, s, coordinates, dim):
    """Gives a case a mesh of a file, with points and sizes."""
    s.domain = {"file": {}}
    names = [n for n, (d, _, flows) in STORED.items() if dim in (None, d) and (flows or not s.flow)]
    if names and r.random() < 0.2:
        name = r.choice(names)
        s.mesh = stored(name).shuffled(r)
        s.dim = s.mesh.dim
        s.highest = STORED[name][1]
        s.coords = [[min(x[d] for x in s.mesh.nodes), max(x[d] for x in s.mesh.nodes)] for d in range(s.dim)]
        s.points = [point_of_cell(r, s.mesh) for _ in range(3)]
        return
    s.dim = dim or r.choice([2, 2, 2, 3])
    kind = r.choice(KINDS[s.dim])
    most = {"triangles": 3, "tetrahedra": 1}.get(kind, 4 if s.dim == 2 else 2)
    least = 2 if s.flow and kind != "tetrahedra" else 1
    s.coords = []
    for _ in range(s.dim):
        lower, upper = round(r.uniform(-1, 0.5), 2), round(r.uniform(1, 2), 2)
        s.coords.append(coordinates(r, r.randint(least, most), lower, upper, r.random() < 0.3))
    s.mesh = structured(r, s.coords, kind, 0.15 if s.dim == 2 else 0.08)
    made = s.mesh.made
    s.mesh = s.mesh.shuffled(r)
    s.mesh.made = made
    s.highest = 2 if kind == "tetrahedra" else 4
    s.points = [[c[0] + (c[-1] - c[0]) * r.choice([0.237, 0.419, 0.583, 0.771]) for c in s.coords] for _ in range(3)]


def point_of_cell(r, mesh):
    """A point inside of a cell."""
    _, _, numbers = r.choice(mesh.cells)
    corners = [mesh.nodes[n] for n in numbers[: mesh.dim + 1]]
    weights = [0.31, 0.27, 0.42] if mesh.dim == 2 else [0.21, 0.27, 0.33, 0.19]
    return [sum(w * x[d] for w, x in zip(weights, corners)) for d in range(mesh.dim)]


def shuffle(r, s):
    """A file and the same mesh with nodes and cells in another order, in another format."""
    if not s.mesh:
        return None
    n = s.copy()
    n.mesh = s.mesh.shuffled(r)
    return compared(s, n)


def box(r, s):
    """A box, and a file of the same cells."""
    if s.domain or s.map or s.periodic or s.element != "q":
        return None
    n = s.copy()
    n.domain = {"file": {}}
    n.kind = None
    n.mesh = structured(r, s.coords, KINDS[s.dim][0], 0).shuffled(r)
    return compared(s, n)


def compared(s, n):
    """The deviation of two cases of one solution."""
    v, _ = observe(s)
    try:
        w, _ = observe(n)
    except Refused as e:
        return 99.0, "the file is refused: %s" % e, n
    worst, name = compare(s, w, v)
    return worst / tolerance(s), "%s | %s" % (n.mesh.origin, name), n
