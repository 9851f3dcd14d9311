# ---
# jupyter: {jupytext: {text_representation: {extension: .py, format_name: percent}}}
# ---
# %% [markdown]
# # A V-cycle for an operator of your own
# -div(a grad u) + s u = 1, where s is a term that Tessera does not know: springs at three points. SciPy applies the
# sum; the V-cycle of the first part alone preconditions it.

# %%
import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

import tessera

mesh = tessera.Mesh.box([32, 32])
space = tessera.Space(mesh, degree=4)
stiffness = tessera.Operator(space, a=lambda x, y: 1 + x * y)
cycle = tessera.Multigrid(stiffness, precision="single")
b = stiffness.restrict(space.load(1.0))
print(stiffness.description, "--", cycle.levels, "levels,", space.dofs, "unknowns")

# %%
# Springs at the nodes next to three points.
x = space.coordinates()[space.free]
springs = np.zeros(space.dofs)
for point in ([0.25, 0.25], [0.5, 0.75], [0.75, 0.5]):
    springs[np.argmin(np.linalg.norm(x - point, axis=1))] = 10.0
own = LinearOperator(stiffness.shape, lambda v: stiffness @ v + springs * np.ravel(v), dtype=float)

# %%
diagonal = stiffness.diagonal() + springs
jacobi = LinearOperator(own.shape, lambda r: np.ravel(r) / diagonal, dtype=float)
counts = {"V-cycle": 0, "diagonal": 0}
for name, preconditioner in (("V-cycle", cycle), ("diagonal", jacobi)):

    def count(_, name=name):
        counts[name] += 1

    u, info = cg(own, b, rtol=1e-8, M=preconditioner, callback=count, maxiter=2000)
    assert info == 0
print("iterations:", counts)
assert counts["V-cycle"] < 20 < counts["diagonal"]
