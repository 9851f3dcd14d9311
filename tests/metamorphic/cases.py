"""Draws cases of all problems, elements and meshes."""

import copy
import math

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


ELEMENTS = {
    "poisson": ["q", "q", "q", "dg"],
    "transport": ["q", "q", "dg"],
    "elasticity": ["q"],
    "stokes": ["rt", "rt", "q"],
    "navier_stokes": ["q", "q", "rt", "iso"],
}
METHODS = {
    "transport": "auto backward_euler crank_nicolson bdf2 bdf3 bdf4 sdirk2 sdirk3 imex_bdf2".split(),
    "elasticity": ["auto", "backward_euler", "newmark", "generalized_alpha"],
    "navier_stokes": ["auto"],
}


def generate(r, problem=None, dim=None, domain=None, element=None, intime=None, periodic=False):
    """A case; what is given is not drawn. domain: False (a box), True (another domain of the program), "file"."""
    s = Spec()
    s.problem = problem or r.choice(["poisson", "transport", "elasticity", "stokes", "navier_stokes"])
    if domain is None:
        domain = r.choice([False] * 7 + [True] * 2 + ["file"] * 2)
    names = draw_domain(r, s, domain, dim)
    s.element = element or r.choice(ELEMENTS[s.problem])
    if domain:
        s.element = "q"
    lowest = 2 if s.flow and s.element == "q" else 1
    s.degree = r.randint(lowest, max(lowest, (5 if s.dim == 2 else 3) - (1 if s.vector else 0)))
    if s.element == "iso":
        s.degree = 1
    PERIOD.clear()
    if not domain:
        draw_box(r, s, periodic)
    elif s.mesh:
        s.degree = min(s.degree, max(s.highest, lowest))
    elif s.dim == 3:
        s.degree = min(s.degree, 2)
    timed = s.problem == "navier_stokes" or (
        s.problem in ("transport", "elasticity") and (r.random() < 0.5 if intime is None else intime)
    )
    boundary(r, s, names, timed)
    coefficients(r, s, timed)
    s.solver = {"tolerance": 1e-9 if timed else 1e-10 if s.flow else 1e-11, "max_iterations": 300}
    if s.problem == "stokes" and s.element == "q":
        s.solver["tolerance"] = 1e-12  # pressures are determined less well than velocities
    return s


def draw_domain(r, s, domain, dim):
    """Chooses a domain and its dimensions; returns the names of its boundaries, None for a box."""
    if domain == "file":
        files.draw(r, s, coordinates, dim)
        return s.mesh.names()
    s.dim = dim or r.choice([2, 2, 2, 3])
    if not domain:
        return None
    chosen, names = r.choice([x for x in DOMAINS if list(x[0].values())[0]["dim"] == s.dim])
    s.domain = copy.deepcopy(chosen)
    s.coords = [[-1.0, 1.0]] * s.dim
    s.points = [q[: s.dim] for q in DPOINTS[list(chosen)[0]]]
    return names


def draw_box(r, s, periodic):
    """A box: periodic, graded, a forest with hanging nodes, mapped."""
    dim = s.dim
    n = [r.randint(1, 6 if dim == 2 else 3) for _ in range(dim)]
    if s.element in ("rt", "dg", "iso") or s.flow:  # a row of cells with walls all round leaves pressures free
        n = [max(2, k) for k in n]
    ends = [(round(r.uniform(-1, 0.5), 2), round(r.uniform(1, 2), 2)) for _ in range(dim)]
    if s.problem == "stokes" and s.element == "q":
        # pressures of a row of long cells are all but undetermined: a solve to 1e-10 gives four of their digits
        least = min((hi - lo) / k for k, (lo, hi) in zip(n, ends))
        n = [max(k, math.ceil((hi - lo) / (5 * least))) for k, (lo, hi) in zip(n, ends)]
    s.graded = {d for d in range(dim) if r.random() < 0.3}
    s.coords = [coordinates(r, n[d], *ends[d], d in s.graded) for d in range(dim)]
    for d in range(dim):
        if r.random() < (0.8 if periodic else 0.1) and n[d] >= 3 and s.element != "iso":
            s.periodic += VARS[d]
    if len(s.periodic) == dim:
        s.periodic = s.periodic[1:]
    for v in s.periodic:
        d = VARS.index(v)
        PERIOD[d] = s.coords[d][-1] - s.coords[d][0]
    if s.element == "q" and not s.periodic and r.random() < 0.3:
        draw_forest(r, s)
    elif s.element == "q" and r.random() < 0.1:
        s.kind = "box"
    for _ in range(3):
        q = [c[0] + (c[-1] - c[0]) * r.choice([0.237, 0.419, 0.583, 0.771]) for c in s.coords]
        s.points.append([evaluate(e, q) for e in s.map] if s.map else q)


def draw_forest(r, s):
    """A box of trees."""
    s.kind = "forest"
    s.graded = set()
    s.coords = [coordinates(r, len(c) - 1, c[0], c[-1], False) for c in s.coords]
    if r.random() < 0.4:
        s.where = "%s-(x-0.41)*(x-0.41)-(y-0.33)*(y-0.33)" % num(round(r.uniform(0.05, 0.3), 3))
    if r.random() < 0.3:
        s.map = mapping(r, s)
    if s.map and not s.where and r.random() < 0.3:
        s.refine = 1 if s.dim == 2 else 0


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


def draw_alpha(r, dim):
    """A Robin coefficient."""
    return smooth(r, dim, False, 0.2, 2) if r.random() < 0.5 else round(r.uniform(0.2, 2), 2)


def draw_coefficient(r, dim, varies, lo, hi):
    """A coefficient between two numbers."""
    return smooth(r, dim, False, lo, hi) if varies else round(r.uniform(lo, hi), 2)


def boundary(r, s, names, timed):
    """Conditions on all boundaries; the first one holds values."""
    faces = names or [f for i, f in enumerate(FACES[: 2 * s.dim]) if VARS[i // 2] not in s.periodic]
    s.boundary = {}
    fill = boundary_of_flow if s.flow else boundary_of_body if s.vector else boundary_of_scalar
    fill(r, s, faces, not names and not s.map, timed)


def boundary_of_scalar(r, s, faces, straight, timed):
    """Poisson and transport."""
    draw = lambda: smooth(r, s.dim, timed and r.random() < 0.5)
    s.dirichlet = draw()
    kinds = ["dirichlet", "dirichlet", "neumann", "robin"]
    if s.problem == "transport":
        kinds += ["outflow", "flux"]
    if s.element == "dg":
        kinds = ["dirichlet", "dirichlet", "neumann"]
    for i, face in enumerate(faces):
        kind = "dirichlet" if i == 0 else r.choice(kinds)
        value = {"dirichlet": s.dirichlet, "outflow": 0, "neumann": draw(), "flux": draw()}
        value["robin"] = {"alpha": draw_alpha(r, s.dim), "g": draw()}
        s.boundary[face] = {kind: value[kind]}


def boundary_of_body(r, s, faces, straight, timed):
    """Elasticity."""
    draw = lambda: smooth(r, s.dim, timed and r.random() < 0.5)
    # a roller beside another value would leave corners to the order of boundaries
    rollers = straight and r.random() < 0.4
    s.dirichlet = [0] * s.dim if rollers else [draw() for _ in range(s.dim)]
    kinds = ["displacement", "traction", "traction", "pressure", "robin"] + (["roller"] if rollers else [])
    for i, face in enumerate(faces):
        kind = "displacement" if i == 0 else r.choice(kinds)
        value = {"displacement": s.dirichlet, "roller": True, "pressure": draw()}
        value["traction"] = [draw() for _ in range(s.dim)]
        value["robin"] = {"alpha": draw_alpha(r, s.dim), "g": [draw() for _ in range(s.dim)]}
        s.boundary[face] = {kind: value[kind]}


def boundary_of_flow(r, s, faces, straight, timed):
    """Flows: one polynomial without divergence on all boundaries with values, so that corners agree; one opening."""
    dim = s.dim
    a, b, c = (num(round(r.uniform(-1, 1), 2)) for _ in range(3))
    field = ["%s*y+%s" % (a, b), "%s*x+%s" % (c, a), "%s*y+%s*x" % (b, a)][:dim]
    rest = [0] * dim
    s.dirichlet = rest if s.periodic or r.random() < 0.4 else field
    opened = s.element == "iso"
    for i, face in enumerate(faces):
        kind = r.choice(["velocity", "velocity", "velocity", "outflow", "pressure"])
        if i == 0 or opened:
            kind = "velocity"
        opened = opened or kind != "velocity"
        value = {"velocity": s.dirichlet, "pressure": smooth(r, dim), "outflow": 0}
        if s.element != "q" and r.random() < 0.5:
            value["outflow"] = [smooth(r, dim) for _ in range(dim)]
        s.boundary[face] = {kind: value[kind]}
    if s.dirichlet is rest and straight and r.random() < 0.4 and "velocity" in s.boundary[faces[-1]]:
        s.boundary[faces[-1]] = {"slip": True}


def coefficients(r, s, timed):
    """Coefficients, forces, steps in time."""
    fill = data_of_flow if s.flow else data_of_body if s.vector else data_of_scalar
    fill(r, s, lambda: smooth(r, s.dim, timed and r.random() < 0.6), r.random() < 0.5 and s.element != "dg", timed)
    if timed:
        draw_time(r, s)


def data_of_scalar(r, s, draw, varies, timed):
    """Poisson and transport."""
    dim = s.dim
    s.data = {"f": draw(), "a": draw_coefficient(r, dim, varies, 0.3, 2)}
    if s.element == "q" and r.random() < 0.15 and not s.periodic:
        s.data["a"] = [smooth(r, dim, False, 0.3, 2) for _ in range(dim)]
    if r.random() < 0.5:
        s.data["c"] = draw_coefficient(r, dim, varies, 0.1, 2)
    if s.problem == "poisson":
        return
    for key in ("a", "c"):
        if timed and s.element == "q" and key in s.data and r.random() < 0.15:
            s.data[key] = smooth(r, dim, True, 0.3, 2)
    s.data["b"] = [
        smooth(r, dim, timed and r.random() < 0.2) if r.random() < 0.6 else round(r.uniform(-1, 1), 2)
        for _ in range(dim)
    ]
    if s.element == "q":
        s.stab = "none" if r.random() < 0.5 else "auto"
    if s.stab == "none" and not timed and not isinstance(s.data["a"], list):
        s.data["a"] = 2.5  # below the Peclet number that is refused
    if r.random() < 0.3:
        s.form = "conservative"


def data_of_body(r, s, draw, varies, timed):
    """Elasticity."""
    dim = s.dim
    if r.random() < 0.5:
        s.data = {key: draw_coefficient(r, dim, varies, 0.5, 2) for key in ("lambda", "mu")}
    else:
        s.data = {"young": draw_coefficient(r, dim, varies, 0.5, 2), "poisson": round(r.uniform(-0.3, 0.4), 2)}
    s.data["f"] = [draw() for _ in range(dim)]
    if dim == 2 and r.random() < 0.3:
        s.plane = "stress"
    if timed:
        s.data["density"] = draw_coefficient(r, dim, varies, 0.5, 2)


def data_of_flow(r, s, draw, varies, timed):
    """Flows."""
    varies = s.problem == "stokes" and s.element == "rt" and r.random() < 0.2
    s.data = {"f": [draw() for _ in range(s.dim)], "nu": round(r.uniform(0.2, 2), 2)}
    if varies:
        s.data["nu"] = smooth(r, s.dim, False, 0.5, 2)
    if s.problem == "stokes" and r.random() < 0.3:
        s.data["alpha"] = round(r.uniform(0.1, 5), 2)
    if s.problem == "stokes" and s.element == "rt" and r.random() < 0.2:
        s.form = "symmetric"


def draw_time(r, s):
    """Steps, a method, initial values that agree with the boundaries."""
    step = {"transport": 0.05, "elasticity": 0.1, "navier_stokes": 0.01}[s.problem]
    if s.element == "iso":
        step = 1e-3
    methods = METHODS[s.problem]
    if s.problem == "navier_stokes" and s.element == "rt":
        methods = ["imex_bdf2", "imex_bdf3"]
    s.time = {"start": 0.0, "end": step * r.randint(2, 5), "step": step, "method": r.choice(methods)}
    if s.problem == "transport":
        s.data["initial"] = s.dirichlet
    elif s.problem == "elasticity":
        s.data["initial"] = {"displacement": s.dirichlet, "velocity": [smooth(r, s.dim) for _ in range(s.dim)]}
    else:
        s.data["initial"] = {"velocity": s.dirichlet}
