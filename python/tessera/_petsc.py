"""Operators and V-cycles for petsc4py, on the unknowns alone."""

import numpy as np
from petsc4py import PETSc


class _Shell:
    """What PETSc calls; exceptions come out of its calls."""

    def __init__(self, linear):
        if np.dtype(PETSc.ScalarType) != np.float64:
            raise TypeError(f"to_petsc: PETSc computes with {np.dtype(PETSc.ScalarType)}, Tessera with float64")
        self.linear = linear
        self._in_place = linear.space.free is None and linear.precision == "double" and linear.context.on_host

    def mult(self, _mat, x, y):
        """y <- A x; where all nodes are unknowns in the memory of both."""
        if self._in_place:
            self.linear.apply(x.getArray(readonly=1), y.getArray())
        else:
            y.getArray()[:] = self.linear.matvec(x.getArray(readonly=1))

    def apply(self, _pc, x, y):
        """y <- one cycle for A y = x."""
        self.mult(None, x, y)

    def getDiagonal(self, _mat, d):  # pylint: disable=invalid-name
        """Of the unknowns."""
        d.getArray()[:] = self.linear.diagonal()


def matrix(operator):
    """A Mat that keeps the operator."""
    n = operator.shape[0]
    made = PETSc.Mat().createPython([n, n], _Shell(operator), comm=PETSc.COMM_SELF)
    made.setUp()
    return made


def preconditioner(cycle):
    """A PC that keeps the cycle; with its operator, so that KSP.setPC() may come after KSP.setOperators()."""
    made = PETSc.PC().createPython(_Shell(cycle), comm=PETSc.COMM_SELF)
    made.setOperators(matrix(cycle.operator))
    return made
