"""Units and axes: a case and its values after a change of all units, axes and the origin."""

from expressions import VARS, num, scaled, substitute
from meshes import FACES


def transform(s, perm=None, sign=None, length=1.0, shift=None, A=1.0, U=1.0, T=1.0, t0=0.0):
    """The case in other units and axes, and the function that maps its observables.

    x'_j = length sign_j x_perm[j] + shift_j, t' = T t + t0, u' = U u, the coefficient of diffusion times A.
    """
    dim = s.dim
    perm = perm or list(range(dim))
    sign = sign or [1] * dim
    shift = shift or [0.0] * dim
    if s.problem == "transport" and s.time:
        A = length * length / T
    if s.problem == "navier_stokes":
        A = length * length / T
        U = length / T
    n = s.copy()
    inverse = {}  # old variable -> expression in the new ones
    for j in range(dim):
        i = perm[j]
        e = VARS[j] if not shift[j] else "(%s-%s)" % (VARS[j], num(shift[j]))
        if length != 1:
            e = "(%s/%s)" % (e, num(length))
        inverse[VARS[i]] = e if sign[j] > 0 else "(-%s)" % e
        inverse["n" + VARS[i]] = "n" + VARS[j] if sign[j] > 0 else "(-n%s)" % VARS[j]
    if T != 1 or t0:
        inverse["t"] = "((t-%s)/%s)" % (num(t0), num(T))
    S = lambda e, c=1.0: (
        None if e is None else e * c if isinstance(e, (int, float)) else scaled(substitute(e, inverse), c)
    )
    V = lambda l, c=1.0: [S(l[perm[j]], c * sign[j]) for j in range(dim)]
    if s.mesh:
        n.mesh = s.mesh.moved(lambda x: [length * sign[j] * x[perm[j]] + shift[j] for j in range(dim)])
    if not s.domain:
        n.coords = []
        for j in range(dim):
            c = [length * sign[j] * x + shift[j] for x in s.coords[perm[j]]]
            n.coords.append(c if sign[j] > 0 else c[::-1])
        n.graded = {j for j in range(dim) if perm[j] in s.graded}
        n.periodic = "".join(v for v in VARS if v in [VARS[j] for j in range(dim) if VARS[perm[j]] in s.periodic])
        face = lambda f: FACES[
            2 * perm.index(FACES.index(f) // 2)
            + ((FACES.index(f) % 2) if sign[perm.index(FACES.index(f) // 2)] > 0 else 1 - FACES.index(f) % 2)
        ]
    else:
        face = lambda f: f
        key = list(s.domain)[0]
        if key in ("ball", "shell"):
            n.domain[key]["centre"] = list(shift)
            n.domain[key]["radius"] = length
        n.coords = [[x * length for x in c] for c in s.coords]  # for sizes alone
    if s.map:
        fresh = []
        for j in range(dim):
            e = "%s*(%s)" % (num(length * sign[j]), substitute(s.map[perm[j]], inverse))
            fresh.append(e if not shift[j] else "%s+(%s)" % (num(shift[j]), e))
        n.map = fresh
    if s.where:
        n.where = S(s.where)
    D = n.data
    flux = A * U / length
    if s.problem in ("poisson", "transport"):
        D["f"] = S(D["f"], A * U / length**2)
        D["a"] = [S(D["a"][perm[j]], A) for j in range(dim)] if isinstance(D["a"], list) else S(D["a"], A)
        if "c" in D:
            D["c"] = S(D["c"], A / length**2)
        if "b" in D:
            D["b"] = V(D["b"], A / length)
        if "initial" in D:
            D["initial"] = S(D["initial"], U)
    elif s.problem == "elasticity":
        for k in ("lambda", "mu", "young"):
            if k in D:
                D[k] = S(D[k], A)
        if "poisson" in D:
            D["poisson"] = S(D["poisson"])
        if "density" in D:
            D["density"] = S(D["density"], A * T * T / length**2)
        D["f"] = V(D["f"], A * U / length**2)
        if "initial" in D:
            D["initial"] = {
                "displacement": V(D["initial"]["displacement"], U),
                "velocity": V(D["initial"]["velocity"], U / T),
            }
    else:
        D["nu"] = S(D["nu"], A)
        D["f"] = V(D["f"], A * U / length**2)
        if "alpha" in D:
            D["alpha"] = D["alpha"] * A / length**2
        if "initial" in D:
            D["initial"] = {"velocity": V(D["initial"]["velocity"], U)}
    if "exact" in D:
        D["exact"] = (
            {"velocity": V(D["exact"]["velocity"], U), "pressure": S(D["exact"]["pressure"], flux)}
            if s.flow
            else V(D["exact"], U) if s.vector else S(D["exact"], U)
        )
    nb = {}
    for f, c in s.boundary.items():
        if not s.domain and f not in s.faces():
            continue
        k = list(c)[0]
        v = c[k]
        if k == "dirichlet":
            v = S(v, U)
        elif k in ("neumann", "flux"):
            v = S(v, flux)
        elif k == "robin":
            v = {"alpha": S(v["alpha"], A / length), "g": V(v["g"], flux) if s.vector else S(v["g"], flux)}
        elif k in ("displacement", "velocity"):
            v = V(v, U)
        elif k == "traction":
            v = V(v, flux)
        elif k == "pressure":
            v = S(v, flux)
        elif k == "outflow" and isinstance(v, list):
            v = V(v, flux)
        nb[face(f)] = {k: v}
    n.boundary = nb
    n.points = [[length * sign[j] * p[perm[j]] + shift[j] for j in range(dim)] for p in s.points]
    if s.time:
        n.time["start"] = s.time["start"] * T + t0
        n.time["end"] = s.time["end"] * T + t0
        n.time["step"] = s.time["step"] * T
    vol, area = length**dim, length ** (dim - 1)

    def predict(v):
        w = {}
        for k, x in v.items():
            g = k[0]
            parts = k.split("_")

            def vec(name, c):  # (new name, sign) of a component
                i = ["u", "v", "w"].index(name)
                if not s.vector:
                    return "u", 1
                j = perm.index(i)
                return ["u", "v", "w"][j], sign[j]

            if g == "P":
                c, q = vec(parts[1], 1)
                w["%s_%s" % (parts[0], c)] = x * U * q
            elif g == "G":
                c, q = vec(parts[1][0], 1)
                j = perm.index(VARS.index(parts[1][1]))
                w["G0_%s%s" % (c, VARS[j])] = x * U * q * sign[j] / length
            elif g == "I":
                c, q = vec(parts[1], 1)
                w["I_" + c] = x * U * q * vol
            elif g == "E":
                w[k] = x * U * U * vol
            elif g == "Q":
                w[k] = x * flux
            elif g == "J":
                w[k] = x * flux * vol
            elif g == "W":
                w[k] = x * flux * U / length * vol
            elif g == "B":
                c, q = vec(parts[2], 1)
                w["B_%s_%s" % (face(parts[1]), c)] = x * U * q * area
            elif g == "F":
                j = perm.index(VARS.index(parts[2]))
                w["F_%s_%s" % (face(parts[1]), VARS[j])] = x * flux * sign[j] * area
        return w

    return n, predict
