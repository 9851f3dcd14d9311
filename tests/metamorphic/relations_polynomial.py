"""Relations of polynomials: a solution that is in the space is found."""

import math

from expressions import VARS, Poly
from meshes import FACES
from program import observe


def polynomial(r, s):
    """Solutions that are in the space are reproduced."""
    dim, k = s.dim, s.degree
    if s.map or s.domain and list(s.domain)[0] in ("ball", "shell", "channel") or s.periodic or s.element == "iso":
        return None
    if s.time and s.time["method"] == "imex_bdf2" and s.problem == "transport":
        return None  # its first step takes the velocity's term from the old time
    if s.mesh and (not s.mesh.flat or s.dim == 3 or "2" in s.mesh.origin or s.problem == "navier_stokes"):
        return None  # bilinear cells have the polynomials of total degree k
    total = k if s.mesh else None
    n = s.copy()
    n.form = None
    n.plane = None
    n.stab = "none" if s.problem == "transport" and s.element == "q" else None
    timed = 1 if s.time else 0
    P = lambda deg, terms=3: Poly.random(r, dim, deg, timed, terms, total)
    C = lambda lo, hi: Poly({(0, 0, 0, 0): round(r.uniform(lo, hi), 2)})
    bnd = {}
    names = s.boundary if s.domain else s.faces()
    if s.problem in ("poisson", "transport"):
        u = P(k)
        a = C(1, 3)
        c = C(0, 2) if r.random() < 0.5 else Poly()
        if s.problem == "poisson" and s.element == "q" and r.random() < 0.5:
            a = Poly({(0, 0, 0, 0): 3.0, (1, 0, 0, 0): 0.4, (0, 1, 0, 0): -0.3})
        b = [C(-1, 1) for _ in range(dim)] if s.problem == "transport" else []
        f = c * u
        for d in range(dim):
            f = f - (a * u.d(d)).d(d)
            if b:
                f = f + b[d] * u.d(d)
        if timed:
            f = f + u.d(3)
        n.data = {"f": str(f), "a": str(a), "c": str(c), "exact": str(u)}
        if b:
            n.data["b"] = [str(x) for x in b]
        grad = "+".join("(%s)*n%s" % (u.d(d), VARS[d]) for d in range(dim))
        for i, q in enumerate(names):
            kind = (
                "dirichlet"
                if i == 0
                else r.choice(
                    ["dirichlet", "neumann"]
                    + (["robin"] if s.element == "q" else [])
                    + (["flux"] if b and s.element == "q" else [])
                )
            )
            if s.element == "dg" and b and kind == "neumann":
                kind = "dirichlet"
            bnd[q] = {
                "dirichlet": {"dirichlet": "exact"},
                "neumann": {"neumann": "(%s)*(%s)" % (a, grad)},
                "robin": {"robin": {"alpha": 1.5, "g": "(%s)*(%s)+1.5*(%s)" % (a, grad, u)}},
                "flux": {
                    "flux": "(%s)*(%s)-(%s)*(%s)"
                    % (a, grad, "+".join("(%s)*n%s" % (b[d], VARS[d]) for d in range(dim)) if b else "0", u)
                },
            }[kind]
        key = ["l2"]
    elif s.problem == "elasticity":
        u = [P(k) for _ in range(dim)]
        lam, mu = C(0.5, 2), C(0.5, 2)
        rho = C(0.5, 2)
        if timed:
            u = [Poly({q: v for q, v in x.c.items()}) for x in u]
        div = Poly()
        for d in range(dim):
            div = div + u[d].d(d)
        sig = [
            [mu * (u[i].d(j) + u[j].d(i)) + (lam * div if i == j else Poly()) for j in range(dim)] for i in range(dim)
        ]
        f = []
        for i in range(dim):
            g = Poly()
            for j in range(dim):
                g = g - sig[i][j].d(j)
            f.append(g + (rho * u[i].d(3).d(3) if timed else Poly()))
        n.data = {"lambda": str(lam), "mu": str(mu), "f": [str(x) for x in f], "exact": [str(x) for x in u]}
        if timed:
            n.data["density"] = str(rho)
            n.data["initial"] = {"displacement": [str(x) for x in u], "velocity": [str(x.d(3)) for x in u]}
        for i, q in enumerate(names):
            kind = "displacement" if i == 0 else r.choice(["displacement", "traction", "robin"])
            trac = ["+".join("(%s)*n%s" % (sig[a][b], VARS[b]) for b in range(dim)) for a in range(dim)]
            bnd[q] = {
                "displacement": {"displacement": "exact"},
                "traction": {"traction": trac},
                "robin": {"robin": {"alpha": 1.5, "g": ["%s+1.5*(%s)" % (trac[a], u[a]) for a in range(dim)]}},
            }[kind]
        key = ["l2"]
    else:
        psi = Poly.random(r, dim, k, 0, 3, total and total + 1)
        u = [psi.d(1), -psi.d(0)] + ([Poly()] if dim == 3 else [])
        p = Poly.random(r, dim, k if s.element == "rt" else k - 1, 0, 3, total and total - 1)
        nu = C(0.3, 2)
        alpha = C(0, 2) if s.problem == "stokes" else Poly()
        f = []
        for i in range(dim):
            g = alpha * u[i] + p.d(i)
            for j in range(dim):
                g = g - nu * u[i].d(j).d(j)
                if s.problem == "navier_stokes":
                    g = g + u[j] * u[i].d(j)
            f.append(g)
        if all(not x.c for x in u):
            return None
        n.data = {
            "nu": str(nu),
            "f": [str(x) for x in f],
            "exact": {"velocity": [str(x) for x in u], "pressure": str(p)},
        }
        if s.problem == "stokes":
            n.data["alpha"] = str(alpha)
        if timed:
            n.data["initial"] = {"velocity": [str(x) for x in u], "pressure": str(p)}
        opened = False
        for i, q in enumerate(names):
            bnd[q] = {"velocity": "exact"}
            if i and not opened and r.random() < 0.4 and not timed:
                if s.domain:
                    continue
                o, w = FACES.index(q) // 2, FACES.index(q) % 2 * 2 - 1
                bnd[q] = {
                    "outflow": ["%d*((%s)*(%s)-(%s))" % (w, nu, u[a].d(o), p if a == o else 0) for a in range(dim)]
                }
                opened = True
        key = ["velocity_l2", "pressure_l2"]
    n.boundary = bnd
    if s.time:
        n.solver["tolerance"] = 1e-10
        n.time.pop("rho_inf", None)
    v, rep = observe(n)
    worst, name = 0, ""
    for q in key:
        e = rep["errors"][q]
        scale = (
            math.sqrt(v["E"])
            if "pressure" not in q
            else max(abs(v[x]) for x in v if x[0] == "Q") * math.sqrt(s.volume()) + math.sqrt(v["E"])
        )
        if e is None or not e / (scale + 1e-30) <= worst:
            worst, name = (e / (scale + 1e-30) if e is not None else 1e9), "errors.%s = %s of %.3g" % (q, e, scale)
    return worst / (1e-7 if not s.time else 2e-6), name, n
