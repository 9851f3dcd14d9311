# ---
# jupyter: {jupytext: {text_representation: {extension: .py, format_name: percent}}}
# ---
# %% [markdown]
# # An L that refines itself
# The solution r^(2/3) sin(2 phi / 3) has a singular corner: uniform meshes of any degree converge with h^(2/3) in the
# energy. Cells that the estimator marks bring the full order back.

# %%
import matplotlib.pyplot as plt
import numpy as np

import tessera


def exact(x, y):
    """The first singular function of the corner."""
    phi = np.arctan2(y, x)
    phi = np.where(phi < -1e-12, phi + 2 * np.pi, phi)
    return (x * x + y * y) ** (1 / 3) * np.sin(2 / 3 * phi)


def solve(mesh):
    """On a mesh, with the values of the exact solution on its hull."""
    problem = tessera.Problem(mesh, degree=3, f=0, boundary={"all": exact}, exact=exact)
    problem.solve()
    return problem


# %%
mesh, dofs, errors = tessera.Mesh.l_shape(refine=1), [], []
for step in range(9):
    problem = solve(mesh)
    dofs.append(problem.space.dofs)
    errors.append(problem.errors["h1"])
    print(f"{step}  {mesh.cells:5d} cells  {dofs[-1]:6d} unknowns  error of the gradient {errors[-1]:.2e}")
    mesh = mesh.refine(problem.mark())
assert errors[-1] < errors[0] / 8

# %%
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
problem.plot(axes=axes[0], edges=True)
axes[1].loglog(dofs, errors, "o-")
axes[1].set_xlabel("unknowns"), axes[1].set_ylabel("error of the gradient")
figure.savefig("l_shape.png", dpi=120)
