#!/usr/bin/env python3
"""Writes the Gmsh files (format 2.2) of the flow cases from blocks of quadrilaterals: tools/flow_meshes.py [FOLDER].

cylinder.msh  the channel of Schaefer and Turek (1996), cells of degree 4 that are thin at the cylinder
step.msh      a channel behind a backward-facing step of half its height, with a piece of the inlet channel
"""
import math
import os
import sys


class Mesh:
    """Nodes by their place, quadrilaterals and named lines of one degree."""

    def __init__(self, degree):
        self.degree, self.number, self.nodes, self.quads, self.lines = degree, {}, [], [], []

    def node(self, point):
        key = (round(point[0], 9), round(point[1], 9))
        if key not in self.number:
            self.nodes.append(point)
            self.number[key] = len(self.nodes)
        return self.number[key]

    def cell(self, at):
        """at(s, t): the place of a point of [0, 1]^2."""
        k = self.degree
        grid = [[self.node(at(i / k, j / k)) for i in range(k + 1)] for j in range(k + 1)]
        self.quads.append([grid[j][i] for i, j in quad_order(k)])

    def block(self, at, columns, rows):
        """Cells between the ascending numbers columns and rows of [0, 1]."""
        for a, b in zip(columns, columns[1:]):
            for c, d in zip(rows, rows[1:]):
                self.cell(lambda s, t: at(a + s * (b - a), c + t * (d - c)))

    def name_boundary(self, name_of):
        """Lines of the edges of one cell, by name_of(middle of an edge)."""
        k, edges = self.degree, {}
        for quad in self.quads:
            for e in range(4):
                ends = (quad[e], quad[(e + 1) % 4])
                inner = quad[4 + e * (k - 1):4 + (e + 1) * (k - 1)]
                edges.setdefault(frozenset(ends), []).append([*ends, *inner])
        for found in edges.values():
            if len(found) == 1:
                ends = [self.nodes[n - 1] for n in found[0][:2]]
                middle = [(ends[0][d] + ends[1][d]) / 2 for d in range(2)]
                self.lines.append((name_of(*middle), found[0]))

    def write(self, path):
        kinds = {1: (1, 3), 4: (27, 37)}  # Gmsh's numbers of lines and quadrilaterals
        names = sorted({name for name, _ in self.lines})
        line, quad = kinds[self.degree]
        with open(path, "w") as out:
            out.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n%d\n" % (len(names) + 1))
            for i, name in enumerate(names):
                out.write('1 %d "%s"\n' % (i + 1, name))
            out.write('2 %d "fluid"\n$EndPhysicalNames\n$Nodes\n%d\n' % (len(names) + 1, len(self.nodes)))
            for i, (x, y) in enumerate(self.nodes):
                out.write("%d %.12g %.12g 0\n" % (i + 1, x, y))
            out.write("$EndNodes\n$Elements\n%d\n" % (len(self.lines) + len(self.quads)))
            rows = [(line, names.index(name) + 1, nodes) for name, nodes in self.lines]
            rows += [(quad, len(names) + 1, nodes) for nodes in self.quads]
            for i, (kind, group, nodes) in enumerate(rows):
                out.write("%d %d 2 %d %d %s\n" % (i + 1, kind, group, group, " ".join(map(str, nodes))))
            out.write("$EndElements\n")


def quad_order(k):
    """Gmsh's order of the (k + 1)^2 nodes: corners, edges, then the nodes inside in the same way."""
    if k == 0:
        return [(0, 0)]
    order = [(0, 0), (k, 0), (k, k), (0, k)]
    order += [(i, 0) for i in range(1, k)] + [(k, j) for j in range(1, k)]
    order += [(i, k) for i in range(k - 1, 0, -1)] + [(0, j) for j in range(k - 1, 0, -1)]
    return order + [(i + 1, j + 1) for i, j in quad_order(k - 2)] if k > 1 else order


def graded(low, high, cells, ratio):
    """Ascending numbers whose distances grow by a factor."""
    sums = [sum(ratio**i for i in range(n)) for n in range(cells + 1)]
    return [low + (high - low) * s / sums[-1] for s in sums]


def cylinder():
    """Round the cylinder a square with three rings of cells, the thinnest at the wall; else rows and columns."""
    mesh, centre, radius, half = Mesh(4), 0.2, 0.05, 0.1
    rings, sectors = graded(0, 1, 3, 1.8), [i / 3 for i in range(4)]
    ends = [half * math.tan((s - 0.5) * math.pi / 2) for s in sectors]

    def straight(s):
        """Along a side of the square, with equal distances in each cell, as its neighbour outside has them."""
        i = min(int(s * 3 + 1e-9), 2)
        return ends[i] + (3 * s - i) * (ends[i + 1] - ends[i])

    for turn in range(4):

        def at(s, t):
            angle = (s - 0.5) * math.pi / 2
            inner = radius * math.cos(angle), radius * math.sin(angle)
            outer = half, straight(s)
            x, y = (inner[d] + t * (outer[d] - inner[d]) for d in range(2))
            for _ in range(turn):
                x, y = -y, x
            return centre + x, centre + y

        mesh.block(lambda s, t: at(1 - s, t), sectors, rings)
    side = [centre + y for y in ends]
    columns = [0, 0.055] + side + graded(0.3, 2.2, 14, 1.075)[1:]
    rows = [0, 0.04] + side + [0.365, 0.41]

    def is_outside(x, y):
        return abs(x - centre) > half or abs(y - centre) > half

    for a, b in zip(columns, columns[1:]):
        for c, d in zip(rows, rows[1:]):
            if is_outside((a + b) / 2, (c + d) / 2):
                mesh.cell(lambda s, t: (a + s * (b - a), c + t * (d - c)))

    def name_of(x, y):
        if x < 1e-9 or x > 2.2 - 1e-9:
            return "inflow" if x < 1 else "outflow"
        return "walls" if y < 1e-9 or y > 0.41 - 1e-9 else "cylinder"

    mesh.name_boundary(name_of)
    return mesh


def step():
    """Inlet (-1, 0) x (0.5, 1), then (0, 10) x (0, 1): lengths in heights of the channel behind the step."""
    mesh = Mesh(1)
    behind = graded(0, 10, 22, 1.06)
    rows = [0, 0.2, 0.5, 0.8, 1]
    for a, b in zip([-1, -0.5] + behind, [-0.5] + behind):
        for c, d in zip(rows, rows[1:]):
            if (a + b) / 2 > 0 or c > 0.4:
                mesh.cell(lambda s, t: (a + s * (b - a), c + t * (d - c)))
    mesh.name_boundary(lambda x, y: "inflow" if x < -1 + 1e-9 else "outflow" if x > 10 - 1e-9 else "walls")
    return mesh


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "cases")
    cylinder().write(os.path.join(folder, "cylinder.msh"))
    step().write(os.path.join(folder, "step.msh"))


main()
