"""Relations of units and axes."""

from compare import compare, tolerance
from program import Refused, observe
from transform import transform

# domains that keep their kind when axes are changed, and when they are moved
TURNABLE = ("ball", "file")
MOVABLE = ("ball", "shell", "file")


def relation_of_transform(pick):
    """The relation of a case and itself after the changes that `pick` chooses."""

    def go(r, s):
        kw = pick(r, s)
        if kw is None:
            return None
        n, predict = transform(s, **kw)
        v, _ = observe(s)
        try:
            w, _ = observe(n)
        except Refused as e:
            return 99.0, "refused after the change %s: %s" % (kw, e), n
        worst, name = compare(n, w, predict(v))
        return worst / tolerance(s), "%s | %s" % (kw, name), n

    return go


def pick_permute(r, s):
    """Axes in another order."""
    if s.domain and list(s.domain)[0] not in TURNABLE:
        return None
    p = list(range(s.dim))
    r.shuffle(p)
    if p == list(range(s.dim)):
        p = p[1:] + p[:1]
    return {"perm": p}


def pick_mirror(r, s):
    """A mirror image."""
    if s.domain and list(s.domain)[0] not in TURNABLE:
        return None
    return {"sign": [r.choice([1, -1]) for _ in range(s.dim - 1)] + [-1]}


def pick_translate(r, s):
    """Another origin."""
    if s.domain and list(s.domain)[0] not in MOVABLE:
        return None
    return {"shift": [round(r.uniform(-20, 20), 2) for _ in range(s.dim)]}


def pick_length(r, s):
    """Another unit of length."""
    if s.domain and list(s.domain)[0] not in MOVABLE:
        return None
    L = r.choice([2.0 ** r.randint(-20, 20), 10 ** r.uniform(-9, 9), 1e-12, 1e12, 1000.0])
    return {"length": L, "T": L if s.time else 1.0}


def pick_data(r, s):
    """Another unit of the solution."""
    if s.problem == "navier_stokes":
        return None
    return {"U": r.choice([1e-12, 1e12, 10 ** r.uniform(-12, 12), -1.0, 1e-30, 1e30])}


def pick_coefficient(r, s):
    """Another unit of the coefficient."""
    if s.problem == "navier_stokes" or (s.problem == "transport" and s.time):
        return None
    return {"A": r.choice([1e-12, 1e12, 10 ** r.uniform(-12, 12), 1e-3])}


def pick_time(r, s):
    """Another unit of time."""
    if not s.time:
        return None
    return {"T": r.choice([10 ** r.uniform(-9, 9), 3.0, 1e-6, 1e6])}


def pick_start(r, s):
    """Another start of time."""
    if not s.time:
        return None
    return {"t0": r.choice([1.0, -3.0, 100.0, round(r.uniform(-10, 10), 3)])}


def pick_units(r, s):
    """Other units of all."""
    k = {"A": 10 ** r.uniform(-6, 6), "U": 10 ** r.uniform(-6, 6), "T": 10 ** r.uniform(-4, 4)}
    if not s.domain or list(s.domain)[0] in MOVABLE:
        k["length"] = 10 ** r.uniform(-4, 4)
    return k
