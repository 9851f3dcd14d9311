"""Units and axes: a case and its values after a change of all units, axes and the origin."""

from expressions import VARS, num, scaled, substitute
from meshes import FACES

COMPONENTS = ["u", "v", "w"]


class Change:
    """x'_j = length sign_j x_perm[j] + shift_j, t' = T t + t0, u' = U u, the coefficient of diffusion times A."""

    def __init__(self, s, perm=None, sign=None, length=1.0, shift=None, A=1.0, U=1.0, T=1.0, t0=0.0):
        self.dim = s.dim
        self.perm = perm or list(range(s.dim))
        self.sign = sign or [1] * s.dim
        self.shift = shift or [0.0] * s.dim
        self.length, self.A, self.U, self.T, self.t0 = length, A, U, T, t0
        if s.problem == "transport" and s.time:
            self.A = length * length / T
        if s.problem == "navier_stokes":
            self.A = length * length / T
            self.U = length / T
        self.flux = self.A * self.U / length
        self.named = bool(s.domain)  # names of boundaries stay
        self.vectors = s.vector
        self.inverse = self.old_variables()

    def old_variables(self):
        """Old variables as expressions in the new ones."""
        table = {}
        for j, i in enumerate(self.perm):
            e = VARS[j] if not self.shift[j] else "(%s-%s)" % (VARS[j], num(self.shift[j]))
            if self.length != 1:
                e = "(%s/%s)" % (e, num(self.length))
            table[VARS[i]] = e if self.sign[j] > 0 else "(-%s)" % e
            table["n" + VARS[i]] = "n" + VARS[j] if self.sign[j] > 0 else "(-n%s)" % VARS[j]
        if self.T != 1 or self.t0:
            table["t"] = "((t-%s)/%s)" % (num(self.t0), num(self.T))
        return table

    def value(self, e, unit=1.0):
        """A datum in new variables, times the change of its unit."""
        if e is None:
            return None
        return e * unit if isinstance(e, (int, float)) else scaled(substitute(e, self.inverse), unit)

    def vector(self, entries, unit=1.0):
        """Components of a datum."""
        return [self.value(entries[self.perm[j]], unit * self.sign[j]) for j in range(self.dim)]

    def either(self, e, unit=1.0):
        """A datum that has components where the solution has some."""
        return self.vector(e, unit) if self.vectors else self.value(e, unit)

    def place(self, x):
        """A point in new coordinates."""
        return [self.length * self.sign[j] * x[self.perm[j]] + self.shift[j] for j in range(self.dim)]

    def face(self, name):
        """The new name of a boundary."""
        if self.named:
            return name
        d, end = divmod(FACES.index(name), 2)
        j = self.perm.index(d)
        return FACES[2 * j + (end if self.sign[j] > 0 else 1 - end)]

    def component(self, name):
        """The new name of a component, and its sign."""
        if not self.vectors:
            return "u", 1
        j = self.perm.index(COMPONENTS.index(name))
        return COMPONENTS[j], self.sign[j]

    def direction(self, name):
        """The new name of a direction, and its sign."""
        j = self.perm.index(VARS.index(name))
        return VARS[j], self.sign[j]

    def predict(self, values):
        """The observables of the changed case from those of the case."""
        vol, area = self.length**self.dim, self.length ** (self.dim - 1)
        found = {}
        for key, x in values.items():
            parts = key.split("_")
            group = key[0]
            if group == "P":
                c, sign = self.component(parts[1])
                found["%s_%s" % (parts[0], c)] = x * self.U * sign
            elif group == "G":
                c, sign = self.component(parts[1][0])
                d, way = self.direction(parts[1][1])
                found["G0_%s%s" % (c, d)] = x * self.U * sign * way / self.length
            elif group == "I":
                c, sign = self.component(parts[1])
                found["I_" + c] = x * self.U * sign * vol
            elif group == "B":
                c, sign = self.component(parts[2])
                found["B_%s_%s" % (self.face(parts[1]), c)] = x * self.U * sign * area
            elif group == "F":
                d, way = self.direction(parts[2])
                found["F_%s_%s" % (self.face(parts[1]), d)] = x * self.flux * way * area
            elif group == "M":
                found[key] = x * self.U * self.U
            else:
                unit = {"E": self.U * self.U, "J": self.flux, "W": self.flux * self.U / self.length}
                found[key] = x * (self.flux if group == "Q" else unit[group] * vol)
        return found


def change_mesh(c, s, n):
    """Coordinates, maps, points."""
    dim = s.dim
    if s.mesh:
        n.mesh = s.mesh.moved(c.place)
    if s.domain:
        key = list(s.domain)[0]
        if key in ("ball", "shell"):
            n.domain[key]["centre"] = list(c.shift)
            n.domain[key]["radius"] = c.length
        n.coords = [[x * c.length for x in points] for points in s.coords]  # for sizes alone
    else:
        n.coords = []
        for j in range(dim):
            points = [c.length * c.sign[j] * x + c.shift[j] for x in s.coords[c.perm[j]]]
            n.coords.append(points if c.sign[j] > 0 else points[::-1])
        n.graded = {j for j in range(dim) if c.perm[j] in s.graded}
        n.periodic = "".join(VARS[j] for j in range(dim) if VARS[c.perm[j]] in s.periodic)
    if s.map:
        n.map = []
        for j in range(dim):
            e = "%s*(%s)" % (num(c.length * c.sign[j]), substitute(s.map[c.perm[j]], c.inverse))
            n.map.append(e if not c.shift[j] else "%s+(%s)" % (num(c.shift[j]), e))
    n.where = c.value(s.where)
    n.points = [c.place(p) for p in s.points]


def change_data(c, s, data):
    """Coefficients, forces, initial values, exact solutions."""
    coefficient = {"a": c.A, "lambda": c.A, "mu": c.A, "young": c.A, "nu": c.A, "poisson": 1.0}
    coefficient["density"] = c.A * c.T * c.T / c.length**2
    coefficient["c"] = coefficient["alpha"] = c.A / c.length**2
    for key, unit in coefficient.items():
        if isinstance(data.get(key), list):
            data[key] = [c.value(data[key][i], unit) for i in c.perm]
        elif key in data:
            data[key] = c.value(data[key], unit)
    data["f"] = c.either(data["f"], c.A * c.U / c.length**2)
    if "b" in data:
        data["b"] = c.vector(data["b"], c.A / c.length)
    if isinstance(data.get("initial"), dict):
        rate = c.U / c.T if s.problem == "elasticity" else c.U
        units = {"displacement": c.U, "velocity": rate}
        data["initial"] = {key: c.vector(e, units[key]) for key, e in data["initial"].items()}
    elif "initial" in data:
        data["initial"] = c.value(data["initial"], c.U)


def change_condition(c, kind, value):
    """A condition on a boundary."""
    if kind in ("dirichlet", "displacement", "velocity"):
        return c.either(value, c.U)
    if kind in ("neumann", "flux", "traction"):
        return c.either(value, c.flux)
    if kind == "robin":
        return {"alpha": c.value(value["alpha"], c.A / c.length), "g": c.either(value["g"], c.flux)}
    if kind == "pressure":
        return c.value(value, c.flux)
    return c.vector(value, c.flux) if isinstance(value, list) else value


def transform(s, **units):
    """The case in other units and axes, and the function that maps its observables."""
    c = Change(s, **units)
    n = s.copy()
    change_mesh(c, s, n)
    change_data(c, s, n.data)
    n.boundary = {}
    for name in s.faces():
        ((kind, value),) = s.boundary[name].items()
        n.boundary[c.face(name)] = {kind: change_condition(c, kind, value)}
    if s.time:
        n.time["start"] = s.time["start"] * c.T + c.t0
        n.time["end"] = s.time["end"] * c.T + c.t0
        n.time["step"] = s.time["step"] * c.T
    return n, c.predict
