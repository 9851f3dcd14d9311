"""Pictures by matplotlib."""

import numpy as np

from ._core import InvalidInput
from ._solution import pieces

RESOLUTION = 240  # points along the longer side of a cut


def plot(solution, of, axes, cut, edges, options):
    """Axes with the picture."""
    import matplotlib.pyplot as plt  # pylint: disable=import-outside-toplevel

    if axes is None:
        axes = plt.subplots()[1]
    of = of or solution.field_names[0]
    if not isinstance(of, str):
        raise TypeError(f"plot: {of!r} is no expression in the fields; one picture shows one")
    if cut is not None and solution.mesh.dim == 2 or edges and solution.mesh.dim == 3:
        raise InvalidInput("plot: slice is for solutions in 3D, edges for solutions in 2D", "invalid_input")
    picture = (
        flat(solution, of, axes, edges, options) if solution.mesh.dim == 2 else cross(solution, of, axes, cut, options)
    )
    axes.set_aspect("equal")
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    share = min(0.15, 0.047 * (top - bottom) / (right - left))  # of a bar as high as the picture
    axes.figure.colorbar(picture, ax=axes, label=of, fraction=share, pad=0.04)
    return axes


def flat(solution, of, axes, edges, options):
    """2D: cells in triangles, on a lattice of the space's degree."""
    n = max(solution.space.degree, 2)
    x, values = solution.lattice(n), solution.over_cells(of, n)
    cells, points = values.shape
    quads = pieces(cells, points, 2, n)
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    picture = axes.tripcolor(
        x[:, :, 0].ravel(),
        x[:, :, 1].ravel(),
        triangles,
        values.ravel(),
        **{"shading": "gouraud", "rasterized": True, **options},
    )
    if edges:
        around = np.concatenate(
            [
                np.arange(n + 1),
                np.arange(2 * n + 1, points, n + 1),
                points - 2 - np.arange(n),
                np.arange(points - 2 * n - 2, -1, -n - 1),
            ]
        )
        lines = np.concatenate([x[:, around], np.full((cells, 1, 2), np.nan)], axis=1).reshape(-1, 2)
        axes.plot(lines[:, 0], lines[:, 1], color="black", linewidth=0.4)
    axes.set_xlabel("x"), axes.set_ylabel("y")
    return picture


def cross(solution, of, axes, cut, options):
    """3D: values in a plane across an axis."""
    corners = solution.lattice(1).reshape(-1, 3)
    least, most = corners.min(axis=0), corners.max(axis=0)
    if cut is not None and (not isinstance(cut, (list, tuple)) or len(cut) != 2 or cut[0] not in ("x", "y", "z")):
        raise InvalidInput(f"slice: {cut!r}, expected x, y or z and a number, as ('z', 0.5)", "invalid_input")
    name, at = cut or ("z", None)
    across = "xyz".index(name)
    at = (least[across] + most[across]) / 2 if at is None else at
    first, second = [d for d in range(3) if d != across]
    counts = np.maximum(2, np.ceil(RESOLUTION * (most - least) / max(most - least)).astype(int))
    a, b = np.meshgrid(
        np.linspace(least[first], most[first], counts[first]), np.linspace(least[second], most[second], counts[second])
    )
    points = np.full((a.size, 3), float(at))
    points[:, first], points[:, second] = a.ravel(), b.ravel()
    inside = solution.mesh.locate(points) >= 0
    if not inside.any():
        raise InvalidInput(f"slice: no cell at {name} = {at}", "invalid_input")
    values = np.full(a.size, np.nan)
    values[inside] = solution.sample(points[inside], of)
    axes.set_xlabel("xyz"[first]), axes.set_ylabel("xyz"[second])
    axes.set_title(f"{name} = {at:g}")
    return axes.pcolormesh(a, b, values.reshape(a.shape), **{"shading": "gouraud", "rasterized": True, **options})
