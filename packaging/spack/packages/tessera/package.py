# Copyright of the authors of Tessera; SPDX-License-Identifier: Apache-2.0
"""Spack recipe: spack repo add packaging/spack && spack install tessera, in a clone of the repository."""

import os

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Tessera(CMakePackage):
    """High-order finite elements for diffusion, transport, elasticity and incompressible flow: matrix-free operators,
    geometric multigrid, processors and NVIDIA GPUs; a program that reads case files, and a C library."""

    # The clone that has this recipe.
    git = "file://" + os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 4))

    license("Apache-2.0", when="~p4est", checked_by="authors")
    license("GPL-2.0-or-later", when="+p4est", checked_by="authors")

    version("main", branch="main")

    variant("p4est", default=True, description="meshes of trees, and several processes; GPL-2.0-or-later")
    variant("hypre", default=False, description="algebraic multigrid for large coarse meshes")
    variant("hdf5", default=True, description="checkpoints")
    variant("png", default=True, description="pictures")

    depends_on("c", type="build")
    depends_on("cmake@3.20:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("zlib-api")
    depends_on("openblas threads=none")
    depends_on("netlib-lapack +lapacke +external-blas")
    depends_on("libfyaml")
    depends_on("cjson")
    depends_on("p4est +mpi", when="+p4est")
    depends_on("mpi", when="+p4est")
    depends_on("hypre +mpi", when="+hypre")
    depends_on("hdf5", when="+hdf5")
    depends_on("libpng", when="+png")
    conflicts("+hypre", when="~p4est", msg="hypre is called with the communicator of p4est's meshes")

    def cmake_args(self):
        parts = [
            self.define_from_variant(f"TESSERA_{part.upper()}", part) for part in ("p4est", "hypre", "hdf5", "png")
        ]
        return [*parts, self.define("TESSERA_TESTS", False), self.define("TESSERA_MUMPS", "OFF")]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        """The smallest case converges."""
        case = join_path(self.stage.source_path, "cases", "poisson-square.yaml")
        Executable(self.prefix.bin.tessera)("solve", case, "--device", "cpu")
