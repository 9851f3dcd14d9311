#!/usr/bin/env python3
"""Transport in time and elasticity at rest by NGSolve, beside transport.yaml and elasticity.yaml.

ngsolve_applications.py THREADS transport METHOD:DEGREE:CELLS:STEPS...     METHOD: be (backward Euler), cn
ngsolve_applications.py THREADS elasticity DEGREE:CELLS...

Transport: Q_k on squares; the matrix of a step is constant and factorized once (UMFPACK), which for these sizes in
the plane is the fastest that NGSolve has. Elasticity: Q_k on cubes, conjugate gradients with BDDC to 1e-9, inner
unknowns eliminated. A line a size: unknowns, seconds of set-up (assembly and factors) and of the steps or the
solve, and the L2 error."""
import sys
import time
from math import pi

import ngsolve as ng
from ngsolve import CF, Grad, Id, InnerProduct, cos, dx, exp, grad, sin, x, y, z
from ngsolve.krylovspace import CGSolver
from ngsolve.meshes import MakeStructured2DMesh, MakeStructured3DMesh

T = ng.Parameter(0)


def theta():
    """The solution of adaptive-multigrid-liebchen, section 5.1, and its right-hand side for a = 0.01, b = (0, -1)."""
    middle = 0.5 + 0.25 * cos(pi / 2 * T)
    a, b = middle - x, middle - y
    u = exp(-(a * a + b * b) / 4)
    f = (pi / 16 * sin(pi / 2 * T) * (a + b) - 0.01 * ((a * a + b * b) / 4 - 1) - b / 2) * u
    return u, f


def transport(method, degree, cells, steps):
    exact, f = theta()
    mesh = MakeStructured2DMesh(quads=True, nx=cells, ny=cells)
    start = time.time()
    T.Set(0)
    space = ng.H1(mesh, order=degree, dirichlet=".*")
    u, v = space.TnT()
    dt = 2 / steps
    part = 1 if method == "be" else 0.5
    mass, form, whole = (ng.BilinearForm(space) for _ in range(3))
    flow = (0.01 * grad(u) * grad(v) - grad(u)[1] * v) * dx
    mass += u * v * dx
    form += flow
    whole += u * v / dt * dx + part * flow
    load = ng.LinearForm(space)
    load += f * v * dx(bonus_intorder=2)
    for one in (mass, form, whole, load):
        one.Assemble()
    inverse = whole.mat.Inverse(space.FreeDofs(), inverse="umfpack")
    old, new = ng.GridFunction(space), ng.GridFunction(space)
    old.Set(exact)
    before, right = load.vec.CreateVector(), load.vec.CreateVector()
    before.data = load.vec
    middle = time.time()
    for step in range(steps):
        T.Set((step + 1) * dt)
        load.Assemble()
        right.data = 1 / dt * mass.mat * old.vec + part * load.vec
        if method == "cn":
            right.data += 0.5 * before - 0.5 * form.mat * old.vec
        new.vec[:] = 0
        new.Set(exact, definedon=mesh.Boundaries(".*"))
        right.data -= whole.mat * new.vec
        new.vec.data += inverse * right
        old.vec.data = new.vec
        before.data = load.vec
    end = time.time()
    error = ng.sqrt(ng.Integrate((old - exact) ** 2, mesh, order=2 * degree + 6))
    print(f"{method} Q{degree} {cells:4}^2 {steps:4} steps {space.ndof:9} unknowns  set-up {middle - start:.4f} s  "
          f"steps {end - middle:.4f} s  error {error:.4e}", flush=True)


def elasticity(degree, cells):
    lam, mu = 8e4, 2e4
    bump = sin(pi * x) * sin(pi * y) * sin(pi * z)
    exact = CF((bump, 2 * bump, 3 * bump))
    divergence = bump.Diff(x) + 2 * bump.Diff(y) + 3 * bump.Diff(z)
    force = CF(tuple(3 * pi * pi * mu * (i + 1) * bump - (lam + mu) * divergence.Diff(c)
                     for i, c in enumerate((x, y, z))))
    mesh = MakeStructured3DMesh(hexes=True, nx=cells, ny=cells, nz=cells)
    start = time.time()
    space = ng.VectorH1(mesh, order=degree, dirichlet=".*")
    u, v = space.TnT()

    def strain(w):
        return 0.5 * (Grad(w) + Grad(w).trans)

    form = ng.BilinearForm(space, symmetric=True, condense=True)
    form += InnerProduct(lam * ng.Trace(strain(u)) * Id(3) + 2 * mu * strain(u), strain(v)) * dx
    cycle = ng.Preconditioner(form, "bddc")
    load = ng.LinearForm(space)
    load += force * v * dx(bonus_intorder=2)
    form.Assemble()
    load.Assemble()
    field = ng.GridFunction(space)
    middle = time.time()
    right = load.vec.CreateVector()
    right.data = load.vec + form.harmonic_extension_trans * load.vec
    solver = CGSolver(form.mat, cycle.mat, tol=1e-9, maxiter=1000, printrates=False)
    field.vec.data = solver * right
    field.vec.data += form.harmonic_extension * field.vec
    field.vec.data += form.inner_solve * load.vec
    end = time.time()
    error = ng.sqrt(ng.Integrate(InnerProduct(field - exact, field - exact), mesh, order=2 * degree + 6))
    print(f"Q{degree} {cells:3}^3 {space.ndof:9} unknowns {solver.iterations:4} iterations  set-up "
          f"{middle - start:.3f} s  solve {end - middle:.3f} s  error {error:.4e}", flush=True)


def main():
    ng.SetNumThreads(int(sys.argv[1]))
    for argument in sys.argv[3:]:
        word, *numbers = argument.split(":")
        with ng.TaskManager():
            if sys.argv[2] == "transport":
                transport(word, *map(int, numbers))
            else:
                elasticity(int(word), *map(int, numbers))


if __name__ == "__main__":
    main()
