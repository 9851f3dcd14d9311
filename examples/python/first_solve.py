# ---
# jupyter: {jupytext: {text_representation: {extension: .py, format_name: percent}}}
# ---
# %% [markdown]
# # A first solve
# A heated plate: -div(a grad u) = f with a bump in the conductivity, a cold wall and a flux on the right. The case is
# the dict that a case file would hold.

# %%
import matplotlib.pyplot as plt
import numpy as np

import tessera

case = {
    "problem": "poisson",
    "mesh": {"box": {"dim": 2, "cells": [32, 32]}},
    "space": {"degree": 4},
    "data": {"f": "1", "a": "1 + 9*exp(-20*((x-0.5)*(x-0.5) + (y-0.5)*(y-0.5)))"},
    "boundary": {"all": {"dirichlet": 0}, "right": {"neumann": "y"}},
    "output": {"points": {"middle": [0.5, 0.5]}, "values": {"mean": {"mean": "domain"}}},
}
result = tessera.solve(case)
print(result)
print(result.points, result.values)

# %%
# The field, and the size of its gradient.
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
result.plot(axes=axes[0])
result.plot("sqrt(ux*ux + uy*uy)", axes=axes[1])
figure.savefig("first_solve.png", dpi=120)

# %%
# Along a line.
x = np.linspace(0, 1, 101)
along = result.sample(np.stack([x, np.full_like(x, 0.5)], axis=1))
print(f"largest value along y = 0.5: {along.max():.4f}")

# %%
# Another degree: the same to six digits.
finer = tessera.solve(case, set={"space.degree": 6})
assert abs(finer.values["mean"] - result.values["mean"]) < 1e-6 * result.values["mean"]
