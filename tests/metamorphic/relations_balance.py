"""Relations of the report: balances, fluxes, forces and divergences beside integrals of the solution."""

import math

from expressions import VARS, num
from program import Refused, observe_extra


def balances(r, s):
    """Numbers of the report beside integrals."""
    if s.periodic or (s.domain and not (s.mesh and s.mesh.flat)) or s.map:
        return None
    if s.problem == "transport" and not s.time and s.stab != "auto":
        found = of_transport(s)
    elif s.problem == "elasticity" and not s.time:
        found = of_elasticity(s)
    elif s.flow:
        found = of_flow(s)
    else:
        return None
    worst, text = max(found)
    return worst, text, s


def of_transport(s):
    """in + sources = out + stored + defect, and the sum of all fluxes."""
    _, rep = observe_extra(s, {})
    bal = rep.get("balance")
    if not bal:
        raise Refused("no balance")
    scale = max(abs(bal["in"]), abs(bal["out"]), abs(bal["sources"]), 1e-30)
    text = "balance %s" % bal
    sum_of_all = bal["in"] + bal["sources"] - bal["out"] - bal["stored"] - bal["defect"]
    flux = sum(rep["flux"].values())
    return [
        (abs(sum_of_all) / scale / 1e-9, text),
        (abs(bal["defect"]) / scale / 1e-6, text),
        (abs(flux - (bal["out"] - bal["in"])) / scale / 1e-6, "sum of flux %g, %s" % (flux, text)),
    ]


def loads_of_elasticity(s):
    """Integrals of what loads a body."""
    extra = {}
    for d in range(s.dim):
        extra["S_f" + VARS[d]] = {"integral": "domain", "of": str(s.data["f"][d])}
        for face in s.faces():
            ((kind, value),) = s.boundary[face].items()
            of = None
            if kind == "traction":
                of = str(value[d])
            elif kind == "pressure":
                of = "-(%s)*n%s" % (value, VARS[d])
            elif kind == "robin":
                of = str(value["g"][d])
            if of is not None:
                extra["S_%s%s" % (face, VARS[d])] = {"integral": face, "of": of}
    return extra


def of_elasticity(s):
    """load + reaction = defect, loads beside their integrals, and the forces of all faces beside the load inside."""
    v, rep = observe_extra(s, loads_of_elasticity(s))
    bal = rep["balance"]
    found = []
    scale = max([abs(x) for x in bal["load"] + bal["reaction"]] + [1e-30])
    for d in range(s.dim):
        load = sum(x for k, x in v.items() if k.startswith("S_") and k.endswith(VARS[d]))
        force = sum(x for k, x in v.items() if k.startswith("F_") and k.endswith("_" + VARS[d]))
        inside = v["S_f" + VARS[d]]
        text = "d=%d load %.10g (integral %.10g, inside %.10g) reaction %.10g defect %.3g forces %.10g" % (
            (d, bal["load"][d], load, inside, bal["reaction"][d], bal["defect"][d], force)
        )
        found.append((abs(bal["load"][d] + bal["reaction"][d] - bal["defect"][d]) / scale / 1e-10, text))
        found.append((abs(bal["defect"][d]) / scale / 1e-6, text))
        found.append((abs(load - bal["load"][d]) / scale / 1e-4, text))
        found.append((abs(force + inside) / scale / 1e-4, text))
    return found


def integrals_of_flow(s):
    """The square of the divergence, fluxes, forces inside."""
    div = " + ".join("%s%s" % (s.comps[d], VARS[d]) for d in range(s.dim))
    extra = {"D": {"integral": "domain", "of": "(%s)*(%s)" % (div, div)}}
    through = "+".join("%s*n%s" % (s.comps[d], VARS[d]) for d in range(s.dim))
    for face in s.faces():
        extra["O_" + face] = {"integral": face, "of": through}
    for d in range(s.dim):
        of = "(%s)-%s*%s" % (s.data["f"][d], num(s.data.get("alpha", 0)), s.comps[d])
        extra["S_f" + VARS[d]] = {"integral": "domain", "of": of}
    return extra


def of_flow(s):
    """Divergence, fluxes, the mean of the pressure; at rest the forces of all faces beside the load."""
    v, rep = observe_extra(s, integrals_of_flow(s))
    velocity = math.sqrt(v["E"] / s.volume())
    area = s.volume() / s.length()
    norm = math.sqrt(max(v["D"], 0))
    size = velocity / s.length() * math.sqrt(s.volume()) + 1e-300
    text = "divergence_l2 %.6g, integral %.6g" % (rep["divergence_l2"], norm)
    found = [(abs(norm - rep["divergence_l2"]) / size / 1e-9, text)]
    if s.element == "rt":
        found.append((rep["divergence_relative"] / 1e-9, "divergence_relative %g" % rep["divergence_relative"]))
    for face, flux in rep.get("flux", {}).items():
        off = abs(flux - v["O_" + face]) / (velocity * area + 1e-300)
        found.append((off / 1e-9, "flux %s %.10g, integral %.10g" % (face, flux, v["O_" + face])))
    if all("velocity" in s.boundary[face] or "slip" in s.boundary[face] for face in s.faces()):
        size = max(abs(x) for k, x in v.items() if k[0] == "Q") * s.volume() + 1e-300
        found.append((abs(v["J"]) / size / 1e-6, "mean of the pressure: integral %g" % v["J"]))
    if s.problem == "stokes":
        size = max([abs(x) for k, x in v.items() if k[0] == "F"] + [1e-300])
        for d in range(s.dim):
            force = sum(x for k, x in v.items() if k[0] == "F" and k.endswith("_" + VARS[d]))
            text = "forces %s %g, load %g" % (VARS[d], force, v["S_f" + VARS[d]])
            found.append((abs(force - v["S_f" + VARS[d]]) / size / 1e-4, text))
    return found
