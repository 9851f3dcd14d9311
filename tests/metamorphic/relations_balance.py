"""Relations of the report: balances beside integrals."""

import math

from expressions import VARS, num
from program import Refused, observe_extra


def balances(r, s):
    """Balances, fluxes and divergences of the report, beside integrals of the solution."""
    if s.periodic or (s.domain and not (s.mesh and s.mesh.flat)) or s.map:
        return None
    if s.where and s.element != "q":
        return None
    n = s.copy()
    dim = s.dim
    extra = {}
    if s.problem == "transport" and not s.time:
        if s.stab == "auto":
            return None
        extra["S_f"] = {"integral": "domain", "of": "(%s)-(%s)*u" % (s.data["f"], s.data.get("c", 0))}
        v, rep = observe_extra(n, extra)
        bal = rep.get("balance")
        if not bal:
            raise Refused("no balance")
        scale = max(abs(bal["in"]), abs(bal["out"]), abs(bal["sources"]), 1e-30)
        d1 = abs(bal["in"] + bal["sources"] - bal["out"] - bal["stored"] - bal["defect"]) / scale
        d2 = abs(bal["defect"]) / scale
        res = max(d1 / 1e-9, d2 / 1e-6)
        text = "balance %s" % bal
        flux = sum(rep["flux"].values())
        d3 = abs(flux - (bal["out"] - bal["in"])) / scale
        if d3 / 1e-6 > res:
            res, text = d3 / 1e-6, "sum of flux %g, out - in %g" % (flux, bal["out"] - bal["in"])
        return res, text, n
    if s.problem == "elasticity" and not s.time:
        extra.update({"S_f" + VARS[d]: {"integral": "domain", "of": str(s.data["f"][d])} for d in range(dim)})
        for f in s.faces():
            c = s.boundary[f]
            k = list(c)[0]
            for d in range(dim):
                if k == "traction":
                    extra["S_%s%s" % (f, VARS[d])] = {"integral": f, "of": str(c[k][d])}
                elif k == "pressure":
                    extra["S_%s%s" % (f, VARS[d])] = {"integral": f, "of": "-(%s)*n%s" % (c[k], VARS[d])}
                elif k == "robin":
                    extra["S_%s%s" % (f, VARS[d])] = {"integral": f, "of": "%s" % c[k]["g"][d]}
        v, rep = observe_extra(n, extra)
        bal = rep["balance"]
        res, text = 0.0, ""
        scale = max([abs(x) for x in bal["load"] + bal["reaction"]] + [1e-30])
        for d in range(dim):
            load = sum(x for k, x in v.items() if k.startswith("S_") and k.endswith(VARS[d]))
            force = sum(x for k, x in v.items() if k.startswith("F_") and k.endswith("_" + VARS[d]))
            q = [
                abs(bal["load"][d] + bal["reaction"][d] - bal["defect"][d]) / scale / 1e-10,
                abs(bal["defect"][d]) / scale / 1e-6,
                abs(load - bal["load"][d]) / scale / 1e-4,
            ]
            if max(q) > res:
                res, text = max(q), "d=%d load %.10g (integral %.10g) reaction %.10g defect %.3g forces %.10g" % (
                    d,
                    bal["load"][d],
                    load,
                    bal["reaction"][d],
                    bal["defect"][d],
                    force,
                )
        return res, text, n
    if s.flow:
        div = " + ".join("%s%s" % (s.comps[d], VARS[d]) for d in range(dim))
        extra["D"] = {"integral": "domain", "of": "(%s)*(%s)" % (div, div)}
        for f in s.faces():
            extra["O_" + f] = {"integral": f, "of": "+".join("%s*n%s" % (s.comps[d], VARS[d]) for d in range(dim))}
        for d in range(dim):
            extra["S_f" + VARS[d]] = {
                "integral": "domain",
                "of": "(%s)-%s*%s" % (s.data["f"][d], num(s.data.get("alpha", 0)), s.comps[d]),
            }
        v, rep = observe_extra(n, extra)
        res, text = 0.0, ""
        vel = math.sqrt(v["E"] / s.volume())
        area = s.volume() / s.length()
        d = abs(math.sqrt(max(v["D"], 0)) - rep["divergence_l2"]) / (vel / s.length() * math.sqrt(s.volume()) + 1e-300)
        res, text = d / 1e-9, "divergence_l2 %.6g, integral %.6g" % (rep["divergence_l2"], math.sqrt(max(v["D"], 0)))
        if s.element == "rt" and rep["divergence_relative"] > 1e-9 and rep["divergence_relative"] / 1e-9 > res:
            res, text = rep["divergence_relative"] / 1e-9, "divergence_relative %g" % rep["divergence_relative"]
        for f in s.faces():
            if "flux" in rep:
                q = abs(rep["flux"][f] - v["O_" + f]) / (vel * area + 1e-300) / 1e-9
                if q > res:
                    res, text = q, "flux %s %.10g, integral %.10g" % (f, rep["flux"][f], v["O_" + f])
        if all("velocity" in s.boundary[f] or "slip" in s.boundary[f] for f in s.faces()):
            m = abs(v["J"]) / (max([abs(v[k]) for k in v if k[0] == "Q"]) * s.volume() + 1e-300) / 1e-6
            if m > res:
                res, text = m, "mean of the pressure: integral %g" % v["J"]
        if s.problem == "stokes":
            fs = max([abs(v[k]) for k in v if k[0] == "F"] + [1e-300])
            for d in range(dim):
                tot = sum(x for k, x in v.items() if k[0] == "F" and k.endswith("_" + VARS[d])) - v["S_f" + VARS[d]]
                if abs(tot) / fs / 1e-4 > res:
                    res, text = abs(tot) / fs / 1e-4, "forces %s minus loads: %g of %g" % (VARS[d], tot, fs)
        return res, text, n
    return None
