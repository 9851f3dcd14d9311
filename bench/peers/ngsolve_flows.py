#!/usr/bin/env python3
"""Flows in time by NGSolve, beside cavity_flow.yaml and cylinder_flow.yaml.

ngsolve_flows.py THREADS INVERSE cavity DEGREE:CELLS:DT... | cylinder DEGREE:SIZE:DT...

Taylor-Hood elements P_k/P_(k-1), on the cavity of quadrilaterals graded as by cavity_flow.yaml, round the cylinder of
curved triangles, five times smaller at the cylinder than SIZE. BDF2 with convection extrapolated: velocity and pressure
of a step are one symmetric system, factorized once (INVERSE: sparsecholesky, umfpack, pardiso), since its matrix stays
the same; a step is one product, convection by points of order 3k - 1, and one solve with the factors. A line a size:
unknowns, seconds of set-up and of the steps, and what is compared: the energy at t = 4, or the largest drag of the run,
by a polynomial of degree 4 through the values of t in [3.6, 4.25]."""
import sys
import time
from math import cos, pi, sin

import numpy
import ngsolve as ng
from netgen.geom2d import SplineGeometry
from ngsolve import Grad, InnerProduct, dx, x, y
from ngsolve.meshes import MakeStructured2DMesh


class Flow:
    """Velocity and pressure in time; lift(t) sets the values of the boundary in a GridFunction's velocity."""

    def __init__(self, mesh, degree, nu, dt, walls, closed, inverse, lift):
        velocity = ng.VectorH1(mesh, order=degree, dirichlet=walls)
        pressure = ng.H1(mesh, order=degree - 1)
        self.space = velocity * pressure * ng.NumberSpace(mesh) if closed else velocity * pressure
        trial, test = self.space.TnT()
        (u, p), (v, q) = trial[:2], test[:2]
        stokes = nu * InnerProduct(Grad(u), Grad(v)) - ng.div(u) * q - ng.div(v) * p
        if closed:  # the pressure has mean zero
            stokes += trial[2] * q + test[2] * p
        self.mass = ng.BilinearForm(InnerProduct(u, v) * dx).Assemble()
        self.whole = ng.BilinearForm(1.5 / dt * InnerProduct(u, v) * dx + stokes * dx).Assemble()
        self.carry = ng.BilinearForm(self.space, nonassemble=True)
        self.carry += InnerProduct(Grad(u) * u, v) * dx(bonus_intorder=degree - 1)
        self.inverse = self.whole.mat.Inverse(self.space.FreeDofs(), inverse=inverse)
        self.lift, self.dt, self.time = lift, dt, 0
        self.now = ng.GridFunction(self.space)
        self.vectors = [self.now.vec.CreateVector() for _ in range(6)]
        for vector in self.vectors:
            vector[:] = 0

    def step(self):
        """One step; leaves the residual of the new momentum equation in vectors[3], which at walls is the force."""
        old, load, flux, residual, before, scratch = self.vectors
        now = self.now.vec
        self.carry.Apply(now, flux)
        scratch.data = (2 / self.dt) * now - (0.5 / self.dt) * old
        load.data = self.mass.mat * scratch - 2 * flux + before
        old.data, before.data = now, flux
        self.time += self.dt
        self.lift(self.now, self.time)
        residual.data = load - self.whole.mat * now
        now.data += self.inverse * residual
        residual.data = load - self.whole.mat * now


def ramp(t):
    return (1 - cos(pi * t)) / 2 if t < 1 else 1


def values_of(profile):
    """Places and numbers of the velocity's given entries."""
    free = profile.space.FreeDofs()
    places = [i for i in range(profile.space.ndof) if not free[i]]
    return places, numpy.array([profile.vec[i] for i in places])


def cavity(degree, cells, dt, inverse):
    def graded(s, t):
        return (1 - cos(pi * s)) / 2, (1 - cos(pi * t)) / 2

    mesh = MakeStructured2DMesh(quads=True, nx=cells, ny=cells, mapping=graded)
    lid = ng.GridFunction(ng.VectorH1(mesh, order=degree, dirichlet=".*"))
    lid.Set(ng.CF((16 * x**2 * (1 - x)**2, 0)), definedon=mesh.Boundaries("top"))
    places, values = values_of(lid)

    def lift(u, t):
        u.components[0].vec.FV().NumPy()[places] = ramp(t) * values

    return mesh, Flow(mesh, degree, 1e-3, dt, ".*", True, inverse, lift)


def cylinder(degree, size, dt, inverse):
    geometry = SplineGeometry()
    geometry.AddRectangle((0, 0), (2.2, 0.41), bcs=("wall", "outlet", "wall", "inlet"))
    geometry.AddCircle((0.2, 0.2), r=0.05, leftdomain=0, rightdomain=1, bc="cylinder", maxh=size / 5)
    mesh = ng.Mesh(geometry.GenerateMesh(maxh=size))
    mesh.Curve(degree)
    profile = ng.GridFunction(ng.VectorH1(mesh, order=degree, dirichlet="wall|inlet|cylinder"))
    profile.Set(ng.CF((6 * y * (0.41 - y) / 0.41**2, 0)), definedon=mesh.Boundaries("inlet"))
    places, values = values_of(profile)

    def lift(u, t):
        u.components[0].vec.FV().NumPy()[places] = sin(pi * t / 8) * values

    return mesh, Flow(mesh, degree, 1e-3, dt, "wall|inlet|cylinder", False, inverse, lift)


def energy(flow, steps):
    for _ in range(steps):
        flow.step()
    u = flow.now.components[0]
    return lambda mesh: ng.Integrate(0.5 * InnerProduct(u, u), mesh)


def largest_drag(flow, mesh, steps):
    one = ng.GridFunction(flow.space)
    one.components[0].Set(ng.CF((1, 0)), definedon=mesh.Boundaries("cylinder"))
    history = []
    for _ in range(steps):
        flow.step()
        history.append((flow.time, 20 * InnerProduct(flow.vectors[3], one.vec)))
    t, drag = numpy.array([row for row in history if 3.6 <= row[0] <= 4.25]).T
    fit = numpy.polynomial.Polynomial.fit(t, drag, 4)
    return float(fit(numpy.linspace(3.6, 4.25, 4001)).max())


def main():
    threads, inverse, which = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    ng.SetNumThreads(threads)
    with ng.TaskManager():
        for size in sys.argv[4:]:
            degree, cells, dt = size.split(":")
            end, start = (4, time.time()) if which == "cavity" else (4.25, time.time())
            make = cavity if which == "cavity" else cylinder
            mesh, flow = make(int(degree), int(cells) if which == "cavity" else float(cells), float(dt), inverse)
            steps, middle = round(end / float(dt)), time.time()
            if which == "cavity":
                value = energy(flow, steps)(mesh)
            else:
                value = largest_drag(flow, mesh, steps)
            print(f"ngsolve,{which},{size},{flow.space.ndof},{steps},{middle - start:.3f},{time.time() - middle:.3f},"
                  f"{value:.9f}", flush=True)


main()
