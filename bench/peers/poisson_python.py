#!/usr/bin/env python3
"""Poisson's equation by Tessera's Python package and by scikit-fem with its usual solver, the same elements on the same
cells: lines of user code, seconds of the processor (one thread, the least of REPEATS, alternately) and errors.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python bench/peers/poisson_python.py [REPEATS]"""
import inspect
import sys
import time

import numpy as np
import skfem
from skfem.helpers import dot, grad

import tessera


def by_tessera_2d(n, k):
    """Q_k on n x n cells."""
    u = "exp(x)*sin(pi*y)"
    problem = tessera.Problem(tessera.Mesh.box([n, n]), degree=k, f=f"(pi*pi - 1)*{u}", exact=u, boundary={"all": u})
    problem.solve()
    return problem.errors["l2"], problem.space.length


def by_skfem_2d(n, k):
    """The same."""
    def u(x):
        return np.exp(x[0]) * np.sin(np.pi * x[1])
    mesh = skfem.MeshQuad.init_tensor(np.linspace(0, 1, n + 1), np.linspace(0, 1, n + 1))
    basis = skfem.Basis(mesh, skfem.ElementQuadP(k))
    stiffness = skfem.BilinearForm(lambda v, w, _: dot(grad(v), grad(w))).assemble(basis)
    load = skfem.LinearForm(lambda v, w: (np.pi**2 - 1) * u(w.x) * v).assemble(basis)
    given = basis.boundary().project(u)
    solution = skfem.solve(*skfem.condense(stiffness, load, x=given, D=basis.get_dofs()))
    error = skfem.Functional(lambda w: (w["h"] - u(w.x))**2).assemble(basis, h=basis.interpolate(solution))
    return np.sqrt(error), basis.N


def by_tessera_3d(n, k):
    """Q_k on n^3 cells."""
    u = "exp(x)*sin(pi*y)*z"
    problem = tessera.Problem(tessera.Mesh.box([n, n, n]), degree=k, f=f"(pi*pi - 1)*{u}", exact=u, boundary={"all": u})
    problem.solve()
    return problem.errors["l2"], problem.space.length


def by_skfem_3d(n, k):
    """The same, Q_2."""
    def u(x):
        return np.exp(x[0]) * np.sin(np.pi * x[1]) * x[2]
    line = np.linspace(0, 1, n + 1)
    basis = skfem.Basis(skfem.MeshHex.init_tensor(line, line, line), {1: skfem.ElementHex1, 2: skfem.ElementHex2}[k]())
    stiffness = skfem.BilinearForm(lambda v, w, _: dot(grad(v), grad(w))).assemble(basis)
    load = skfem.LinearForm(lambda v, w: (np.pi**2 - 1) * u(w.x) * v).assemble(basis)
    given = basis.boundary().project(u)
    solution = skfem.solve(*skfem.condense(stiffness, load, x=given, D=basis.get_dofs()))
    error = skfem.Functional(lambda w: (w["h"] - u(w.x))**2).assemble(basis, h=basis.interpolate(solution))
    return np.sqrt(error), basis.N


def lines_of(function):
    """Without the head, its comment and the return."""
    return len(inspect.getsource(function).splitlines()) - 3


def main():
    """A table."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    print("| problem | unknowns and given values | | lines | seconds | error in L2 |\n|---|---|---|---|---|---|")
    for text, n, k, pair in (("2D, Q_4, 32 x 32 cells", 32, 4, (by_tessera_2d, by_skfem_2d)),
                             ("3D, Q_2, 12^3 cells", 12, 2, (by_tessera_3d, by_skfem_3d))):
        seconds, errors = [[], []], [None, None]
        for _ in range(repeats):
            for i, function in enumerate(pair):
                start = time.process_time()
                errors[i], nodes = function(n, k)
                seconds[i].append(time.process_time() - start)
        for i, name in enumerate(("Tessera", "scikit-fem")):
            print(f"| {text} | {nodes} | {name} | {lines_of(pair[i])} | {min(seconds[i]):.3g} | {errors[i]:.2e} |")


if __name__ == "__main__":
    main()
