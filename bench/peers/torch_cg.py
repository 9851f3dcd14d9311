"""Conjugate gradients of PyTorch on its own tensors of a GPU, with Tessera's operator and V-cycle: Poisson on a cube,
Q4, a random right-hand side, to 1e-9.  python bench/peers/torch_cg.py [CELLS ..]"""

import sys
import time

import numpy as np
import torch

import tessera


def solve(operator, b, precondition):
    """Iterations and the solution."""
    x, r, q, z = torch.zeros_like(b), b.clone(), torch.empty_like(b), torch.empty_like(b)
    direction, old = torch.zeros_like(b), 1.0
    goal = 1e-9 * float(torch.linalg.norm(b))
    for iteration in range(10000):
        if float(torch.linalg.norm(r)) <= goal:
            return iteration, x
        precondition(r, z)
        rho = float(torch.dot(r, z))
        direction = z + rho / old * direction
        old = rho
        operator.apply(direction, out=q)
        alpha = rho / float(torch.dot(direction, q))
        x += alpha * direction
        r -= alpha * q
    raise RuntimeError("no convergence")


def main():
    """A line per number of cells and preconditioner."""
    context = tessera.Context("cuda")
    print("cells,nodes,preconditioner,iterations,seconds,residual")
    for cells in map(int, sys.argv[1:] or ("16", "48", "64")):
        space = tessera.Space(tessera.Mesh.box([cells] * 3, context=context), degree=4)
        operator = tessera.Operator(space)
        cycle = tessera.Multigrid(operator)
        b = torch.zeros(space.length, dtype=torch.float64, device="cuda")
        free = torch.as_tensor(np.asarray(space.free), device="cuda")
        b[free] = torch.randn(len(free), dtype=torch.float64, device="cuda")
        for name, precondition in (("none", lambda r, z: z.copy_(r)), ("V-cycle", lambda r, z: cycle.apply(r, out=z))):
            solve(operator, b, precondition)  # kernels
            torch.cuda.synchronize()
            begin = time.perf_counter()
            iterations, x = solve(operator, b, precondition)
            torch.cuda.synchronize()
            seconds = time.perf_counter() - begin
            r = torch.empty_like(b)
            operator.apply(x, out=r)
            error = float(torch.linalg.norm(r - b) / torch.linalg.norm(b))
            print(f"{cells},{len(b)},{name},{iterations},{seconds:.4f},{error:.1e}", flush=True)


main()
