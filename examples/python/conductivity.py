# ---
# jupyter: {jupytext: {text_representation: {extension: .py, format_name: percent}}}
# ---
# %% [markdown]
# # An optimal conductivity
# Heat 1 is made everywhere in a square plate and leaves through its left side. Material of high conductivity has a
# price: where should it lie, so that the plate is cool for little material? Every cell has a share of it, and
# `gradient()` gives the derivatives by all shares for the price of one adjoint solve.

# %%
import numpy as np
from scipy.optimize import minimize

import tessera

N = 16
mesh = tessera.Mesh.box([N, N])


def conductivity(share):
    """1e-1 without material, 1 with it; the third power makes half measures unattractive."""
    return 0.1 + 0.9 * share**3


def solve(share):
    """The plate with so much material in each cell, [N * N], x fastest."""
    a = conductivity(share).reshape(N, N)

    def of_cell(x, y):
        return a[np.minimum(y * N, N - 1).astype(int), np.minimum(x * N, N - 1).astype(int)]

    sides = {"left": 0, "all": {"neumann": 0}}
    problem = tessera.Problem(mesh, degree=2, a=of_cell, f=1, boundary=sides, solver={"tolerance": 1e-10})
    problem.solve()
    return problem


def compliance(share):
    """int u, and its derivatives by the shares."""
    problem = solve(share)
    by_a = problem.gradient("u", of="a", cells=True)
    return problem.value("u"), by_a * 2.7 * share**2


# %% [markdown]
# The derivative is that of the discrete value: it agrees with differences of solves.

# %%
rng = np.random.default_rng(1)
start = np.full(N * N, 1 / 3)
direction = rng.standard_normal(N * N)
value, slope = compliance(start)
step = 1e-4
difference = (compliance(start + step * direction)[0] - compliance(start - step * direction)[0]) / (2 * step)
print(f"along a direction: {slope @ direction:.9f} by the adjoint, {difference:.9f} by differences")
assert abs(slope @ direction - difference) < 1e-6 * abs(difference)

# %%
PRICE = 1.5


def cost(share):
    """int u and the price of the material, with derivatives by the shares."""
    number, derivatives = compliance(share)
    return number + PRICE * share.mean(), derivatives + PRICE / share.size


found = minimize(cost, start, jac=True, method="L-BFGS-B", bounds=[(0, 1)] * (N * N), options={"maxiter": 60})
spread = cost(np.full(N * N, found.x.mean()))[0]
print(f"cost {spread:.4f} with the material spread out, {found.fun:.4f} after {found.nfev} solves")
print(
    f"material in {found.x.mean():.0%} of the plate, {np.mean((found.x < 0.1) | (found.x > 0.9)):.0%} of cells decided"
)
assert found.fun < 0.8 * spread

# %%
try:
    import matplotlib.pyplot as plt
except ImportError:
    pass
else:
    figure, axes = plt.subplots(figsize=(4, 4), layout="constrained")
    axes.imshow(found.x.reshape(N, N), origin="lower", extent=(0, 1, 0, 1), cmap="Greys")
    axes.set_title("material")
    figure.savefig("conductivity.png", dpi=120)

# %% [markdown]
# The same function for PyTorch and JAX, where they are installed: a value with its own derivative, which others'
# programs differentiate through.

# %%
try:
    import torch
except ImportError:
    print("without PyTorch")
else:

    class Compliance(torch.autograd.Function):
        """int u of the shares."""

        @staticmethod
        def forward(ctx, share):
            """The value; its derivatives wait for backward()."""
            number, derivatives = compliance(share.detach().numpy())
            ctx.save_for_backward(torch.from_numpy(derivatives))
            return torch.tensor(number, dtype=torch.float64)

        @staticmethod
        def backward(ctx, above):
            """The chain rule."""
            return above * ctx.saved_tensors[0]

    share = torch.full((N * N,), 1 / 3, dtype=torch.float64, requires_grad=True)
    torch.log(Compliance.apply(share)).backward()
    assert np.allclose(share.grad.numpy(), slope / value, rtol=1e-9)

# %%
try:
    import jax
except ImportError:
    print("without JAX")
else:
    jax.config.update("jax_enable_x64", True)

    @jax.custom_vjp
    def of_shares(share):
        """int u of the shares."""
        return forward(share)[0]

    def forward(share):
        """The value and its derivatives, computed outside of JAX."""
        shapes = (jax.ShapeDtypeStruct((), np.float64), jax.ShapeDtypeStruct(share.shape, np.float64))
        return jax.pure_callback(lambda x: tuple(map(np.asarray, compliance(np.asarray(x)))), shapes, share)

    of_shares.defvjp(forward, lambda derivatives, above: (above * derivatives,))
    by_jax = jax.grad(lambda share: jax.numpy.log(of_shares(share)))(jax.numpy.asarray(start))
    assert np.allclose(by_jax, slope / value, rtol=1e-9)
