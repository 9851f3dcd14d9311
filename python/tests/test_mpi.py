"""Several processes by mpi4py."""

import os
import shutil
import subprocess
import sys
import textwrap

import pytest

import tessera

needs_mpi = pytest.mark.skipif(
    not (tessera.has_part("mpi") and tessera.has_part("p4est") and shutil.which("mpirun")),
    reason="a build without MPI, or no mpirun",
)
RUN = """
    import sys, tessera
    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    context = tessera.Context("cpu", threads=1, communicator=comm)
    assert (context.rank, context.ranks) == (comm.rank, comm.size)
    mesh = tessera.Mesh.box([8, 8], kind="forest", context=context)
    problem = tessera.Problem(mesh, degree=3, a="1 + x*y", f="1 + x", solver={"tolerance": 1e-11})
    iterations = problem.solve().count
    values = comm.gather((mesh.cells, problem.value("u"), iterations))
    if comm.rank == 0:
        print(*[f"{cells} {value:.15g} {count}" for cells, value, count in values], sep="\\n")
"""


@needs_mpi
def test_two_ranks():
    """Each has half of the cells; both have the numbers of one process."""
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMP_NUM_THREADS": "1"}
    found = {}
    for ranks in (1, 2):
        command = ["mpirun", "-n", str(ranks), sys.executable, "-c", textwrap.dedent(RUN)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        found[ranks] = [line.split() for line in done.stdout.split("\n") if line]
    assert [len(rows) for rows in found.values()] == [1, 2]
    assert found[1][0][0] == "64" and [row[0] for row in found[2]] == ["32", "32"]
    for row in found[2]:
        assert float(row[1]) == pytest.approx(float(found[1][0][1]), rel=1e-12)
        assert row[2] == found[1][0][2]


def test_no_communicator():
    """What is none."""
    with pytest.raises(TypeError, match="none of mpi4py"):
        tessera.Context("cpu", communicator=7)
