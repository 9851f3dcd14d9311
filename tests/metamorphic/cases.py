"""Draws cases of all problems, elements and meshes."""

import copy

import files
from expressions import PERIOD, VARS, evaluate, num, smooth
from meshes import FACES
from spec import Spec


def coordinates(r, n, lo, hi, graded):
    """Points of a direction."""
    if not graded:
        return [lo + (hi - lo) * i / n for i in range(n + 1)]
    w = [r.uniform(0.6, 1.6) for _ in range(n)]
    s = sum(w)
    c = [lo]
    for x in w:
        c.append(c[-1] + x / s * (hi - lo))
    c[-1] = hi
    return c


DOMAINS = [
    ({"ball": {"dim": 2}}, ["surface"]),
    ({"shell": {"dim": 2}}, ["inner", "outer"]),
    ({"l_shape": {"dim": 2}}, ["outer", "notch"]),
    ({"channel": {"dim": 2}}, ["inflow", "outflow", "walls", "cylinder"]),
    ({"fichera": {"dim": 3}}, ["outer", "notch"]),
    ({"fichera": {"dim": 2}}, ["outer", "notch"]),
    ({"ball": {"dim": 3}}, ["surface"]),
    ({"shell": {"dim": 3}}, ["inner", "outer"]),
]


DPOINTS = {
    "ball": [[0.13, -0.22, 0.31], [-0.41, 0.27, -0.11], [0.05, 0.6, 0.2]],
    "shell": [[0.63, 0.22, 0.31], [-0.61, 0.37, -0.11], [0.15, -0.7, 0.2]],
    "l_shape": [[-0.33, 0.21, 0], [0.37, 0.53, 0], [-0.27, -0.71, 0]],
    "fichera": [[-0.33, -0.21, 0.3], [-0.37, 0.53, -0.2], [0.27, -0.71, -0.6]],
    "channel": [[0.53, 0.21, 0], [0.11, 0.07, 0], [1.63, 0.33, 0]],
}


def generate(r, problem=None, dim=None, domain=None, element=None, intime=None):
    """A case; what is given is not drawn. domain: False (a box), True (another domain of the program), "file"."""
    s = Spec()
    s.problem = p = problem or r.choice(
        [
            "poisson",
            "poisson",
            "transport",
            "transport",
            "elasticity",
            "elasticity",
            "stokes",
            "stokes",
            "navier_stokes",
            "navier_stokes",
        ]
    )
    if domain is None:
        domain = r.choice([False] * 7 + [True] * 2 + ["file"] * 2)
    if domain == "file":
        files.draw(r, s, coordinates, dim)
        names = s.mesh.names()
    elif domain:
        d, names = r.choice(DOMAINS)
        if dim:
            d, names = r.choice([x for x in DOMAINS if list(x[0].values())[0]["dim"] == dim])
        s.domain = copy.deepcopy(d)
        s.dim = list(d.values())[0]["dim"]
    else:
        s.dim = dim or r.choice([2, 2, 2, 3])
    dim = s.dim
    s.element = (
        element
        or {
            "poisson": ["q", "q", "q", "dg"],
            "transport": ["q", "q", "dg"],
            "elasticity": ["q"],
            "stokes": ["rt", "rt", "q"],
            "navier_stokes": ["q", "q", "rt", "iso"],
        }[p][r.randrange({"poisson": 4, "transport": 3, "elasticity": 1, "stokes": 3, "navier_stokes": 4}[p])]
    )
    if domain:
        s.element = "q"
    lowest = 2 if s.flow and s.element == "q" else 1
    s.degree = (
        1 if s.element == "iso" else r.randint(lowest, max(lowest, (5 if dim == 2 else 3) - (1 if s.vector else 0)))
    )
    n = [r.randint(1, 6 if dim == 2 else 3) for _ in range(dim)]
    if s.element in ("rt", "dg", "iso"):
        n = [max(2, k) for k in n]
    s.graded = {d for d in range(dim) if r.random() < 0.3} if not domain else set()
    if not s.mesh:
        s.coords = [
            coordinates(r, n[d], round(r.uniform(-1, 0.5), 2), round(r.uniform(1, 2), 2), d in s.graded)
            for d in range(dim)
        ]
    if domain and not s.mesh:
        s.coords = [[-1.0, 1.0]] * dim
    if not domain:
        for d in range(dim):
            if r.random() < 0.1 and n[d] >= 3 and s.element != "iso":
                s.periodic += VARS[d]
        if len(s.periodic) == dim:
            s.periodic = s.periodic[1:]
    PERIOD.clear()
    for v in s.periodic:
        PERIOD[VARS.index(v)] = s.coords[VARS.index(v)][-1] - s.coords[VARS.index(v)][0]
    if not domain:
        if s.element == "q" and not s.periodic and r.random() < 0.3:
            s.kind = "forest"
        if s.kind == "forest":
            s.graded = set()
            s.coords = [coordinates(r, len(c) - 1, c[0], c[-1], False) for c in s.coords]
            if r.random() < 0.4:
                s.where = "%s-(%s-%s)*(%s-%s)-(y-%s)*(y-%s)" % tuple(
                    [num(round(r.uniform(0.05, 0.3), 3))] + ["x", num(0.41), "x", num(0.41), num(0.33), num(0.33)]
                )
            if r.random() < 0.3:
                s.map = mapping(r, s)
            if s.map and not s.where and r.random() < 0.3:
                s.refine = 1 if dim == 2 else 0
        elif s.element == "q" and r.random() < 0.1:
            s.kind = "box"
    timed = p == "navier_stokes" or (
        p in ("transport", "elasticity") and (r.random() < 0.5 if intime is None else intime)
    )
    boundary(r, s, names if domain else None, timed)
    coefficients(r, s, timed)
    if s.mesh:
        s.degree = min(s.degree, max(s.highest, lowest))
    elif s.domain:
        key = list(s.domain)[0]
        s.points = [q[:dim] for q in DPOINTS[key]]
        if key in ("shell", "ball") and dim == 3:
            s.degree = min(s.degree, 2)
    else:
        s.points = []
        for _ in range(3):
            q = [c[0] + (c[-1] - c[0]) * r.choice([0.237, 0.419, 0.583, 0.771]) for c in s.coords]
            s.points.append([evaluate(e, q) for e in s.map] if s.map else q)
    s.solver = {"tolerance": 1e-11 if not timed else 1e-9, "max_iterations": 300}
    if s.flow and not timed:
        s.solver["tolerance"] = 1e-10
    return s


def mapping(r, s):
    """A map that bends the box a little."""
    m = []
    for d in range(s.dim):
        o = VARS[(d + 1) % s.dim]
        m.append(
            "%s+%s*sin(%s*%s+%s)"
            % (
                VARS[d],
                num(round(r.uniform(-0.07, 0.07), 3)),
                num(round(r.uniform(0.5, 1.5), 2)),
                o,
                num(round(r.uniform(0, 3), 2)),
            )
        )
    return m


def boundary(r, s, names, timed):
    """Conditions on all boundaries; the first one holds values."""
    faces = names or [f for i, f in enumerate(FACES[: 2 * s.dim]) if VARS[i // 2] not in s.periodic]
    dim = s.dim
    E = lambda: smooth(r, dim, timed and r.random() < 0.5)
    s.boundary = {}
    straight = not names and not s.map
    if not s.vector:
        g = E()
        s.dirichlet = g
        kinds = {
            "poisson": ["dirichlet", "dirichlet", "neumann", "robin"],
            "transport": ["dirichlet", "dirichlet", "neumann", "robin", "outflow", "flux"],
        }[s.problem]
        if s.element == "dg":
            kinds = ["dirichlet", "dirichlet", "neumann"]
        for i, f in enumerate(faces):
            k = "dirichlet" if i == 0 else r.choice(kinds)
            s.boundary[f] = {
                "dirichlet": {"dirichlet": g},
                "neumann": {"neumann": E()},
                "robin": {
                    "robin": {
                        "alpha": smooth(r, dim, False, 0.2, 2) if r.random() < 0.5 else round(r.uniform(0.2, 2), 2),
                        "g": E(),
                    }
                },
                "outflow": {"outflow": 0},
                "flux": {"flux": E()},
            }[k]
    elif s.problem == "elasticity":
        # a roller beside another value would leave corners to the order of boundaries
        rollers = straight and r.random() < 0.4
        g = [0] * dim if rollers else [E() for _ in range(dim)]
        s.dirichlet = g
        for i, f in enumerate(faces):
            k = (
                "displacement"
                if i == 0
                else r.choice(
                    ["displacement", "traction", "traction", "pressure", "robin"] + (["roller"] if rollers else [])
                )
            )
            s.boundary[f] = {
                "displacement": {"displacement": g},
                "traction": {"traction": [E() for _ in range(dim)]},
                "pressure": {"pressure": E()},
                "robin": {
                    "robin": {
                        "alpha": smooth(r, dim, False, 0.2, 2) if r.random() < 0.5 else round(r.uniform(0.2, 2), 2),
                        "g": [E() for _ in range(dim)],
                    }
                },
                "roller": {"roller": True},
            }[k]
    else:
        # velocity: the same divergence-free polynomial field on all faces with values, so that corners agree
        a, b, c = (round(r.uniform(-1, 1), 2) for _ in range(3))
        g = ["%s*y+%s" % (num(a), num(b)), "%s*x+%s" % (num(c), num(a))] + (
            ["%s*y+%s*x" % (num(b), num(a))] if dim == 3 else []
        )
        rest = [0] * dim
        # where a rest wall meets a moving one corners would disagree: all at rest or all by g
        s.dirichlet = g if r.random() < 0.6 else rest
        opened = False
        for i, f in enumerate(faces):
            opens = ["outflow", "pressure"] if s.element != "iso" else []
            k = r.choice(["velocity", "velocity", "velocity"] + opens)
            if i == 0:
                k = "velocity"
            if k in ("outflow", "pressure"):
                if opened:
                    k = "velocity"
                opened = True
            s.boundary[f] = {
                "velocity": {"velocity": s.dirichlet},
                "outflow": (
                    {"outflow": 0}
                    if r.random() < 0.5 or s.element == "q"
                    else {"outflow": [smooth(r, dim) for _ in range(dim)]}
                ),
                "pressure": {"pressure": smooth(r, dim)},
            }[k]
        if s.dirichlet is rest and straight and r.random() < 0.4:
            f = faces[-1]
            if "velocity" in s.boundary[f]:
                s.boundary[f] = {"slip": True}
        if s.periodic:
            s.dirichlet = rest
            s.boundary.update({f: {"velocity": rest} for f in faces if "velocity" in s.boundary[f]})


def coefficients(r, s, timed):
    """Coefficients, forces, steps in time."""
    dim, p = s.dim, s.problem
    E = lambda: smooth(r, dim, timed and r.random() < 0.6)
    var = r.random() < 0.5 and s.element != "dg"
    if p in ("poisson", "transport"):
        s.data = {"f": E(), "a": smooth(r, dim, False, 0.3, 2) if var else round(r.uniform(0.3, 3), 2)}
        if s.element == "q" and r.random() < 0.15 and not s.periodic:
            s.data["a"] = [smooth(r, dim, False, 0.3, 2) for _ in range(dim)]
        if r.random() < 0.5:
            s.data["c"] = smooth(r, dim, False, 0.1, 2) if var else round(r.uniform(0.1, 2), 2)
        if p == "transport":
            s.data["b"] = [
                smooth(r, dim, timed and r.random() < 0.2) if r.random() < 0.6 else round(r.uniform(-1, 1), 2)
                for _ in range(dim)
            ]
            if s.element == "q":
                s.stab = "none" if r.random() < 0.5 else "auto"
            if s.stab == "none" and not timed and not isinstance(s.data["a"], list):
                s.data["a"] = 2.5
            if r.random() < 0.3:
                s.form = "conservative"
    elif p == "elasticity":
        if r.random() < 0.5:
            s.data = {
                "lambda": smooth(r, dim, False, 0.5, 2) if var else round(r.uniform(0.5, 2), 2),
                "mu": smooth(r, dim, False, 0.5, 2) if var else round(r.uniform(0.5, 2), 2),
            }
        else:
            s.data = {
                "young": smooth(r, dim, False, 0.5, 2) if var else round(r.uniform(0.5, 2), 2),
                "poisson": round(r.uniform(-0.3, 0.4), 2),
            }
        s.data["f"] = [E() for _ in range(dim)]
        if dim == 2 and r.random() < 0.3:
            s.plane = "stress"
        if timed:
            s.data["density"] = smooth(r, dim, False, 0.5, 2) if var else round(r.uniform(0.5, 2), 2)
    else:
        s.data = {
            "f": [E() for _ in range(dim)],
            "nu": (
                smooth(r, dim, False, 0.5, 2)
                if p == "stokes" and s.element == "rt" and r.random() < 0.2
                else round(r.uniform(0.2, 2), 2)
            ),
        }
        if p == "stokes" and r.random() < 0.3:
            s.data["alpha"] = round(r.uniform(0.1, 5), 2)
        if p == "stokes" and s.element == "rt" and r.random() < 0.2:
            s.form = "symmetric"
    if timed:
        steps = r.randint(2, 5)
        dt = {"transport": 0.05, "elasticity": 0.1, "navier_stokes": 0.01}[p]
        if s.element == "iso":
            dt = 1e-3
        m = {
            "transport": [
                "auto",
                "backward_euler",
                "crank_nicolson",
                "bdf2",
                "bdf3",
                "bdf4",
                "sdirk2",
                "sdirk3",
                "imex_bdf2",
            ],
            "elasticity": ["auto", "backward_euler", "newmark", "generalized_alpha"],
            "navier_stokes": ["auto"],
        }[p]
        if p == "navier_stokes" and s.element == "rt":
            m = ["imex_bdf2", "imex_bdf3"]
        s.time = {"start": 0.0, "end": dt * steps, "step": dt, "method": r.choice(m)}
        if p == "transport":
            s.data["initial"] = s.dirichlet
        elif p == "elasticity":
            s.data["initial"] = {"displacement": s.dirichlet, "velocity": [smooth(r, dim) for _ in range(dim)]}
        else:
            s.data["initial"] = {"velocity": s.dirichlet}
