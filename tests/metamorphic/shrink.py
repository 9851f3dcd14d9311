"""Makes a case that deviates smaller."""

import random
import time

from cases import coordinates
from meshes import structured
from program import Failure, Refused
from relations import RELATIONS


def shrink(relation, s, seed, budget=25.0):
    """A smaller case that still deviates, found within so many seconds."""
    end = time.time() + budget

    def fails(c):
        try:
            x = RELATIONS[relation](random.Random(seed), c)
        except Failure:
            return True
        except (Refused, KeyError, ValueError, TypeError, ZeroDivisionError):
            return False
        return bool(x) and not x[0] <= 1

    again = True
    while again and time.time() < end:
        again = False
        for n in tries(s, relation):
            if time.time() > end:
                break
            if fails(n):
                s = n
                again = True
                break
    return s


def tries(c, relation):
    """Cases that are smaller by a step."""
    if c.time and round((c.time["end"] - c.time["start"]) / c.time["step"]) > 1 and relation != "restart":
        n = c.copy()
        n.time["end"] = n.time["start"] + n.time["step"]
        yield n
    if c.where:
        n = c.copy()
        n.where = None
        yield n
    if c.map and not c.domain:
        n = c.copy()
        n.map = None
        n.points = [[x[0] + 0.419 * (x[-1] - x[0]) for x in c.coords]] * 3
        yield n
    if c.mesh and c.mesh.made:
        yield from smaller_files(c)
    if c.kind:
        n = c.copy()
        n.kind = None
        yield n
    if c.periodic:
        n = c.copy()
        n.periodic = ""
        yield n
    for d in sorted(c.graded):
        n = c.copy()
        n.graded.discard(d)
        n.coords[d] = coordinates(None, len(c.coords[d]) - 1, c.coords[d][0], c.coords[d][-1], False)
        yield n
    for d in range(c.dim):
        if not c.domain and len(c.coords[d]) > 3:
            n = c.copy()
            n.coords[d] = coordinates(None, 2, c.coords[d][0], c.coords[d][-1], False)
            n.graded.discard(d)
            yield n
    if c.degree > 1:
        n = c.copy()
        n.degree -= 1
        yield n
    for k in ("c", "alpha", "b"):
        if c.data.get(k) is not None:
            n = c.copy()
            n.data.pop(k)
            yield n
    for k in ("a", "nu", "lambda", "mu", "young", "density"):
        if k in c.data and c.data[k] != 1:
            n = c.copy()
            n.data[k] = 1
            yield n
    if c.form:
        n = c.copy()
        n.form = None
        yield n
    if c.plane:
        n = c.copy()
        n.plane = None
        yield n
    if c.data.get("f") not in (None, 1, [1] * c.dim, ["y"] + [0] * (c.dim - 1)):
        n = c.copy()
        n.data["f"] = (["y"] + [0] * (c.dim - 1) if c.flow else [1] * c.dim) if c.vector else 1
        yield n
    if c.time and c.time.get("method") not in ("auto",):
        n = c.copy()
        n.time["method"] = "auto"
        yield n
    base = "velocity" if c.flow else "displacement" if c.vector else "dirichlet"
    z = [0] * c.dim if c.vector else 0
    n = c.copy()
    n.boundary = {f: {base: z} for f in c.boundary}  # all at once: corners must agree
    if n.boundary != c.boundary:
        yield n
    for f in list(c.boundary):
        k, v = list(c.boundary[f].items())[0]
        others = [b[base] for q, b in c.boundary.items() if base in b and q != f]
        w = others[0] if others else z
        if k != base:
            n = c.copy()
            n.boundary[f] = {base: w}
            yield n


def smaller_files(c):
    """Meshes of the same kind: in order, without moved nodes, with fewer cells."""
    coords, kind, move = c.mesh.made
    single = [[x[0], x[-1]] for x in coords]
    for changed in ((coords, kind, 0), (single, kind, 0), (coords, kind, move)):
        n = c.copy()
        n.coords = changed[0]
        n.mesh = structured(random.Random(1), *changed)
        n.mesh.made = None
        yield n
