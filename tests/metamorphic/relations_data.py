"""Relations of data: the same problem said in two ways."""

from compare import compare, group_scales, tolerance
from expressions import VARS, num
from meshes import FACES
from program import observe


def superposition(r, s):
    """u(all data) = u(f) + u(boundary data)."""
    if s.problem == "navier_stokes" or s.element == "iso":
        return None
    if s.flow and s.domain:
        return None
    if s.flow:
        s = s.copy()
        s.solver["tolerance"] = 1e-12  # the errors of three solves are added

    def zero(s, which):
        n = s.copy()
        z = lambda v: [z(x) for x in v] if isinstance(v, list) else 0
        if which == "f":
            n.data["f"] = z(n.data["f"])
        else:
            for c in n.boundary.values():
                for k in c:
                    if k == "robin":
                        c[k]["g"] = z(c[k]["g"])
                    elif k not in ("slip", "roller"):
                        c[k] = z(c[k])
            if "initial" in n.data:
                n.data["initial"] = (
                    {k: z(v) for k, v in n.data["initial"].items()} if isinstance(n.data["initial"], dict) else 0
                )
        return n

    v, _ = observe(s)
    a, _ = observe(zero(s, "f"))
    b, _ = observe(zero(s, "g"))
    w = {k: a[k] + b[k] for k in v}
    worst, name = compare(s, w, v, only="PGIQJB")
    sc, sa = group_scales(s, v), group_scales(s, a)
    return worst / (tolerance(s) * max(1, sa["P"] / sc["P"], sa["Q"] / sc["Q"] if sc["Q"] else 1)), name, s


def conditions(r, s):
    """Conditions that say the same in two ways."""
    n = s.copy()
    changed = []
    dim = s.dim
    flat = s.mesh.flat if s.mesh else not s.domain and not s.map  # sides have the names and normals of a box
    for f in list(n.boundary):
        if not s.domain and f not in s.faces():
            continue
        c = n.boundary[f]
        k = list(c)[0]
        if k == "neumann" and s.element == "q":
            n.boundary[f] = {"robin": {"alpha": 0, "g": c[k]}}
        elif k == "outflow" and s.problem == "transport" and s.form != "conservative":
            n.boundary[f] = {"neumann": 0}
        elif k == "traction":
            n.boundary[f] = {"robin": {"alpha": 0, "g": c[k]}}
        elif k == "pressure" and s.problem == "elasticity":
            n.boundary[f] = {"traction": ["-(%s)*n%s" % (c[k], VARS[d]) for d in range(dim)]}
        elif k == "pressure" and s.problem == "stokes" and flat:
            n.boundary[f] = {
                "outflow": [
                    "%d*(%s)" % (1 - FACES.index(f) % 2 * 2, c[k]) if d == FACES.index(f) // 2 else 0
                    for d in range(dim)
                ]
            }
        elif k == "roller" and not s.domain:
            d = FACES.index(f) // 2
            n.boundary[f] = {"displacement": [0 if i == d else None for i in range(dim)]}
        elif k == "slip" and not s.domain and s.element == "q" and s.problem == "navier_stokes":
            d = FACES.index(f) // 2
            n.boundary[f] = {"velocity": [0 if i == d else None for i in range(dim)]}
        else:
            continue
        changed.append(k)
    if not changed:
        return None
    v, _ = observe(s)
    w, _ = observe(n)
    worst, name = compare(s, w, v)
    return worst / tolerance(s), "%s | %s" % (changed, name), n


def coefficients_again(r, s):
    """Coefficients that say the same in two ways."""
    n = s.copy()
    D = n.data
    what = []
    if "young" in D:
        E, v = D.pop("young"), D.pop("poisson")
        D["lambda"] = "(%s)*%s/((1+%s)*(1-2*%s))" % (E, num(v), num(v), num(v))
        D["mu"] = "(%s)/(2*(1+%s))" % (E, num(v))
        what.append("young")
    elif "lambda" in D:
        l, m = D.pop("lambda"), D.pop("mu")
        D["young"] = "(%s)*(3*(%s)+2*(%s))/((%s)+(%s))" % (m, l, m, l, m)
        D["poisson"] = "(%s)/(2*((%s)+(%s)))" % (l, l, m)
        what.append("lambda")
    if "a" in D and s.element == "q" and not isinstance(D["a"], list) and not s.periodic and r.random() < 0.7:
        D["a"] = [D["a"]] * s.dim
        what.append("matrix")
    elif isinstance(D.get("a"), list):
        D["a"] = [[D["a"][i] if i == j else 0 for j in range(s.dim)] for i in range(s.dim)]
        what.append("rows")
    for k in ("nu", "c", "a", "density"):
        if (
            isinstance(D.get(k), (int, float))
            and not (s.problem == "navier_stokes")
            and s.element == "q"
            and r.random() < 0.5
            and D[k]
        ):
            D[k] = "%s+0*x" % num(D[k])
            what.append(k + " varies")
    if s.problem == "poisson" and s.element == "q":
        n.problem = "transport"
        what.append("transport")
        n.stab = "none"
    if not what:
        return None
    v, _ = observe(s)
    w, _ = observe(n)
    worst, name = compare(s, w, v)
    return worst / tolerance(s), "%s | %s" % (what, name), n


def steady_state(r, s):
    """The end of a long run and the solution at rest."""
    if s.problem != "transport" or s.time or s.element == "dg" or s.stab == "auto":
        return None
    n = s.copy()
    n.time = {"start": 0.0, "end": 1e6, "step": 1e5, "method": r.choice(["backward_euler", "bdf2", "sdirk2"])}
    n.data["initial"] = 0
    n.solver["tolerance"] = 1e-10
    n.solver["tolerance_of"] = "load"
    v, _ = observe(s)
    w, _ = observe(n)
    worst, name = compare(s, w, v)
    return worst / 1e-4 if n.time["method"] == "bdf2" else worst / 1e-5, "%s | %s" % (n.time["method"], name), n
