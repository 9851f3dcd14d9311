# ---
# jupyter: {jupytext: {text_representation: {extension: .py, format_name: percent}}}
# ---
# %% [markdown]
# # A V-cycle for the arrays of a flow code in CuPy
# A jet enters a channel. The code computes in arrays of CuPy, here of NumPy where CuPy is missing: finite volumes,
# explicit steps, and a pressure that makes the velocity free of divergence. Nearly all of its time is the equation of
# the pressure, which conjugate gradients with the diagonal solve. Thirteen lines let Tessera's V-cycle take the
# place of the diagonal; the Laplacian and the conjugate gradients of the code stay. The iterations no longer grow with
# the grid.

# %%
import sys
import time

import numpy as np

try:
    import cupy as xp

    xp.zeros(1)
except Exception:  # neither CuPy nor a GPU
    xp = np
on_gpu = xp is not np

# %% [markdown]
# ## The flow code
# Cells of size h, `n` across and `4 n` along the channel. Velocities are at centres of cells and on faces, pressures
# at centres; the plane of pressures behind the outlet is zero.

# %%
n = int(sys.argv[1]) if sys.argv[1:] else 256 if on_gpu else 16
nx, ny, nz, h = 4 * n, n, n, 1 / n
nu, dt = 1e-3, 0.25 * h
side = (xp.arange(n) + 0.5) * h
jet = xp.exp(-40 * ((side[:, None] - 0.4) ** 2 + (side[None, :] - 0.6) ** 2))  # the velocity at the inlet
X, Y, Z = 2, 1, 0  # axes of arrays


def cut(axis, first, end):
    """The part of an array from `first` to `end` along an axis."""
    return (slice(None),) * axis + (slice(first, end),)


def padded(q, component, axis):
    """With a layer of cells at both ends: no slip at walls, the jet at the inlet, no change at the outlet."""
    low, high = q[cut(axis, 0, 1)], q[cut(axis, -1, None)]
    if axis != X:
        return xp.concatenate([-low, q, -high], axis)
    return xp.concatenate([(2 * jet[:, :, None] if component == X else 0) - low, q, high], axis)


def transport(velocity, faces):
    """Explicit step of velocity: fluxes through faces, and diffusion."""
    for component in (X, Y, Z):
        q = velocity[component]
        change = xp.zeros_like(q)
        for axis in (X, Y, Z):
            g = padded(q, component, axis)
            flux = faces[axis] * (g[cut(axis, 1, None)] + g[cut(axis, 0, -1)]) / 2 - nu / h * xp.diff(g, axis=axis)
            change -= xp.diff(flux, axis=axis)
        yield component, q + dt / h * change


def laplacian(p):
    """-div(grad p), without a matrix: no flux through walls and inlet, p = 0 behind the outlet."""
    out = xp.zeros_like(p)
    for axis in (X, Y, Z):
        d = xp.diff(p, axis=axis) / h**2
        out[cut(axis, 0, -1)] -= d
        out[cut(axis, 1, None)] += d
    out[:, :, -1] = 0
    return out


def conjugate_gradients(b, x, precondition, tolerance=1e-8):
    """Solves laplacian(x) = b from the guess x; the number of iterations."""
    r = b - laplacian(x)
    goal = tolerance * float(xp.linalg.norm(b.ravel()))
    old, direction = 1.0, 0.0
    for iteration in range(20000):
        if float(xp.linalg.norm(r.ravel())) <= goal:
            return iteration
        z = precondition(r)
        rho = float(xp.vdot(r, z))
        direction = z + rho / old * direction
        old = rho
        q = laplacian(direction)
        alpha = rho / float(xp.vdot(direction, q))
        x += alpha * direction
        r -= alpha * q
    raise RuntimeError("the pressure does not converge")


diagonal = xp.full((nz, ny, nx + 1), 6 / h**2)
for axis in (X, Y, Z):
    diagonal[cut(axis, 0, 1)] -= 1 / h**2
    diagonal[cut(axis, -1, None)] -= 1 / h**2


def by_diagonal(r):
    """Jacobi's preconditioner."""
    return r / diagonal


def step(state, precondition):
    """A step in time; iterations, and seconds of the equation of the pressure."""
    velocity, faces, p = state
    velocity = dict(transport(velocity, faces))
    for axis in (X, Y, Z):  # means at faces; nothing passes walls
        g = padded(velocity[axis], axis, axis)
        faces[axis] = (g[cut(axis, 1, None)] + g[cut(axis, 0, -1)]) / 2
    divergence = sum(xp.diff(faces[axis], axis=axis) for axis in (X, Y, Z)) / h
    b = xp.zeros_like(p)
    b[:, :, :-1] = -divergence / dt
    begin = now()
    iterations = conjugate_gradients(b, p, precondition)
    seconds = now() - begin
    for axis in (X, Y, Z):
        gradient = xp.diff(p, axis=axis) / h
        if axis == X:
            faces[X][:, :, 1:] -= dt * gradient
            velocity[X] -= dt / 2 * gradient
            velocity[X][:, :, 1:] -= dt / 2 * gradient[:, :, :-1]
            continue
        gradient = gradient[:, :, :-1]
        faces[axis][cut(axis, 1, -1)] -= dt * gradient
        for half in (cut(axis, 0, -1), cut(axis, 1, None)):
            velocity[axis][half] -= dt / 2 * gradient
    return (velocity, faces, p), iterations, seconds


def now():
    """Seconds, when the GPU has done all that it was asked."""
    if on_gpu:
        xp.cuda.Device().synchronize()
    return time.perf_counter()


def rest():
    """No motion; at the inlet, the jet."""
    cells = {axis: xp.zeros((nz, ny, nx)) for axis in (X, Y, Z)}
    faces = {axis: xp.zeros([size + (axis == a) for a, size in enumerate((nz, ny, nx))]) for axis in (X, Y, Z)}
    return cells, faces, xp.zeros((nz, ny, nx + 1))


def run(precondition):
    """Two steps from rest: the last state, and of the second step its iterations, its seconds, and the pressure's."""
    state, _, _ = step(rest(), precondition)
    begin = now()
    state, iterations, pressure = step(state, precondition)
    return state, iterations, now() - begin, pressure


# %% [markdown]
# ## What changes
# Centres of cells are the nodes of a mesh of elements Q1. Its Laplacian K is not the Laplacian A of the code: h^3 A has
# 7 entries per row, K has 27. They are equivalent: v'Kv <= h^3 v'Av <= 9 v'Kv inside, whatever h is, and 9 belongs to
# the shortest waves. So the V-cycle for K corrects long waves, and the diagonal of A damps the short ones before and
# after. Arrays are read and written in the memory of CuPy.

# %%
import tessera  # noqa: E402

context = tessera.Context("cuda" if on_gpu else "cpu")
size = [nx, ny - 1, nz - 1]
mesh = tessera.Mesh.box(size, upper=[m * h for m in size], context=context)
space = tessera.Space(mesh, degree=1, given=["right"])  # the plane behind the outlet
cycle = tessera.Multigrid(tessera.Operator(space), precision="single", smoother="chebyshev")
z = xp.zeros((nz, ny, nx + 1), np.float32)


def by_v_cycle(r):
    """The diagonal, a V-cycle in float32, the diagonal again: a symmetric preconditioner."""
    x = r / (1.7 * diagonal)
    cycle.apply((r - laplacian(x)).astype(np.float32).ravel(), out=z.ravel())
    x += 0.9 * h**3 * z
    return x + (r - laplacian(x)) / (1.7 * diagonal)


# %%
results = {name: run(way) for name, way in (("V-cycle", by_v_cycle), ("diagonal", by_diagonal))}
print(f"{nx} x {ny} x {nz} cells, {'CuPy' if on_gpu else 'NumPy'}")
for name, (_, iterations, seconds, pressure) in results.items():
    print(f"{name}: {iterations} iterations, {seconds:.3f} s a step, {pressure:.3f} s of it for the pressure")
(new, few, new_seconds, new_pressure), (old, many, old_seconds, old_pressure) = results.values()
print(f"times as fast: the step {old_seconds / new_seconds:.1f}, its pressure {old_pressure / new_pressure:.1f}")
assert few < 20 < many
assert float(xp.abs(new[2] - old[2]).max()) < 1e-5 * float(xp.abs(old[2]).max())  # the same pressures

# %% [markdown]
# ## PyTorch
# The same cycle takes tensors, where PyTorch is there.

# %%
try:
    import torch
except ImportError:
    torch = None
if torch:
    r = torch.ones((nz, ny, nx + 1), dtype=torch.float32, device="cuda" if on_gpu else "cpu")
    r[:, :, -1] = 0
    out = torch.empty_like(r)
    cycle.apply(r.ravel(), out=out.ravel())
    ones = xp.ones(r.shape, np.float32)
    ones[:, :, -1] = 0
    cycle.apply(ones.ravel(), out=z.ravel())
    assert abs(float(out.norm()) - float(xp.linalg.norm(z.ravel()))) < 1e-4 * float(out.norm())
