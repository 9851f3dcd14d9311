"""What the tests share."""

import numpy as np
import pytest

import tessera

needs_trees = pytest.mark.skipif(not tessera.has_part("p4est"), reason="built without p4est")


@pytest.fixture
def square():
    """8 x 8 cells."""
    return tessera.Mesh.box([8, 8])


@pytest.fixture
def rng():
    """The same numbers every time."""
    return np.random.default_rng(7)
