# ---
# jupyter: {jupytext: {text_representation: {extension: .py, format_name: percent}}}
# ---
# %% [markdown]
# # Flow past a cylinder
# The benchmark of Schaefer and Turek (1996) at Reynolds number 20, from rest towards its steady state: a channel of
# height 0.41 with a cylinder of radius 0.05, inflow of mean velocity 0.2, nu = 0.001. Published drag: 5.57 to 5.59. The
# mesh is coarse and the run short, so that it takes seconds.

# %%
import matplotlib.pyplot as plt

import tessera

mesh = tessera.Mesh.channel(refine=1)
problem = tessera.Problem(
    mesh,
    "navier_stokes",
    degree=3,
    nu=0.001,
    boundary={
        "inflow": {"velocity": ["4*0.3*y*(0.41 - y)/(0.41*0.41)", 0]},
        "walls": {"velocity": [0, 0]},
        "cylinder": {"velocity": [0, 0]},
        "outflow": {"outflow": [0, 0, 0]},
    },
    time={"end": 1.0, "cfl": 0.5, "method": "imex_bdf2"},
)

# %%
times, drag = [], []
for iterations in problem.steps():
    if problem.info["step"] % 20 == 0:
        times.append(problem.time)
        drag.append(2 * problem.value(kind="force", boundary="cylinder", of="x") / (0.2**2 * 0.1))
print(f"{problem.info['step']} steps, drag {drag[-1]:.3f} at t = {times[-1]:.2f}")
assert 5 < drag[-1] < 7

# %%
figure, axes = plt.subplots(2, 1, figsize=(10, 5), layout="constrained")
problem.plot("sqrt(u*u + v*v)", axes=axes[0])
axes[1].plot(times[1:], drag[1:])
axes[1].set_xlabel("time"), axes[1].set_ylabel("drag")
figure.savefig("cylinder.png", dpi=120)
