"""Expressions of case files as text, and polynomials that can be differentiated."""

import math
import re

VARS = ("x", "y", "z")


WORD = re.compile(r"(?<![A-Za-z0-9_.])(nx|ny|nz|x|y|z|t)(?![A-Za-z0-9_])")


def num(v):
    """A number as text that can stand in any place of an expression."""
    return repr(float(v)) if v >= 0 else "(%r)" % float(v)


def substitute(e, table):
    """The expression with the variables of the table replaced."""
    return WORD.sub(lambda m: table.get(m.group(1), m.group(1)), str(e))


def evaluate(e, x, t=0.0):
    """The value of an expression at a point."""
    return eval(
        str(e),
        {"sin": math.sin, "cos": math.cos, "exp": math.exp, "pow": pow, "pi": math.pi, "sqrt": math.sqrt, "abs": abs},
        {"x": x[0], "y": x[1], "z": x[2] if len(x) > 2 else 0.0, "t": t},
    )


def scaled(e, c):
    """The expression times a number."""
    return e if c == 1 else "%s*(%s)" % (num(c), e)


# direction -> length: expressions that are drawn have this period
PERIOD = {}


def smooth(r, dim, intime=False, lo=None, hi=None):
    """A random smooth expression, between lo and hi where these are given."""
    e = []
    for _ in range(r.choice([1, 1, 2])):
        f = []
        for d in range(dim):
            if r.random() < 0.75:
                f.append(
                    "%s(%s*%s+%s)"
                    % (
                        r.choice(["sin", "cos"]),
                        num(2 * math.pi / PERIOD[d] if d in PERIOD else round(r.uniform(0.5, 3), 3)),
                        VARS[d],
                        num(round(r.uniform(0, 3), 3)),
                    )
                )
        if intime and r.random() < 0.7:
            f.append("cos(%s*t+%s)" % (num(round(r.uniform(0.5, 3), 3)), num(round(r.uniform(0, 3), 3))))
        e.append("*".join(f) or "1")
    s = "(" + "+".join(e) + ")/%d" % len(e)
    if lo is not None:
        s = "%s+%s*(%s)" % (num((lo + hi) / 2), num((hi - lo) / 2), s)
    return s


class Poly:
    """Polynomials in x, y, z, t: powers -> coefficient."""

    def __init__(self, c=None):
        self.c = {k: v for k, v in (c or {}).items() if v}

    def __add__(self, o):
        c = dict(self.c)
        for k, v in o.c.items():
            c[k] = c.get(k, 0) + v
        return Poly(c)

    def __mul__(self, o):
        if not isinstance(o, Poly):
            return Poly({k: v * o for k, v in self.c.items()})
        c = {}
        for k, v in self.c.items():
            for l, w in o.c.items():
                m = tuple(a + b for a, b in zip(k, l))
                c[m] = c.get(m, 0) + v * w
        return Poly(c)

    def __neg__(self):
        return self * -1.0

    def __sub__(self, o):
        return self + (-o)

    def d(self, i):
        """The derivative by variable i."""
        c = {}
        for k, v in self.c.items():
            if k[i]:
                m = list(k)
                m[i] -= 1
                c[tuple(m)] = c.get(tuple(m), 0) + v * k[i]
        return Poly(c)

    def __str__(self):
        return (
            "+".join("*".join([num(v)] + [n for n, p in zip("xyzt", k) for _ in range(p)]) for k, v in self.c.items())
            or "0"
        )

    @staticmethod
    def random(r, dim, k, intime=0, terms=3, total=None):
        """Terms of degree k by variable, and of degree `total` at most in x, y, z together where it is given."""
        c = {}
        for _ in range(terms):
            powers = [r.randint(0, k) for _ in range(dim)] + [0] * (3 - dim)
            while total is not None and sum(powers) > total:
                powers = [max(0, p - 1) for p in powers]
            c[tuple(powers + [r.randint(0, intime)])] = round(r.uniform(-1, 1), 2)
        return Poly(c)
