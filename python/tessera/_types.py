"""Names of types for annotations."""

from __future__ import annotations

import os
from typing import Any, Callable, List, Sequence, Tuple, Union

import numpy as np

Array = np.ndarray
Path = Union[str, "os.PathLike[str]"]
#: A number, an expression, a callable of NumPy arrays f(x, y, z, t), or a square of them.
Function = Union[float, str, Callable[..., Any], Sequence[Sequence[Any]]]
#: A function, or a list of them by component.
Functions = Union[Function, List[Union[Function, None]], Tuple[Union[Function, None], ...]]
