"""Compares the observables of two solutions.

The first letter of an observable's name is its group: P values at points, G gradients there, I integrals, E the
integral of the square, M its largest value, B integrals over boundaries, Q pressures at points, J the integral of the
pressure, W the energy of strain, F forces.
"""

import math

import program
from expressions import evaluate


def viscosity(spec):
    """The least at the points of the case; None where it has none, or one with the choices of a shifted period."""
    nu = spec.data.get("nu")
    if nu is None or isinstance(nu, (int, float)):
        return nu
    if not isinstance(nu, str) or not spec.points or "?" in nu:
        return None
    return min(abs(evaluate(nu, x)) for x in spec.points)


def group_scales(spec, v):
    """The natural size of each group of observables, from the values themselves."""
    vol, L = spec.volume(), spec.length()
    rms = math.sqrt(max(v["E"], 0) / vol)
    s = {"P": max([rms] + [abs(x) for k, x in v.items() if k[0] == "P"])}
    rest = 0
    nu = viscosity(spec) if spec.flow else None
    if nu:
        # the solve is to 1e-10 of the forces; one that is almost a gradient moves little beside its pressure
        rest = 1e-3 * max([abs(x) for k, x in v.items() if k[0] == "Q"]) / nu
    s["P"] = max(s["P"], rest * L)
    s["G"] = max([abs(x) for k, x in v.items() if k[0] == "G"] + [s["P"] / L * 0.1, rest])
    s["I"] = s["P"] * vol
    s["E"] = max(v["E"], s["P"] ** 2 * vol * 1e-3)
    s["M"] = max(v.get("M", 0), s["P"] ** 2 * 1e-3)
    s["B"] = s["P"] * vol / L
    s["Q"] = max([abs(x) for k, x in v.items() if k[0] == "Q"] + [0])
    s["J"] = max(s["Q"] * vol, max([abs(v["J"])] if "J" in v else [0]))
    s["W"] = abs(v.get("W", 0))
    s["F"] = max([abs(x) for k, x in v.items() if k[0] == "F"] + [s["W"] / s["P"] if s["P"] else 0, s["Q"] * vol / L])
    return s


def compare(spec, got, want, only=None):
    """The largest relative deviation over the observables that both have, and a text about it."""
    s = group_scales(spec, want)
    worst, name = 0.0, ""
    for k, w in want.items():
        if k not in got or (only and k[0] not in only):
            continue
        scale = s.get(k[0], 0)
        if not scale:
            scale = 1e-300
        d = abs(got[k] - w) / scale
        if not d <= worst:
            worst, name = d, "%s: %.12g, expected %.12g" % (k, got[k], w)
    return worst, name


def tolerance(s):
    """What two solutions of one problem may differ by, relative to their size.

    Solves are to 1e-11 of the load, of flows to 1e-10, in time to 1e-9 of what a step changes. The condition of the
    operators multiplies the tolerance, and the floor where a solve ended above its tolerance.
    """
    bound = (3e-7 if s.flow else 1e-7) if s.time else (1e-6 if s.flow else 1e-8)
    condition = bound / (1e-9 if s.time else 1e-10 if s.flow else 1e-11)
    return max([bound] + [floor * condition for floor in program.FLOORS])
