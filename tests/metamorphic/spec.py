"""Cases in an abstract form."""

import copy

import program
from expressions import VARS
from meshes import FACES


class Spec:
    """A case in an abstract form: transformations act on it."""

    def __init__(self):
        self.time = None
        self.solver = {}
        self.data = {}
        self.form = None
        self.map = None
        self.where = None
        self.refine = 0
        self.periodic = ""
        self.kind = None
        self.domain = None
        self.plane = None
        self.args = []
        self.extra = {}
        self.stab = None
        self.mesh = None  # of a file
        self.graded = set()
        self.points = []

    def copy(self):
        """A case of its own; meshes are never changed, so they are shared."""
        mesh, self.mesh = self.mesh, None
        other = copy.deepcopy(self)
        self.mesh = other.mesh = mesh
        return other

    @property
    def vector(self):
        """The solution has components."""
        return self.problem in ("elasticity", "stokes", "navier_stokes")

    @property
    def flow(self):
        """The solution is a velocity and a pressure."""
        return self.problem in ("stokes", "navier_stokes")

    @property
    def comps(self):
        """Names of the components in expressions of the output."""
        return ["u", "v", "w"][: self.dim] if self.vector else ["u"]

    def faces(self):
        """Names of the boundaries."""
        if self.domain:
            return list(self.boundary)
        return [f for i, f in enumerate(FACES[: 2 * self.dim]) if VARS[i // 2] not in self.periodic]

    def volume(self):
        """The size of the box round the domain."""
        v = 1.0
        for c in self.coords:
            v *= c[-1] - c[0]
        return v

    def length(self):
        """The least side of this box."""
        return min(c[-1] - c[0] for c in self.coords)

    def case(self):
        """The case as the program reads it."""
        m = {}
        if self.mesh:
            m["file"] = self.mesh.save(program.WORK)
            if self.mesh.split:
                m["split"] = True
            if self.mesh.pairs:
                m["periodic"] = "file"
        elif self.domain:
            m.update(copy.deepcopy(self.domain))
        else:
            b = {
                "cells": [len(c) - 1 for c in self.coords],
                "lower": [c[0] for c in self.coords],
                "upper": [c[-1] for c in self.coords],
            }
            sp = {VARS[d]: c for d, c in enumerate(self.coords) if d in self.graded}
            if sp:
                b["spacing"] = sp
            if self.periodic:
                b["periodic"] = self.periodic
            m["box"] = b
        if self.kind:
            m["kind"] = self.kind
        if self.refine:
            m["refine"] = self.refine
        if self.where:
            m["refine_where"] = self.where
        if self.map:
            m["map"] = self.map
            m["geometry_degree"] = 3
        d = {k: v for k, v in self.data.items() if v is not None}
        if self.form:
            d["form"] = self.form
        if self.plane:
            d["plane"] = self.plane
        c = {
            "problem": self.problem,
            "mesh": m,
            "space": {"degree": self.degree, "element": self.element},
            "data": d,
            "boundary": {k: v for k, v in self.boundary.items() if not (not self.domain and k not in self.faces())},
            "solver": dict(self.solver),
            "output": {"values": self.values()},
        }
        if self.stab:
            c["space"]["stabilization"] = self.stab
        if self.time:
            c["time"] = dict(self.time)
        for k, v in self.extra.items():
            c["output"][k] = v
        if not c["boundary"]:
            del c["boundary"]
        if not d:
            del c["data"]
        return c

    def values(self):
        """Observables by name, the first letter of which says their unit: see compare.py."""
        v, dim = {}, self.dim
        norm = "+".join("%s*%s" % (c, c) for c in self.comps)
        for n, p in enumerate(self.points):
            for c in self.comps:
                v["P%d_%s" % (n, c)] = {"point": p, "of": c}
            if self.flow:
                v["Q%d" % n] = {"point": p, "of": "p"}
        for c in self.comps:
            v["I_" + c] = {"integral": "domain", "of": c}
            for d in range(dim):
                v["G0_%s%s" % (c, VARS[d])] = {"point": self.points[0], "of": c + VARS[d]}
        v["E"] = {"integral": "domain", "of": norm}
        v["M"] = {"max": "domain", "of": norm}
        if self.flow:
            v["J"] = {"integral": "domain", "of": "p"}
        if self.problem == "elasticity":
            v["W"] = {"integral": "domain", "of": "strain_energy"}
        for f in self.faces():
            for c in self.comps:
                v["B_%s_%s" % (f, c)] = {"integral": f, "of": c}
            if self.vector and (self.mesh or self.domain is None) and not self.periodic:
                for d in range(dim):
                    v["F_%s_%s" % (f, VARS[d])] = {"force": f, "of": VARS[d]}
        return v
