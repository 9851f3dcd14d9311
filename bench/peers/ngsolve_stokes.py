#!/usr/bin/env python3
"""Stokes flow in the unit cube by NGSolve: Taylor-Hood elements Q_k / Q_(k-1) on hexahedra.

ngsolve_stokes.py THREADS TOLERANCE DEGREE:CELLS...

MINRES with a block diagonal preconditioner: BDDC for the velocity, the factorized mass for the pressure. The flow is
that of stokes.yaml. Prints a line a size: unknowns, iterations, seconds of set-up (assembly and factors) and of the
solve, microseconds an unknown of the solve, L2 error of the velocity and L2 norm of its divergence."""
import sys
import time
from math import pi

import ngsolve as ng
from ngsolve import CF, Grad, InnerProduct, cos, div, dx, sin, x, y, z
from ngsolve.krylovspace import MinResSolver
from ngsolve.meshes import MakeStructured3DMesh


def laplace(c):
    return sum((c.Diff(v).Diff(v) for v in (x, y)), c.Diff(z).Diff(z))


PSI = (sin(pi * x) * sin(pi * y) * sin(pi * z)) ** 2
EXACT = CF((PSI.Diff(y), -PSI.Diff(x), 0))
PRESSURE = cos(pi * x) * cos(pi * y) * cos(pi * z)
FORCE = CF((-laplace(PSI.Diff(y)) + PRESSURE.Diff(x), laplace(PSI.Diff(x)) + PRESSURE.Diff(y), PRESSURE.Diff(z)))


def run(degree, cells, tolerance):
    mesh = MakeStructured3DMesh(hexes=True, nx=cells, ny=cells, nz=cells)
    start = time.time()
    velocities = ng.VectorH1(mesh, order=degree, dirichlet=".*")
    pressures = ng.H1(mesh, order=degree - 1)
    (u, v), (p, q) = velocities.TnT(), pressures.TnT()
    laplacian = ng.BilinearForm(velocities, symmetric=True)
    laplacian += InnerProduct(Grad(u), Grad(v)) * dx
    cycle = ng.Preconditioner(laplacian, "bddc")
    divergence = ng.BilinearForm(trialspace=velocities, testspace=pressures)
    divergence += -div(u) * q * dx
    mass = ng.BilinearForm(pressures, symmetric=True)
    mass += p * q * dx
    load, zero = ng.LinearForm(velocities), ng.LinearForm(pressures)
    load += FORCE * v * dx(bonus_intorder=2)
    for form in (laplacian, divergence, mass, load, zero):
        form.Assemble()
    inverse = mass.mat.Inverse(inverse="sparsecholesky")
    velocity, pressure = ng.GridFunction(velocities), ng.GridFunction(pressures)
    middle = time.time()
    solver = MinResSolver(mat=ng.BlockMatrix([[laplacian.mat, divergence.mat.T], [divergence.mat, None]]),
                          pre=ng.BlockMatrix([[cycle, None], [None, inverse]]), tol=tolerance, maxiter=400,
                          printrates=False)
    solver.Solve(rhs=ng.BlockVector([load.vec, zero.vec]), sol=ng.BlockVector([velocity.vec, pressure.vec]),
                 initialize=True)
    end = time.time()
    unknowns = velocities.ndof + pressures.ndof
    error = ng.sqrt(ng.Integrate(InnerProduct(velocity - EXACT, velocity - EXACT), mesh, order=2 * degree + 4))
    size = ng.sqrt(ng.Integrate(div(velocity) ** 2, mesh))
    print(f"Q{degree}/Q{degree - 1} {cells:3}^3 {unknowns:10} unknowns {solver.iterations:4} iterations  set-up "
          f"{middle - start:.3f} s  solve {end - middle:.3f} s  {1e6 * (end - middle) / unknowns:.2f} us  velocity "
          f"{error:.3e}  div {size:.1e}", flush=True)


def main():
    ng.SetNumThreads(int(sys.argv[1]))
    for argument in sys.argv[3:]:
        degree, cells = map(int, argument.split(":"))
        with ng.TaskManager():
            run(degree, cells, float(sys.argv[2]))


if __name__ == "__main__":
    main()
