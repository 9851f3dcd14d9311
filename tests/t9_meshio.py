"""Run: ctest -R t9_meshio. The lines of docs/meshes.md that convert meshes by meshio: t9_meshio.py TESSERA. A cube of
hexahedra in each format becomes a Gmsh file, whose volume the program tells. 77 (skipped) without meshio."""
import os
import re
import subprocess
import sys
import tempfile

try:
    import meshio
    import numpy
except ImportError:
    print("meshio is not installed (python3-meshio)")
    sys.exit(77)

CELLS = 3


def cube():
    line = numpy.linspace(0, 1, CELLS + 1)
    points = numpy.array([[x, y, z] for z in line for y in line for x in line])

    def at(x, y, z):
        return x + (CELLS + 1) * (y + (CELLS + 1) * z)

    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    cells = [[at(x + a, y + b, z + c) for a, b,
        c in corners] for z in range(CELLS) for y in range(CELLS) for x in range(CELLS)]
    return meshio.Mesh(points, [("hexahedron", numpy.array(cells))])


def documented():
    page = os.path.join(os.path.dirname(__file__), "..", "docs", "meshes.md")
    with open(page, encoding="utf-8") as file:
        return re.findall(r"^meshio convert (\S+) (\S+) --output-format (\S+)", file.read(), re.M)


def main():
    program, failures, lines = sys.argv[1], 0, documented()
    assert len(lines) >= 4, "docs/meshes.md has no lines of meshio"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for source, target, form in lines:
            try:
                meshio.write(source, cube())
            except ImportError as missing:
                print(f"{source}: not tested: {missing}")
                continue
            meshio._cli.main(["convert", source, target, "--output-format", form])
            with open("case.yaml", "w", encoding="utf-8") as case:
                case.write(f"problem: poisson\nmesh: {{file: {target}}}\nboundary: {{all: {{dirichlet: 0}}}}\n"
                           "output: {values: {volume: {integral: domain, of: 1}}}\n")
            run = subprocess.run([program, "solve", "case.yaml", "--device", "cpu"], capture_output=True, text=True,
                check=False)
            if run.returncode == 3:
                print("no p4est in this build")
                return 77
            good = run.returncode == 0 and re.search(r"volume = (1|0\.99999999\d*)\n", run.stdout)
            print(source, "ok" if good else run.stdout + run.stderr)
            failures += not good
            os.remove(target)
    return failures


if __name__ == "__main__":
    sys.exit(main())
