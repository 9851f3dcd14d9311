"""Relations of mesh files: names, materials, refinement."""

import itertools

from compare import compare, tolerance
from expressions import VARS
from meshes import FACES, KINDS, Mesh, structured
from program import observe
from relations_turn import on_file


def two_names(r, s):
    """The sides of a boundary under two names with the same condition."""
    s = on_file(r, s)
    if s is None:
        return None
    face = r.choice(s.faces())
    sides = [i for i, side in enumerate(s.mesh.sides) if side[1] == face]
    if len(sides) < 2:
        return None
    some = set(r.sample(sides, r.randint(1, len(sides) - 1)))
    n = s.copy()
    n.mesh = s.mesh.moved(list)
    n.mesh.flat = False
    n.mesh.sides = [
        (kind, "other" if i in some else name, nodes) for i, (kind, name, nodes) in enumerate(s.mesh.sides)
    ]
    order = list(s.boundary)
    n.boundary = {}
    for name in order:
        n.boundary[name] = s.boundary[name]
        if name == face:
            n.boundary["other"] = s.boundary[name]
    v, _ = observe(s)
    w, _ = observe(n)
    for key in [k for k in w if k[0] in "BF" and k.split("_")[1] == "other"]:
        other = key.replace("_other_", "_%s_" % face)
        w[other] += w.pop(key)
    worst, name = compare(s, w, v)
    return worst / tolerance(s), "two names of %s | %s" % (face, name), n


def materials(r, s):
    """Cells of two materials with the data of the whole."""
    s = on_file(r, s)
    if s is None or s.flow:
        return None
    n = s.copy()
    n.mesh = s.mesh.moved(list)
    n.mesh.flat = s.mesh.flat
    n.mesh.cells = [(kind, r.choice(["first", "second"]), nodes) for kind, _, nodes in s.mesh.cells]
    names = n.mesh.materials()
    own = {k: v for k, v in n.data.items() if k in ("a", "c", "f", "lambda", "mu", "young", "poisson", "density")}
    if s.time and "f" in own and "t" in str(own["f"]):
        own.pop("f")
    if s.problem == "transport":
        own.pop("f", None)
    n.data = dict(n.data, materials={name: dict(own) for name in names})
    for key in own:
        if key not in ("f", "density", "c"):
            del n.data[key]
    if "a" in own:
        n.data["a"] = 17
    if s.problem == "elasticity":
        n.data.update({"lambda": 3, "mu": 5} if "lambda" in own else {"young": 3, "poisson": 0.1})
    v, _ = observe(s)
    w, _ = observe(n)
    worst, name = compare(s, w, v)
    return worst / tolerance(s), "%s | %s" % (names, name), n


def refined_file(r, s):
    """A file that is refined, and the file of the refined mesh."""
    s = on_file(r, s)
    if s is None or s.mesh.split or any(kind not in (3, 5) for kind, _, _ in s.mesh.cells):
        return None
    if s.dim == 3 and (s.vector or len(s.mesh.cells) > 8):
        return None
    n, m = s.copy(), s.copy()
    n.refine = 1
    m.mesh = refined(s.mesh)
    v, _ = observe(n)
    w, _ = observe(m)
    worst, name = compare(s, w, v)
    return worst / tolerance(s), "refined | %s" % name, m


def refined(mesh):
    """Halves all cells in all directions: new nodes are means of corners."""
    nodes = [list(x) for x in mesh.nodes]
    middles = {}

    def middle(corners):
        key = tuple(sorted(set(corners)))
        if len(key) == 1:
            return key[0]
        if key not in middles:
            middles[key] = len(nodes)
            nodes.append([sum(mesh.nodes[i][d] for i in key) / len(key) for d in range(mesh.dim)])
        return middles[key]

    def parts(kind, name, corners):
        dim = {1: 1, 3: 2, 5: 3}[kind]
        order = [(0,), (1,)] if dim == 1 else [(0, 0), (1, 0), (1, 1), (0, 1)]
        if dim == 3:
            order = [o + (z,) for z in (0, 1) for o in order]
        at = dict(zip(order, corners))

        def point(place):  # of a grid of 3 nodes per direction
            return middle([at[c] for c in itertools.product(*(([0], [0, 1], [1])[i] for i in place))])

        for first in itertools.product(*[(0, 1)] * dim):
            yield kind, name, [point(tuple(a + b for a, b in zip(first, o))) for o in order]

    cells = [c for cell in mesh.cells for c in parts(*cell)]
    sides = [c for side in mesh.sides for c in parts(*side)]
    fine = Mesh(mesh.dim, nodes, cells, sides, False, mesh.flat)
    fine.version = mesh.version
    fine.origin = mesh.origin
    return fine


def periodic_file(r, s):
    """A periodic box, and a file whose nodes at opposite sides are one."""
    if not s.periodic or s.domain or s.element != "q":
        return None
    n = s.copy()
    n.domain = {"file": {}}
    n.kind = None
    mesh = structured(r, s.coords, KINDS[s.dim][0], 0)
    index = {tuple(x): i for i, x in enumerate(mesh.nodes)}
    for d in (VARS.index(x) for x in s.periodic):
        first, last = s.coords[d][0], s.coords[d][-1]
        for x, i in index.items():
            if x[d] == last:
                mesh.pairs.append((i, index[x[:d] + (first,) + x[d + 1 :]]))
        mesh.sides = [side for side in mesh.sides if side[1] not in FACES[2 * d : 2 * d + 2]]
    n.mesh = mesh.shuffled(r)
    v, _ = observe(s)
    w, _ = observe(n)
    worst, name = compare(s, w, v)
    return worst / tolerance(s), "periodic file | %s" % name, n


def inner_values(r, s):
    """Values on sides in the inside of a mesh: what lies on one side of them is a problem of its own."""
    if s.problem != "poisson" or s.domain or s.map or s.where or s.refine or s.periodic or s.element != "q":
        return None
    cut = len(s.coords[0]) // 2
    if cut in (0, len(s.coords[0]) - 1):
        return None
    n, m = s.copy(), s.copy()
    whole = structured(r, s.coords, KINDS[s.dim][0], 0)
    part = structured(r, [s.coords[0][: cut + 1]] + s.coords[1:], KINDS[s.dim][0], 0)
    index = {tuple(x): i for i, x in enumerate(whole.nodes)}
    for kind, name, nodes in part.sides:
        if name == "right":
            whole.sides.append((kind, "inner", [index[tuple(part.nodes[i])] for i in nodes]))
    width = (s.coords[0][cut] - s.coords[0][0]) / (s.coords[0][-1] - s.coords[0][0])
    for case, mesh in ((n, whole), (m, part)):
        case.domain = {"file": {}}
        case.kind = None
        case.mesh = mesh.shuffled(r)
        case.points = [[s.coords[0][0] + width * (p[0] - s.coords[0][0])] + p[1:] for p in s.points]
    n.boundary["inner"] = m.boundary["right"] = {"dirichlet": s.dirichlet}
    v, _ = observe(m)
    w, _ = observe(n)
    keys = [k for k in v if k[0] in "PG" or k.startswith("B_left")]
    worst, name = compare(m, {k: w[k] for k in keys}, v)
    return worst / tolerance(s), "inner values | %s" % name, n
