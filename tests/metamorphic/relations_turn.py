"""Relations of directions: a mesh that is turned by any angle, with all that has a direction."""

import math

from compare import compare, tolerance
from expressions import VARS, num, substitute
from meshes import KINDS, structured
from program import Refused, observe


class Turn:
    """x' = R x: rotations about z, in space then about x."""

    def __init__(self, r, dim):
        c, s = angle(r)
        self.dim = dim
        self.R = [[c, -s], [s, c]]
        if dim == 3:
            d, t = angle(r)
            self.R = [[c, -s, 0.0], [d * s, d * c, -t], [t * s, t * c, d]]
        self.table = {}
        for j in range(dim):
            for kind in ("", "n"):
                terms = ["%s*%s%s" % (num(self.R[i][j]), kind, VARS[i]) for i in range(dim)]
                self.table[kind + VARS[j]] = "(%s)" % "+".join(terms)

    def place(self, x):
        """A point that is turned."""
        return [sum(a * b for a, b in zip(row, x)) for row in self.R]

    def scalar(self, e):
        """A datum in the new variables."""
        return e if isinstance(e, (int, float)) or e is None else substitute(e, self.table)

    def vector(self, entries):
        """Components of a datum."""
        old = [self.scalar(e) for e in entries]
        return ["+".join("%s*(%s)" % (num(a), e) for a, e in zip(row, old)) for row in self.R]

    def matrix(self, diagonal):
        """R diag R'."""
        old = [self.scalar(e) for e in diagonal]
        return [
            ["+".join("%s*(%s)" % (num(a * b), e) for a, b, e in zip(x, y, old)) for y in self.R] for x in self.R
        ]

    def predict(self, values, vectors):
        """The observables after the turn; forces only where all faces have a name that stays."""
        found = {}
        for key, x in values.items():
            if key[0] in "EJWQM" or (key[0] in "PIB" and not vectors):
                found[key] = x
        for key in values:
            first = key[:-1]
            names = VARS if key[0] == "F" else "uvw"
            if key[0] == "F" or (key[0] in "PIB" and vectors):
                old = [values[first + names[j]] for j in range(self.dim)]
                i = names.index(key[-1])
                found[key] = sum(a * b for a, b in zip(self.R[i], old))
        return found


def angle(r):
    """Cosine and sine."""
    a = r.uniform(0.1, 1.4)
    return math.cos(a), math.sin(a)


def on_file(r, s):
    """The case on a mesh file: the same cells where it is a box."""
    if s.mesh:
        return s
    if s.domain or s.map or s.where or s.refine or s.periodic or s.element != "q":
        return None
    n = s.copy()
    n.domain = {"file": {}}
    n.kind = None
    n.graded = set()
    n.mesh = structured(r, s.coords, KINDS[s.dim][0], 0)
    return n


def turned(r, s):
    """A case and itself after a turn: rollers, slip, pressures and normals in any direction."""
    s = on_file(r, s)
    if s is None:
        return None
    turn = Turn(r, s.dim)
    n = s.copy()
    n.mesh = s.mesh.moved(turn.place)
    n.mesh.flat = False
    n.points = [turn.place(p) for p in s.points]
    either = turn.vector if s.vector else turn.scalar
    for key, e in n.data.items():
        if key == "a" and isinstance(e, list):
            n.data[key] = turn.matrix(e)
        elif key == "initial" and isinstance(e, dict):
            n.data[key] = {k: turn.vector(v) for k, v in e.items()}
        elif key == "b":
            n.data[key] = turn.vector(e)
        else:
            n.data[key] = either(e) if key in ("f", "initial") else turn.scalar(e)
    for name, condition in n.boundary.items():
        ((kind, value),) = condition.items()
        if kind == "robin":
            value = {"alpha": turn.scalar(value["alpha"]), "g": either(value["g"])}
        elif isinstance(value, list):
            value = turn.vector(value)
        elif not isinstance(value, bool):
            value = turn.scalar(value)
        n.boundary[name] = {kind: value}
    v, _ = observe(s)
    try:
        w, _ = observe(n)
    except Refused as e:
        return 99.0, "refused after a turn: %s" % e, n
    worst, name = compare(s, w, turn.predict(v, s.vector))
    return worst / (10 * tolerance(s)), "turned | %s" % name, n
