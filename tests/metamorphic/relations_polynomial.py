"""Relations of polynomials: a solution that is in the space is found."""

import math

from expressions import VARS, Poly
from meshes import FACES
from program import observe


def polynomial(r, s):
    """Solutions that are in the space are reproduced."""
    if s.map or s.domain and list(s.domain)[0] in ("ball", "shell", "channel") or s.periodic or s.element == "iso":
        return None
    if s.time and s.time["method"] == "imex_bdf2" and s.problem == "transport":
        return None  # its first step takes the velocity's term from the old time
    if s.mesh and (not s.mesh.flat or s.dim == 3 or "2" in s.mesh.origin or s.problem == "navier_stokes"):
        return None  # bilinear cells have the polynomials of total degree k
    n = s.copy()
    n.form = None
    n.plane = None
    n.stab = r.choice(["none", "supg"]) if s.problem == "transport" and s.element == "q" else None
    n.boundary = {}
    # the degree of all variables together
    total = s.degree if s.mesh else None
    fill = flow if s.flow else elastic if s.vector else scalar
    names = list(s.boundary) if s.domain else s.faces()
    if not fill(r, s, n, names, total):
        return None
    if s.time:
        n.solver["tolerance"] = 1e-10
        n.time.pop("rho_inf", None)
    return errors_of(s, n)


def errors_of(s, n):
    """The errors that are reported, relative to the solution."""
    v, rep = observe(n)
    worst, name = 0, ""
    for key in ["velocity_l2", "pressure_l2"] if s.flow else ["l2"]:
        scale = math.sqrt(v["E"]) + 1e-30
        if "pressure" in key:
            scale += max(abs(v[x]) for x in v if x[0] == "Q") * math.sqrt(s.volume())
        error = rep["errors"][key]
        error = 1e9 if error is None else error / scale
        if not error <= worst:
            worst, name = error, "errors.%s = %s of %.3g" % (key, rep["errors"][key], scale)
    return worst / (1e-7 if not s.time else 2e-6), name, n


def constant(r, lo, hi):
    """A random number as a polynomial."""
    return Poly({(0, 0, 0, 0): round(r.uniform(lo, hi), 2)})


def texts(polynomials):
    """Polynomials as expressions."""
    return [str(p) for p in polynomials]


def along_normal(polynomials):
    """The product with the normal."""
    return "+".join("(%s)*n%s" % (p, VARS[d]) for d, p in enumerate(polynomials))


def scalar(r, s, n, names, total):
    """Poisson and transport."""
    dim = s.dim
    u = Poly.random(r, dim, s.degree, 1 if s.time else 0, 3, total)
    a = constant(r, 1, 3)
    c = constant(r, 0, 2) if r.random() < 0.5 else Poly()
    if s.problem == "poisson" and s.element == "q" and r.random() < 0.5:
        a = Poly({(0, 0, 0, 0): 3.0, (1, 0, 0, 0): 0.4, (0, 1, 0, 0): -0.3})
    fast = 10 ** r.uniform(0, 3) if n.stab == "supg" else 1
    b = [constant(r, -fast, fast) if s.problem == "transport" else Poly() for _ in range(dim)]
    f = c * u
    for d in range(dim):
        f = f - (a * u.d(d)).d(d) + b[d] * u.d(d)
    if s.time:
        f = f + u.d(3)
    n.data = {"f": str(f), "a": str(a), "c": str(c), "exact": str(u)}
    kinds = ["dirichlet", "neumann"]
    if s.problem == "transport":
        n.data["b"] = texts(b)
        kinds = ["dirichlet", "neumann", "flux"] if s.element == "q" else ["dirichlet"]
    if s.element == "q":
        kinds.append("robin")
    flux = "(%s)*(%s)" % (a, along_normal([u.d(d) for d in range(dim)]))
    for i, name in enumerate(names):
        kind = "dirichlet" if i == 0 else r.choice(kinds)
        n.boundary[name] = {
            "dirichlet": {"dirichlet": "exact"},
            "neumann": {"neumann": flux},
            "robin": {"robin": {"alpha": 1.5, "g": "%s+1.5*(%s)" % (flux, u)}},
            "flux": {"flux": "%s-(%s)*(%s)" % (flux, along_normal(b), u)},
        }[kind]
    return True


def elastic(r, s, n, names, total):
    """Elasticity."""
    dim = s.dim
    u = [Poly.random(r, dim, s.degree, 1 if s.time else 0, 3, total) for _ in range(dim)]
    lam, mu, rho = constant(r, 0.5, 2), constant(r, 0.5, 2), constant(r, 0.5, 2)
    div = Poly()
    for d in range(dim):
        div = div + u[d].d(d)
    stress = []
    f = []
    for i in range(dim):
        row = [mu * (u[i].d(j) + u[j].d(i)) + (lam * div if i == j else Poly()) for j in range(dim)]
        g = rho * u[i].d(3).d(3) if s.time else Poly()
        for j in range(dim):
            g = g - row[j].d(j)
        stress.append(row)
        f.append(g)
    n.data = {"lambda": str(lam), "mu": str(mu), "f": texts(f), "exact": texts(u)}
    if s.time:
        n.data["density"] = str(rho)
        n.data["initial"] = {"displacement": texts(u), "velocity": texts(x.d(3) for x in u)}
    traction = [along_normal(row) for row in stress]
    for i, name in enumerate(names):
        kind = "displacement" if i == 0 else r.choice(["displacement", "traction", "robin"])
        n.boundary[name] = {
            "displacement": {"displacement": "exact"},
            "traction": {"traction": traction},
            "robin": {"robin": {"alpha": 1.5, "g": ["%s+1.5*(%s)" % (t, x) for t, x in zip(traction, u)]}},
        }[kind]
    return True


def flow(r, s, n, names, total):
    """Flows: the velocity is the curl of a polynomial in the plane."""
    dim, k = s.dim, s.degree
    psi = Poly.random(r, dim, k, 0, 3, total and total + 1)
    u = [psi.d(1), -psi.d(0)] + ([Poly()] if dim == 3 else [])
    p = Poly.random(r, dim, k if s.element == "rt" else k - 1, 0, 3, total and total - 1)
    nu = constant(r, 0.3, 2)
    alpha = constant(r, 0, 2) if s.problem == "stokes" else Poly()
    f = []
    for i in range(dim):
        g = alpha * u[i] + p.d(i)
        for j in range(dim):
            g = g - nu * u[i].d(j).d(j)
            if s.problem == "navier_stokes":
                g = g + u[j] * u[i].d(j)
        f.append(g)
    n.data = {"nu": str(nu), "f": texts(f), "exact": {"velocity": texts(u), "pressure": str(p)}}
    if s.problem == "stokes":
        n.data["alpha"] = str(alpha)
    if s.time:
        n.data["initial"] = {"velocity": texts(u), "pressure": str(p)}
    opened = s.domain or s.time
    for i, name in enumerate(names):
        n.boundary[name] = {"velocity": "exact"}
        if i and not opened and r.random() < 0.4:
            d, way = FACES.index(name) // 2, FACES.index(name) % 2 * 2 - 1
            stress = ["%d*((%s)*(%s)-(%s))" % (way, nu, u[c].d(d), p if c == d else 0) for c in range(dim)]
            n.boundary[name] = {"outflow": stress}
            opened = True
    return any(x.c for x in u)
