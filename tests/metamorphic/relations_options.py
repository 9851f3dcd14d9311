"""Relations of options: what must not change the solution."""

import csv
import json
import os
import shutil

import program
from compare import compare, group_scales, tolerance
from program import Failure, Refused, execute, observe, observed


def same(options, restrict=None, factor=1.0):
    """The relation of a case and itself with other options."""

    def go(r, s):
        if restrict and not restrict(s):
            return None
        o = options(r, s) if callable(options) else options
        if o is None:
            return None
        v, _ = observe(s)
        try:
            w, _ = observe(s, o)
        except Refused as e:
            if "tolerance" in str(e) and "exit 1" in str(e):
                return 50.0, "%s: %s" % (o, e), s
            raise
        worst, name = compare(s, w, v)
        return worst / (tolerance(s) * factor), "%s | %s" % (o, name), s

    return go


def kinds(r, s):
    """A box as a forest, a forest as a box."""
    if s.domain or s.map or s.where or s.graded or s.element != "q":
        return None
    return ["--set", "mesh.kind=" + ("box" if s.kind == "forest" else "forest")]


def solvers(r, s):
    """Another way to solve."""
    if s.problem == "stokes":
        o = [
            ["method=fmg"],
            ["smoother=cell_patch"],
            ["colours=red_black"],
            ["local_solver=cg"],
            ["precision=double"],
            ["colours=lexicographic"],
            ["pre_smoothing=1", "post_smoothing=2"],
        ]
    elif s.problem in ("poisson", "transport"):
        o = [
            ["method=gmres"],
            ["method=cg"],
            ["method=vcycle"],
            ["method=fmg"],
            ["method=direct"],
            ["smoother=jacobi"],
            ["smoother=chebyshev"],
            ["smoother=patch"],
            ["smoother=patch_additive"],
            ["smoother=cell_patch"],
            ["smoother=line_patch"],
            ["smoother=gauss_seidel"],
            ["coarsening=degree"],
            ["coarse=amg"],
            ["coarse=cg"],
            ["precision=double"],
            ["local_solver=mean"],
            ["local_solver=rank1"],
            ["local_solver=scaled"],
            ["pre_smoothing=2", "post_smoothing=2"],
            ["order=reversed"],
            ["guess=0"],
        ]
    elif s.problem == "elasticity":
        o = [
            ["smoother=jacobi"],
            ["smoother_degree=3"],
            ["coarsening=degree"],
            ["precision=double"],
            ["method=gmres"],
            ["guess=0"],
        ]
    else:
        o = [["precision=double"], ["guess=0"], ["guess=4"], ["method=cg"]]
    a = []
    for x in r.choice(o):
        a += ["--set", "solver." + x]
    return a + ["--set", "solver.max_iterations=1000"]


def bits(args_a, args_b):
    """The relation of a case and itself: the same bits."""

    def go(r, s):
        a, b = execute(s.case(), list(args_a)), execute(s.case(), list(args_b))
        for c in (a, b):
            if c[0] < 0 or c[0] == 124:
                raise Failure("exit %d" % c[0])
        if a[0]:
            raise Refused("exit %d: %s" % (a[0], a[2][:200].replace("\n", " | ")))
        if a[1]["values"] != b[1]["values"]:
            k = [k for k in a[1]["values"] if a[1]["values"][k] != b[1]["values"].get(k)]
            return 10.0, "bits differ: %s %.17g %.17g" % (k[0], a[1]["values"][k[0]], b[1]["values"][k[0]]), s
        return 0.0, "", s

    return go


def set_or_file(r, s):
    """Keys of the file are given by --set instead."""
    c = s.case()
    full = execute(c)
    if full[0]:
        raise Refused("exit %d" % full[0])
    args = []
    for top in ("space", "data", "solver", "time"):
        for k in list(c.get(top, {})):
            if isinstance(c[top][k], (dict, list)) or r.random() < 0.4:
                continue
            args += ["--set", "%s.%s=%s" % (top, k, c[top].pop(k))]
    if r.random() < 0.5:
        args += (
            ["--set", "mesh.box.cells=%s" % json.dumps(c["mesh"]["box"].pop("cells"))]
            if "box" in c["mesh"] and not s.graded
            else []
        )
    args += ["--set", "output.values.I_u.of=u"]
    got = execute(c, args)
    if got[0] != 0:
        return 99.0, "exit %d: %s | %s" % (got[0], got[2][:300], args), s
    if got[1]["values"] != full[1]["values"]:
        worst, name = compare(s, got[1]["values"], full[1]["values"])
        return worst / 1e-9, "%s | %s" % (args, name), s
    return 0.0, "", s


def threads(r, s):
    """Another number of threads."""
    v, _ = observe(s, ["--threads", "1"])
    w, _ = observe(s, ["--threads", str(r.choice([2, 3, 7]))])
    worst, name = compare(s, w, v)
    return worst / tolerance(s), name, s


def outputs(r, s):
    """Points, values and lines say the same."""
    c = s.case()
    k = s.points
    c["output"]["points"] = {"p%d" % i: p for i, p in enumerate(k)}
    c["output"]["lines"] = [{"from": k[0], "to": k[1], "count": 5, "file": "line.csv"}]
    v, rep = observed(execute(c))
    res, text = 0.0, ""
    sc = group_scales(s, v)

    def check(a, b, scale, name):
        nonlocal res, text
        d = abs(a - b) / (scale or 1e-300) / 1e-11
        if not d <= res:
            res, text = d, "%s: %.17g and %.17g" % (name, a, b)

    for i, p in enumerate(rep["points"]):
        vals = p["displacement"] if s.problem == "elasticity" else p["velocity"] if s.flow else [p["u"]]
        for d, n in enumerate(s.comps):
            check(vals[d], v["P%d_%s" % (i, n)], sc["P"], "point %d %s" % (i, n))
        if s.flow:
            check(p["pressure"], v["Q%d" % i], sc["Q"], "pressure %d" % i)
    with open(os.path.join(program.WORK, "line.csv")) as f:
        rows = list(csv.DictReader(f, skipinitialspace=True))
    for j, i in ((0, 0), (-1, 1)):
        for n in s.comps:
            check(float(rows[j][n]), v["P%d_%s" % (i, n)], sc["P"], "line %d %s" % (j, n))
        if s.flow:
            check(float(rows[j]["p"]), v["Q%d" % i], sc["Q"], "line pressure %d" % j)
    return res, text, s


def restart(r, s):
    """A run that is interrupted and goes on: the same bits."""
    if not s.time or s.map:
        return None
    det = ["--deterministic"]
    n = s.copy()
    steps = round((s.time["end"] - s.time["start"]) / s.time["step"])
    dt = s.time["step"]
    total = max(steps, 4)
    n.time["end"] = dt * total
    half = total // 2
    a = n.copy()
    a.time["end"] = dt * half
    a.extra = {"checkpoint": {"file": "r.h5", "every": half}}
    v, _ = observe(n, det)
    observe(a, det)
    w, _ = observe(n, det + ["--restart", os.path.join(program.WORK, "r.h5")])
    try:
        os.unlink(os.path.join(program.WORK, "r.h5"))
    except OSError:
        pass
    if v == w:
        return 0.0, "", n
    worst, name = compare(n, w, v)
    return max(worst / 1e-12, 1.01), "not the same bits; %s" % name, n


def ranks(r, s):
    """One rank and several."""
    if not shutil.which("mpirun"):
        return None
    v, _ = observe(s)
    w, _ = observe(s, ["--ranks", str(r.choice([2, 3])), "--threads", "1"])
    worst, name = compare(s, w, v)
    return worst / tolerance(s), name, s
