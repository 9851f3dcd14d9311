"""Relations of loads: forces, weights, temperatures and words that say the same in two ways."""

import os

import program
from compare import compare, tolerance
from expressions import VARS, num
from program import observe, observe_extra


def added(e, more):
    """The sum of two data."""
    return "(%s)+(%s)" % (e, more)


def force(r, s):
    """A total force, and the same as a traction."""
    n = s.copy()
    faces = [f for f in n.faces() if list(n.boundary[f]) == ["traction"]]
    if s.problem != "elasticity" or not faces:
        return None
    face = r.choice(faces)
    t = [round(r.uniform(-1, 1), 2) for _ in range(s.dim)]
    n.boundary[face] = {"traction": t}
    v, _ = observe_extra(n, {"S": {"integral": face, "of": "1"}})
    m = n.copy()
    m.boundary[face] = {"force": [x * v["S"] for x in t]}
    return deviation(n, v, m, "force")


def weight(r, s):
    """Gravity and a rotation, and the same as a force inside."""
    if s.problem != "elasticity":
        return None
    n, m = s.copy(), s.copy()
    n.data.setdefault("density", round(r.uniform(0.5, 2), 2))
    rho = n.data["density"]
    if r.random() < 0.5:
        g = [round(r.uniform(-1, 1), 2) for _ in range(s.dim)]
        n.data["gravity"] = g
    else:
        speed, point = round(r.uniform(0.5, 2), 2), [round(r.uniform(-1, 1), 2) for _ in range(s.dim)]
        n.data["rotation"] = {"speed": speed, "point": point}
        g = ["%s*(%s-%s)" % (num(speed * speed), VARS[d], num(point[d])) for d in range(2)] + [0] * (s.dim - 2)
    m.data["f"] = [added(f, "(%s)*(%s)" % (rho, x)) for f, x in zip(s.data["f"], g)]
    v, _ = observe(n)
    return deviation(n, v, m, "weight", only="PGIEBW")


def thermal(r, s):
    """A temperature, and the loads that it is: -grad (beta T) inside, beta T n on what is not held."""
    curved = s.map or (s.domain and not s.mesh) or (s.mesh and ("2" in s.mesh.origin or s.dim == 3))
    if s.problem != "elasticity" or s.time or s.plane or curved:
        return None
    n, m = s.copy(), s.copy()
    lam, mu, alpha = (round(r.uniform(0.3, 2), 2) for _ in range(3))
    slope = [0 if x in s.periodic else round(r.uniform(-1, 1), 2) for x in VARS[: s.dim]]
    for key in ("young", "poisson"):
        n.data.pop(key, None)
    n.data.update({"lambda": lam, "mu": mu})
    m.data = dict(n.data)
    T = num(slope[0]) + "".join("+%s*%s" % (num(a), x) for a, x in zip(slope, VARS))
    n.data.update(temperature=T, expansion=alpha)
    beta = (3 * lam + 2 * mu) * alpha
    m.data["f"] = [added(f, num(-beta * a)) for f, a in zip(s.data["f"], slope)]
    for face in m.faces():
        ((kind, value),) = m.boundary[face].items()
        more = ["%s*(%s)*n%s" % (num(beta), T, VARS[d]) for d in range(s.dim)]
        if kind == "pressure":
            m.boundary[face] = {kind: added(value, "%s*(%s)" % (num(-beta), T))}
        elif kind == "traction":
            m.boundary[face] = {kind: [added(g, x) for g, x in zip(value, more)]}
        elif kind == "robin":
            m.boundary[face] = {kind: dict(value, g=[added(g, x) for g, x in zip(value["g"], more)])}
    v, _ = observe(n)
    return deviation(n, v, m, "temperature", only="PGIEB")


def words(_, s):
    """Symmetry, a roller and slip; on a face along an axis, a displacement along its normal."""
    n = s.copy()
    changed = [f for f in n.faces() if list(n.boundary[f])[0] in ("roller", "slip")]
    if not changed:
        return None
    for i, face in enumerate(changed):
        n.boundary[face] = {"symmetry": True} if s.flow or i % 2 else {"radial": 0}
    v, _ = observe(s)
    return deviation(s, v, n, "words")


def tables(r, s):
    """A force as a table, as an expression, and with constants."""
    n, m = s.copy(), s.copy()
    a, b = (round(r.uniform(-1, 1), 2) for _ in range(2))
    lower = min(c[0] for c in s.coords) - 1 - abs(s.coords[0][-1])
    upper = max(c[-1] for c in s.coords) + 1 + abs(s.coords[0][0])
    if s.periodic or s.map:
        return None
    with open(os.path.join(program.WORK, "table.csv"), "w", encoding="ascii") as file:
        for x in (lower, (lower + upper) / 3, upper):
            file.write("%r, %r\n" % (x, a + b * x))
    text, name = "%s+%s*y" % (num(a), num(b)), "curve(y)"
    n.data["f"] = [text] * s.dim if s.vector else text
    m.data["f"] = [name] * s.dim if s.vector else name
    v, _ = program.observe(n)
    c = m.case()
    c["tables"] = {"curve": {"file": "table.csv"}}
    w, _ = program.observed(program.execute(c, m.args))
    worst, what = compare(n, w, v)
    return worst / tolerance(n), "table | %s" % what, m


def deviation(n, v, m, text, only=None):
    """How far the second case is from the values of the first."""
    w, _ = observe(m)
    worst, name = compare(n, w, v, only=only)
    return worst / tolerance(n), "%s | %s" % (text, name), m


def surroundings(r, s):
    """A pressure of all openings, whatever it is in time, and pressure or normal stress, moves nothing."""
    opened = [c for c in s.boundary.values() if "pressure" in c]
    if not opened or any("outflow" in c for c in s.boundary.values()):
        return None
    n = s.copy()
    level = num(round(10 ** r.uniform(0, 4), 2))
    for name, c in n.boundary.items():
        if "pressure" in c:
            pressure = "%s+%s*(1+%s)" % (c["pressure"], level, "sin(9*t)" if s.time else "0")
            stress = ["-(%s)*%s" % (pressure, d) for d in ("nx", "ny", "nz")[: s.dim]]
            n.boundary[name] = {"outflow": stress} if r.random() < 0.5 else {"pressure": pressure}
    v, _ = observe(s)
    w, _ = observe(n)
    worst, name = compare(s, w, v, only="PGIB")
    return worst / tolerance(s), "%s | %s" % (level, name), n
