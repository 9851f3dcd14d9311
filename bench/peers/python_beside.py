#!/usr/bin/env python3
"""Poisson's equation and elasticity by Tessera's Python package, and by scikit-fem, NGSolve, PyMFEM and warp.fem with
the solvers that their users take, the same elements on the same cells: lines of user code, seconds of the processor
(one thread, the least of REPEATS, in turn) and errors. All from PyPI: scikit-fem, ngsolve, mfem, warp-lang. Who is not
installed is left out. warp.fem has degrees up to 3 and numbers of 32 bits, so it has the second problem alone.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python bench/peers/python_beside.py [REPEATS]"""
import inspect
import sys
import time

import numpy as np

import tessera

try:
    import skfem
    from skfem.helpers import ddot, div, dot, grad, sym_grad
except ImportError:
    skfem = None
try:
    import ngsolve as ng
    from ngsolve.meshes import MakeStructured2DMesh, MakeStructured3DMesh
except ImportError:
    ng = None
try:
    import mfem.ser as mfem
except ImportError:
    mfem = None
try:
    import warp as wp
    from warp import fem
    from warp.optim import linear
    wp.config.quiet = True
except ImportError:
    wp = None

# ---- -div(grad u) = f, u = exp(x) sin(pi y), in 3D times z; values are given on the whole boundary ------------------


def poisson_by_tessera(dim, n, k):
    """Q_k on n^dim cells."""
    u = "exp(x)*sin(pi*y)" + ("*z" if dim == 3 else "")
    problem = tessera.Problem(tessera.Mesh.box([n] * dim), degree=k, f=f"(pi*pi - 1)*{u}", exact=u, boundary={"all": u})
    problem.solve()
    return problem.errors["l2"]


def poisson_by_skfem(dim, n, k):
    """Assembled, SciPy's sparse direct solver."""
    def u(x):
        return np.exp(x[0]) * np.sin(np.pi * x[1]) * (x[2] if dim == 3 else 1)
    mesh = (skfem.MeshHex if dim == 3 else skfem.MeshQuad).init_tensor(*[np.linspace(0, 1, n + 1)] * dim)
    basis = skfem.Basis(mesh, skfem.ElementHex2() if dim == 3 else skfem.ElementQuadP(k))
    stiffness = skfem.BilinearForm(lambda v, w, _: dot(grad(v), grad(w))).assemble(basis)
    load = skfem.LinearForm(lambda v, w: (np.pi**2 - 1) * u(w.x) * v).assemble(basis)
    given = basis.boundary().project(u)
    solution = skfem.solve(*skfem.condense(stiffness, load, x=given, D=basis.get_dofs()))
    error = skfem.Functional(lambda w: (w["h"] - u(w.x))**2).assemble(basis, h=basis.interpolate(solution))
    return np.sqrt(error)


def poisson_by_ngsolve(dim, n, k):
    """Assembled, its sparse Cholesky factors."""
    u = ng.exp(ng.x) * ng.sin(np.pi * ng.y) * (ng.z if dim == 3 else 1)
    mesh = MakeStructured3DMesh(True, n, n, n) if dim == 3 else MakeStructured2DMesh(True, n, n)
    space = ng.H1(mesh, order=k, dirichlet=".*")
    v, w = space.TnT()
    stiffness = ng.BilinearForm(ng.grad(v) * ng.grad(w) * ng.dx).Assemble()
    load = ng.LinearForm((np.pi**2 - 1) * u * w * ng.dx).Assemble()
    solution = ng.GridFunction(space)
    solution.Set(u, ng.BND)
    factors = stiffness.mat.Inverse(space.FreeDofs(), inverse="sparsecholesky")
    solution.vec.data += factors * (load.vec - stiffness.mat * solution.vec)
    return np.sqrt(ng.Integrate((solution - u)**2, mesh, order=2 * k + 4))


def poisson_by_mfem(dim, n, k):
    """Assembled, conjugate gradients with Gauss-Seidel, as in its first example."""
    class Exact(mfem.PyCoefficient):
        def EvalValue(self, x):
            return np.exp(x[0]) * np.sin(np.pi * x[1]) * (x[2] if dim == 3 else 1)
    mesh = (mfem.Mesh.MakeCartesian3D(n, n, n, mfem.Element.HEXAHEDRON) if dim == 3
            else mfem.Mesh.MakeCartesian2D(n, n, mfem.Element.QUADRILATERAL))
    elements = mfem.H1_FECollection(k, dim)
    space = mfem.FiniteElementSpace(mesh, elements)
    given = mfem.intArray()
    space.GetEssentialTrueDofs(mfem.intArray([1] * mesh.bdr_attributes.Max()), given)
    exact = Exact()
    force = mfem.ProductCoefficient(np.pi**2 - 1, exact)
    load, stiffness = mfem.LinearForm(space), mfem.BilinearForm(space)
    load.AddDomainIntegrator(mfem.DomainLFIntegrator(force))
    load.Assemble()
    stiffness.AddDomainIntegrator(mfem.DiffusionIntegrator())
    stiffness.Assemble()
    solution = mfem.GridFunction(space)
    solution.ProjectCoefficient(exact)
    A, X, B = mfem.SparseMatrix(), mfem.Vector(), mfem.Vector()
    stiffness.FormLinearSystem(given, solution, load, A, X, B)
    mfem.PCG(A, mfem.GSSmoother(A), B, X, 0, 2000, 1e-22, 0.0)
    stiffness.RecoverFEMSolution(X, load, solution)
    return solution.ComputeL2Error(exact)


def poisson_by_warp(_, n, k):
    """Assembled in float32 (in 3D), conjugate gradients with the diagonal, as in its examples."""
    @wp.func
    def u_at(x: wp.vec3):
        return wp.exp(x[0]) * wp.sin(wp.pi * x[1]) * x[2]
    @fem.integrand
    def diffusion(s: fem.Sample, v: fem.Field, w: fem.Field):
        return wp.dot(fem.grad(v, s), fem.grad(w, s))
    @fem.integrand
    def force(s: fem.Sample, domain: fem.Domain, w: fem.Field):
        return (wp.pi * wp.pi - 1.0) * u_at(domain(s)) * w(s)
    @fem.integrand
    def mass(s: fem.Sample, v: fem.Field, w: fem.Field):
        return v(s) * w(s)
    @fem.integrand
    def values(s: fem.Sample, domain: fem.Domain, w: fem.Field):
        return u_at(domain(s)) * w(s)
    @fem.integrand
    def square(s: fem.Sample, domain: fem.Domain, v: fem.Field):
        return (v(s) - u_at(domain(s))) * (v(s) - u_at(domain(s)))
    mesh = fem.Grid3D(res=wp.vec3i(n, n, n))
    space = fem.make_polynomial_space(mesh, degree=k)
    cells, sides = fem.Cells(mesh), fem.BoundarySides(mesh)
    v, w = fem.make_trial(space, domain=cells), fem.make_test(space, domain=cells)
    stiffness = fem.integrate(diffusion, fields={"v": v, "w": w}, output_dtype=float)
    load = fem.integrate(force, fields={"w": w}, output_dtype=float)
    v, w = fem.make_trial(space, domain=sides), fem.make_test(space, domain=sides)
    places = fem.integrate(mass, fields={"v": v, "w": w}, assembly="nodal", output_dtype=float)
    given = fem.integrate(values, fields={"w": w}, assembly="nodal", output_dtype=float)
    fem.project_linear_system(stiffness, load, places, given)
    x = wp.zeros_like(load)
    linear.cg(stiffness, b=load, x=x, tol=1e-7, maxiter=2000, M=linear.preconditioner(stiffness, "diag"))
    solution = space.make_field()
    solution.dof_values = x
    points = fem.RegularQuadrature(cells, order=2 * k + 4)
    return np.sqrt(float(fem.integrate(square, domain=cells, fields={"v": solution}, quadrature=points)))


# ---- -div sigma = f, lambda = mu = 1, plane strain: u = (exp(x) sin(pi y), cos(x) y), given on the whole boundary ----


def elasticity_by_tessera(n, k):
    """Q_k on n^2 cells."""
    u = ["exp(x)*sin(pi*y)", "cos(x)*y"]
    f = ["(pi*pi - 3)*exp(x)*sin(pi*y) + 2*sin(x)", "cos(x)*y - 2*pi*exp(x)*cos(pi*y)"]
    mesh = tessera.Mesh.box([n, n])
    problem = tessera.Problem(mesh, "elasticity", degree=k, lambda_=1, mu=1, f=f, exact=u, boundary={"all": u})
    problem.solve()
    return problem.errors["l2"]


def elasticity_by_skfem(n, k):
    """Assembled, SciPy's sparse direct solver."""
    def u(x):
        return np.array([np.exp(x[0]) * np.sin(np.pi * x[1]), np.cos(x[0]) * x[1]])
    def f(x):
        return np.array([(np.pi**2 - 3) * np.exp(x[0]) * np.sin(np.pi * x[1]) + 2 * np.sin(x[0]),
                         np.cos(x[0]) * x[1] - 2 * np.pi * np.exp(x[0]) * np.cos(np.pi * x[1])])
    mesh = skfem.MeshQuad.init_tensor(np.linspace(0, 1, n + 1), np.linspace(0, 1, n + 1))
    basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementQuadP(k)))
    form = skfem.BilinearForm(lambda v, w, _: 2 * ddot(sym_grad(v), sym_grad(w)) + div(v) * div(w))
    stiffness = form.assemble(basis)
    load = skfem.LinearForm(lambda v, w: dot(f(w.x), v)).assemble(basis)
    given = basis.boundary().project(u)
    solution = skfem.solve(*skfem.condense(stiffness, load, x=given, D=basis.get_dofs()))
    error = skfem.Functional(lambda w: dot(w["h"] - u(w.x), w["h"] - u(w.x)))
    return np.sqrt(error.assemble(basis, h=basis.interpolate(solution)))


def elasticity_by_ngsolve(n, k):
    """Assembled, its sparse Cholesky factors."""
    x, y = ng.x, ng.y
    u = ng.CF((ng.exp(x) * ng.sin(np.pi * y), ng.cos(x) * y))
    f = ng.CF(((np.pi**2 - 3) * ng.exp(x) * ng.sin(np.pi * y) + 2 * ng.sin(x),
               ng.cos(x) * y - 2 * np.pi * ng.exp(x) * ng.cos(np.pi * y)))
    mesh = MakeStructured2DMesh(True, n, n)
    space = ng.VectorH1(mesh, order=k, dirichlet=".*")
    v, w = space.TnT()
    strain = ng.Sym(ng.Grad(v))
    stiffness = ng.BilinearForm((2 * ng.InnerProduct(strain, ng.Grad(w)) + ng.div(v) * ng.div(w)) * ng.dx).Assemble()
    load = ng.LinearForm(f * w * ng.dx).Assemble()
    solution = ng.GridFunction(space)
    solution.Set(u, ng.BND)
    factors = stiffness.mat.Inverse(space.FreeDofs(), inverse="sparsecholesky")
    solution.vec.data += factors * (load.vec - stiffness.mat * solution.vec)
    return np.sqrt(ng.Integrate((solution - u) * (solution - u), mesh, order=2 * k + 4))


def elasticity_by_mfem(n, k):
    """Assembled, conjugate gradients with Gauss-Seidel, as in its second example."""
    class Exact(mfem.VectorPyCoefficient):
        def EvalValue(self, x):
            return np.exp(x[0]) * np.sin(np.pi * x[1]), np.cos(x[0]) * x[1]
    class Force(mfem.VectorPyCoefficient):
        def EvalValue(self, x):
            return ((np.pi**2 - 3) * np.exp(x[0]) * np.sin(np.pi * x[1]) + 2 * np.sin(x[0]),
                    np.cos(x[0]) * x[1] - 2 * np.pi * np.exp(x[0]) * np.cos(np.pi * x[1]))
    mesh = mfem.Mesh.MakeCartesian2D(n, n, mfem.Element.QUADRILATERAL)
    elements = mfem.H1_FECollection(k, 2)
    space = mfem.FiniteElementSpace(mesh, elements, 2)
    given = mfem.intArray()
    space.GetEssentialTrueDofs(mfem.intArray([1] * mesh.bdr_attributes.Max()), given)
    exact, force, one = Exact(2), Force(2), mfem.ConstantCoefficient(1.0)
    load, stiffness = mfem.LinearForm(space), mfem.BilinearForm(space)
    load.AddDomainIntegrator(mfem.VectorDomainLFIntegrator(force))
    load.Assemble()
    stiffness.AddDomainIntegrator(mfem.ElasticityIntegrator(one, one))
    stiffness.Assemble()
    solution = mfem.GridFunction(space)
    solution.ProjectCoefficient(exact)
    A, X, B = mfem.SparseMatrix(), mfem.Vector(), mfem.Vector()
    stiffness.FormLinearSystem(given, solution, load, A, X, B)
    mfem.PCG(A, mfem.GSSmoother(A), B, X, 0, 5000, 1e-22, 0.0)
    stiffness.RecoverFEMSolution(X, load, solution)
    return solution.ComputeL2Error(exact)


PROGRAMS = {"Tessera": tessera, "scikit-fem": skfem, "NGSolve": ng, "PyMFEM": mfem, "warp.fem": wp}
PROBLEMS = (
    ("Poisson, 2D, Q_4, 32 x 32 cells", (2, 32, 4),
     (poisson_by_tessera, poisson_by_skfem, poisson_by_ngsolve, poisson_by_mfem)),
    ("Poisson, 3D, Q_2, 12^3 cells", (3, 12, 2),
     (poisson_by_tessera, poisson_by_skfem, poisson_by_ngsolve, poisson_by_mfem, poisson_by_warp)),
    ("elasticity, 2D, Q_3, 32 x 32 cells", (32, 3),
     (elasticity_by_tessera, elasticity_by_skfem, elasticity_by_ngsolve, elasticity_by_mfem)),
)


def lines_of(function):
    """Without the head, its comment and the return."""
    return len(inspect.getsource(function).splitlines()) - 3


def main():
    """A table."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    print("| problem | | lines | seconds | error in L2 |\n|---|---|---|---|---|")
    for text, size, functions in PROBLEMS:
        there = [(name, function) for (name, module), function in zip(PROGRAMS.items(), functions) if module]
        seconds, error = {name: [] for name, _ in there}, {}
        for _ in range(repeats):
            for name, function in there:
                start = time.process_time()
                error[name] = function(*size)
                seconds[name].append(time.process_time() - start)
        for name, function in there:
            print(f"| {text} | {name} | {lines_of(function)} | {min(seconds[name]):.2g} | {error[name]:.2e} |")
            text = ""


if __name__ == "__main__":
    main()
