"""Relations of meshes: two meshes that are the same."""

from compare import compare, group_scales, tolerance
from cases import coordinates
from expressions import VARS, num, substitute
from program import execute, observe, observed


def refine(r, s):
    """A refined box and a box of twice the cells."""
    if s.domain or s.graded or s.where or s.map or s.refine:
        return None
    n = s.copy()
    n.coords = [coordinates(r, 2 * (len(c) - 1), c[0], c[-1], False) for c in s.coords]
    if s.vector and s.dim == 3:
        return None
    b = s.copy()
    b.refine = 1
    v, _ = observe(n)
    w, _ = observe(b)
    worst, name = compare(s, w, v)
    return worst / tolerance(s), name, b


def refine_graded(r, s):
    """The same where cells have different widths."""
    if s.domain or not s.graded or s.where or s.map or s.refine or (s.vector and s.dim == 3):
        return None
    n = s.copy()
    n.coords = [sorted(c + [(a + b) / 2 for a, b in zip(c, c[1:])]) for c in s.coords]
    n.graded = set(range(s.dim))
    b = s.copy()
    b.refine = 1
    v, _ = observe(n)
    w, _ = observe(b)
    worst, name = compare(s, w, v)
    return worst / tolerance(s), name, b


def extrude(r, s):
    """A problem of the plane is one in space that does not depend on z."""
    if s.dim != 2 or s.domain or s.map or s.where or s.refine or s.plane or (isinstance(s.data.get("a"), list)):
        return None
    if s.stab == "auto":
        return None  # tau takes the mean over all directions
    n = s.copy()
    n.dim = 3
    n.coords = s.coords + [coordinates(r, r.choice([2, 3]), 0.0, round(r.uniform(0.4, 1.2), 2), False)]
    h = n.coords[2][-1]
    for k in ("f", "b"):
        if isinstance(n.data.get(k), list):
            n.data[k] = n.data[k] + [0]
    if isinstance(n.data.get("initial"), dict):
        n.data["initial"] = {k: v + [0] for k, v in n.data["initial"].items()}
    for c in n.boundary.values():
        for k in c:
            if isinstance(c[k], list):
                c[k] = c[k] + [0]
            if k == "robin" and s.vector:
                c[k]["g"] = c[k]["g"] + [0]
    for f in ("back", "front"):
        n.boundary[f] = {"slip": True} if s.flow else {"roller": True} if s.vector else {"neumann": 0}
    n.points = [p + [h * 0.37] for p in s.points]
    if s.degree > (2 if s.element == "rt" else 4):
        return None  # minutes of set-up
    v, _ = observe(s)
    w, _ = observe(n)
    want = {k: x * (h if k[0] in "IEJWBF" else 1) for k, x in v.items()}
    worst, name = compare(n, w, want)
    for k in w:
        if (k.endswith("_w") and k[0] == "P") and abs(w[k]) > 1e-5 * group_scales(n, want)["P"]:
            return 10.0, "%s = %g" % (k, w[k]), n
    return worst / (tolerance(s) * 3), name, n


def identity_map(r, s):
    """A box that is mapped to itself, or from the unit box."""
    if s.domain or s.map or s.element != "q" or s.periodic or s.where or s.graded:
        return None
    n = s.copy()
    n.map = list(VARS[: s.dim])
    n.kind = None
    n.domain = None
    if r.random() < 0.5:  # an affine map of the unit box
        n.coords = [[i / (len(c) - 1) for i in range(len(c))] for c in s.coords]
        n.map = ["%s+%s*%s" % (num(c[0]), num(c[-1] - c[0]), VARS[d]) for d, c in enumerate(s.coords)]
    v, _ = observe(s)
    w, _ = observe(n)
    worst, name = compare(s, w, v)
    return worst / tolerance(s), name, n


def adapt_off(r, s):
    """An adaptive solve of one step."""
    if s.periodic or s.element != "q" or s.time or s.stab or (s.domain and s.flow) or s.graded:
        return None
    n = s.copy()
    n.kind = "forest" if not s.domain else None
    c = n.case()
    c["adapt"] = {"steps": 1}
    v, _ = observe(s)
    w, _ = observed(execute(c))
    worst, name = compare(s, w, v)
    return worst / tolerance(s), name, n


def rotate_period(r, s):
    """A periodic direction twice as long has the same solution twice."""
    if not s.periodic or s.domain or s.where:
        return None
    d = VARS.index(s.periodic[0])
    n = s.copy()
    c = s.coords[d]
    L = c[-1] - c[0]
    q = lambda e: (
        substitute(e, {VARS[d]: "(%s<%s?%s:%s-%s)" % (VARS[d], num(c[-1]), VARS[d], VARS[d], num(L))})
        if isinstance(e, str)
        else e
    )
    deep = lambda v: (
        {k: deep(x) for k, x in v.items()}
        if isinstance(v, dict)
        else [deep(x) for x in v] if isinstance(v, list) else q(v)
    )
    if s.time is None and s.problem == "stokes" and not any("velocity" in b for b in s.boundary.values()):
        return None
    n.coords[d] = c + [x + L for x in c[1:]]
    n.data = deep(s.data)
    n.boundary = deep(s.boundary)
    # data at the seam itself jump unless they are the same on both sides: nodes there see the upper side
    v, _ = observe(s)
    w, _ = observe(n)
    want = {k: x * (2 if k[0] in "IEJWB" else 1) for k, x in v.items()}
    if any(
        not isinstance(x, (int, float)) and VARS[d] in str(x)
        for b in s.boundary.values()
        for x in [list(b.values())[0]]
    ):
        return None
    worst, name = compare(n, w, want, only="PGIEQJ")
    return worst / tolerance(s), name, n
