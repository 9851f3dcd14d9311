"""A Gmsh file (format 2.2, text) of N^2 quadrilaterals or N^3 hexahedra of the unit cube, whose inner vertices are
moved.

    python3 bench/moved_mesh.py FILE DIM N
"""
import random
import sys


def vertex(at, n, dim):
    inside = all(0 < c < n for c in at[:dim])
    return [(c + (random.uniform(-0.2, 0.2) if inside else 0)) / n for c in at[:dim]] + [0] * (3 - dim)


def main():
    name, dim, n = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    random.seed(1)
    m = n + 1
    with open(name, "w") as file:
        file.write(f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{m ** dim}\n")
        for i in range(m ** dim):
            x, y, z = vertex([i % m, i // m % m, i // m ** 2], n, dim)
            file.write(f"{i + 1} {x:.9g} {y:.9g} {z:.9g}\n")
        file.write(f"$EndNodes\n$Elements\n{n ** dim}\n")
        for e in range(n ** dim):
            corner = 1 + e % n + m * (e // n % n + m * (e // n ** 2))
            face = [corner, corner + 1, corner + 1 + m, corner + m]
            cell = face if dim == 2 else face + [i + m * m for i in face]
            file.write(f"{e + 1} {3 if dim == 2 else 5} 2 1 1 {' '.join(map(str, cell))}\n")
        file.write("$EndElements\n")


main()
