"""Meshes that are drawn, read and written as files of Gmsh: without Gmsh, so that any machine can run the tests."""

import hashlib
import itertools
import os
import struct

FACES = ("left", "right", "bottom", "top", "back", "front")
# Gmsh's number of a type of element -> its dimensions, its nodes, its vertices
TYPES = {
    1: (1, 2, 2),
    2: (2, 3, 3),
    3: (2, 4, 4),
    4: (3, 4, 4),
    5: (3, 8, 8),
    8: (1, 3, 2),
    9: (2, 6, 3),
    10: (2, 9, 4),
    11: (3, 10, 4),
    15: (0, 1, 1),
    16: (2, 8, 4),
    27: (1, 5, 2),
    37: (2, 25, 4),
}
# positions of the nodes of an element of tensor products, by dimension and degree
POSITIONS = {
    (1, 1): [(0,), (1,)],
    (1, 2): [(0,), (2,), (1,)],
    (2, 1): [(0, 0), (1, 0), (1, 1), (0, 1)],
    (2, 2): [(0, 0), (2, 0), (2, 2), (0, 2), (1, 0), (2, 1), (1, 2), (0, 1), (1, 1)],
    (3, 1): [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)],
}
TENSOR = {(1, 1): 1, (1, 2): 8, (2, 1): 3, (2, 2): 10, (3, 1): 5}
KINDS = {2: ["quads", "quads", "quads of degree 2", "triangles"], 3: ["hexahedra", "hexahedra", "tetrahedra"]}


class Mesh:
    """Nodes (lists of coordinates), cells and sides: (type, name, numbers of nodes from 0)."""

    def __init__(self, dim, nodes, cells, sides, split=False, flat=True):
        self.dim = dim
        self.nodes = nodes
        self.cells = cells
        self.sides = sides
        self.split = split
        self.flat = flat  # sides are those of a box
        self.made = None  # what structured() was called with
        self.version = "2.2"
        self.origin = ""
        self.pairs = []  # nodes that are one

    def names(self):
        """Names of the boundaries."""
        return sorted({name for _, name, _ in self.sides})

    def materials(self):
        """Names of the groups of cells."""
        return sorted({name for _, name, _ in self.cells})

    def moved(self, place):
        """The same mesh with other coordinates: place maps a node."""
        mesh = Mesh(self.dim, [place(x) for x in self.nodes], self.cells, self.sides, self.split, self.flat)
        mesh.version = self.version
        mesh.origin = self.origin
        mesh.pairs = self.pairs
        return mesh

    def renamed(self, face):
        """The same mesh with other names of sides."""
        mesh = self.moved(list)
        mesh.sides = [(kind, face(name), nodes) for kind, name, nodes in self.sides]
        return mesh

    def shuffled(self, r):
        """The same mesh with nodes, cells and sides in another order, in one of the formats."""
        order = list(range(len(self.nodes)))
        r.shuffle(order)
        number = {old: new for new, old in enumerate(order)}

        def mix(elements):
            mixed = [(kind, name, [number[n] for n in nodes]) for kind, name, nodes in elements]
            r.shuffle(mixed)
            return mixed

        mesh = Mesh(self.dim, [self.nodes[n] for n in order], mix(self.cells), mix(self.sides), self.split, self.flat)
        mesh.version = r.choice(["2.2", "4.1"])
        mesh.origin = self.origin
        mesh.pairs = [(number[a], number[b]) for a, b in self.pairs]
        return mesh

    def save(self, folder):
        """Writes the file where it is not there yet; returns its name."""
        text = text_22(self) if self.version == "2.2" else text_41(self)
        name = "mesh-%s.msh" % hashlib.sha1(text.encode()).hexdigest()[:12]
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
        return name


def lines_of_nodes(mesh):
    """Coordinates in three dimensions, to the last digit."""
    return [" ".join(repr(float(v)) for v in list(x) + [0.0] * (3 - mesh.dim)) for x in mesh.nodes]


def groups(mesh):
    """Physical groups: (dimension, name) -> tag."""
    table = {}
    for name in mesh.names():
        table[mesh.dim - 1, name] = len(table) + 1
    for name in mesh.materials():
        table[mesh.dim, name] = len(table) + 1
    return table


def text_of_names(table):
    """The section of names."""
    lines = ['%d %d "%s"' % (dim, tag, name) for (dim, name), tag in table.items()]
    return "$PhysicalNames\n%d\n%s\n$EndPhysicalNames\n" % (len(lines), "\n".join(lines))


def text_of_pairs(mesh):
    """The section of periodic nodes, of one link for all of them."""
    if not mesh.pairs:
        return ""
    head = "$Periodic\n1\n%d 1 2\n" % (mesh.dim - 1) + ("0\n" if mesh.version == "4.1" else "")
    lines = ["%d %d" % (a + 1, b + 1) for a, b in mesh.pairs]
    return head + "%d\n%s\n$EndPeriodic\n" % (len(lines), "\n".join(lines))


def text_22(mesh):
    """The file in format 2.2."""
    table = groups(mesh)
    nodes = ["%d %s" % (n, line) for n, line in enumerate(lines_of_nodes(mesh), 1)]
    elements = []
    for kind, name, numbers in mesh.sides + mesh.cells:
        tag = table[TYPES[kind][0], name]
        row = [len(elements) + 1, kind, 2, tag, tag] + [n + 1 for n in numbers]
        elements.append(" ".join(map(str, row)))
    return "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n%s$Nodes\n%d\n%s\n$EndNodes\n$Elements\n%d\n%s\n$EndElements\n%s" % (
        text_of_names(table),
        len(nodes),
        "\n".join(nodes),
        len(elements),
        "\n".join(elements),
        text_of_pairs(mesh),
    )


def text_41(mesh):
    """The file in format 4.1: an entity for each group, all nodes in the entity of the first cells."""
    table = groups(mesh)
    counts = [0, 0, 0, 0]
    entities = []
    for (dim, _), tag in sorted(table.items(), key=lambda x: (x[0][0], x[1])):
        counts[dim] += 1
        entities.append("%d -9 -9 -9 9 9 9 1 %d 0" % (tag, tag))
    blocks = {}
    for kind, name, numbers in mesh.sides + mesh.cells:
        blocks.setdefault((kind, table[TYPES[kind][0], name]), []).append(numbers)
    total = len(mesh.sides) + len(mesh.cells)
    lines = ["%d %d 1 %d" % (len(blocks), total, total)]
    number = 0
    for (kind, tag), elements in blocks.items():
        lines.append("%d %d %d %d" % (TYPES[kind][0], tag, kind, len(elements)))
        for numbers in elements:
            number += 1
            lines.append(" ".join(map(str, [number] + [n + 1 for n in numbers])))
    n = len(mesh.nodes)
    owner = table[mesh.dim, mesh.cells[0][1]]
    return (
        "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n%s$Entities\n%s\n%s\n$EndEntities\n%s%s\n$Elements\n%s\n$EndElements\n%s"
        % (
            text_of_names(table),
            " ".join(map(str, counts)),
            "\n".join(entities),
            "$Nodes\n1 %d 1 %d\n%d %d 0 %d\n" % (n, n, mesh.dim, owner, n),
            "\n".join([str(i + 1) for i in range(n)] + lines_of_nodes(mesh)) + "\n$EndNodes",
            "\n".join(lines),
            text_of_pairs(mesh),
        )
    )


def structured(r, coords, kind, move):
    """A box of cells of a kind; nodes inside are moved by up to `move` of a cell, cells are turned at random."""
    dim = len(coords)
    degree = 2 if kind.endswith("2") else 1
    simplices = kind in ("triangles", "tetrahedra")
    size = [degree * (len(c) - 1) for c in coords]
    index = {}
    nodes = []
    for place in itertools.product(*(range(n + 1) for n in size)):
        index[place] = len(nodes)
        x = []
        for c, i in zip(coords, place):
            cell, rest = divmod(i, degree)
            x.append(c[cell] if not rest else (c[cell] + c[cell + 1]) / 2)
        inside = all(0 < i < n for i, n in zip(place, size))
        if inside and move:
            widths = [(c[-1] - c[0]) / n for c, n in zip(coords, size)]
            least = min(b - a for c in coords for a, b in zip(c, c[1:])) / degree
            x = [v + r.uniform(-move, move) * min(w, least) for v, w in zip(x, widths)]
        nodes.append(x)
    cells = []
    sides = []
    for cell in itertools.product(*(range(len(c) - 1) for c in coords)):
        first = [degree * i for i in cell]
        if simplices:
            for simplex in simplices_of(r, dim):
                places = [tuple(a + b for a, b in zip(first, p)) for p in simplex]
                sides += sides_of_simplex(places, size, index)
                r.shuffle(places)
                cells.append((2 if dim == 2 else 4, "body", [index[p] for p in places]))
        else:
            sides += sides_of_cell(first, size, degree, index)
            cells.append((TENSOR[dim, degree], "body", turned(r, first, degree, index)))
    mesh = Mesh(dim, nodes, cells, sides, split=simplices)
    mesh.made = (coords, kind, move)
    mesh.origin = kind
    return mesh


def turned(r, first, degree, index):
    """The nodes of a cell in the order of one of its orientations, mirrored ones too."""
    dim = len(first)
    order = list(range(dim))
    r.shuffle(order)
    flips = [r.random() < 0.5 for _ in range(dim)]
    nodes = []
    for position in POSITIONS[dim, degree]:
        place = [degree - position[order[d]] if flips[d] else position[order[d]] for d in range(dim)]
        nodes.append(index[tuple(a + b for a, b in zip(first, place))])
    return nodes


def sides_of_cell(first, size, degree, index):
    """Sides of a cell that are sides of the box."""
    dim = len(first)
    for d in range(dim):
        for end in (0, 1):
            if first[d] + end * degree != (0, size[d])[end]:
                continue
            nodes = []
            for position in POSITIONS[dim - 1, degree]:
                place = list(position)
                place.insert(d, end * degree)
                nodes.append(index[tuple(a + b for a, b in zip(first, place))])
            yield TENSOR[dim - 1, degree], FACES[2 * d + end], nodes


def simplices_of(r, dim):
    """Triangles of a square, cut along one of its diagonals; Kuhn's six tetrahedra of a cube."""
    if dim == 2 and r.random() < 0.5:
        return [[(0, 0), (1, 0), (0, 1)], [(1, 0), (1, 1), (0, 1)]]
    found = []
    for order in itertools.permutations(range(dim)):
        place = [0] * dim
        simplex = [tuple(place)]
        for d in order:
            place[d] = 1
            simplex.append(tuple(place))
        found.append(simplex)
    return found


def sides_of_simplex(places, size, index):
    """Faces of a simplex that are on sides of the box."""
    dim = len(size)
    for d in range(dim):
        for end in (0, 1):
            face = [p for p in places if p[d] == (0, size[d])[end]]
            if len(face) == dim:
                yield 1 if dim == 2 else 2, FACES[2 * d + end], [index[p] for p in face]


def mesh_of_parts(dim, split, nodes, names, elements):
    """A mesh from the numbers of a file: elements are (type, tag of group, numbers of nodes)."""
    used = sorted({n for kind, _, numbers in elements for n in numbers})
    index = {n: i for i, n in enumerate(used)}
    cells = []
    sides = []
    for kind, tag, numbers in elements:
        below = dim - TYPES[kind][0]
        if below > 1:
            continue
        name = names.get((TYPES[kind][0], tag), "body" if below == 0 else "rest")
        (cells if below == 0 else sides).append((kind, name, [index[n] for n in numbers]))
    return Mesh(dim, [list(nodes[n][:dim]) for n in used], cells, sides, split, flat=False)


def read_22(path, dim, split=False):
    """A mesh from a file in format 2.2, ASCII."""
    with open(path, encoding="ascii") as file:
        lines = file.read().split("\n")
    names = {}
    start = lines.index("$PhysicalNames") if "$PhysicalNames" in lines else None
    if start is not None:
        for line in lines[start + 2 : start + 2 + int(lines[start + 1])]:
            of, tag, name = line.split(None, 2)
            names[int(of), int(tag)] = name.strip().strip('"')
    start = lines.index("$Nodes")
    nodes = {}
    for line in lines[start + 2 : start + 2 + int(lines[start + 1])]:
        parts = line.split()
        nodes[int(parts[0])] = [float(v) for v in parts[1:4]]
    start = lines.index("$Elements")
    elements = []
    for line in lines[start + 2 : start + 2 + int(lines[start + 1])]:
        row = [int(v) for v in line.split()]
        elements.append((row[1], row[3], row[3 + row[2] :]))
    return mesh_of_parts(dim, split, nodes, names, elements)


def read_41(path, dim, split=False):
    """A mesh from a file in format 4.1, binary, without groups: its cells, and the faces that no two cells share."""
    with open(path, "rb") as file:
        data = file.read()

    def section(name):
        return data.index(b"$%s\n" % name) + len(name) + 2

    at = section(b"Nodes")
    blocks = struct.unpack_from("<4Q", data, at)[0]
    at += 32
    nodes = {}
    for _ in range(blocks):
        _, _, _, count = struct.unpack_from("<3iQ", data, at)
        at += 20
        tags = struct.unpack_from("<%dQ" % count, data, at)
        at += 8 * count
        flat = struct.unpack_from("<%dd" % (3 * count), data, at)
        at += 24 * count
        for i, tag in enumerate(tags):
            nodes[tag] = flat[3 * i : 3 * i + 3]
    at = section(b"Elements")
    blocks = struct.unpack_from("<4Q", data, at)[0]
    at += 32
    elements = []
    for _ in range(blocks):
        of, _, kind, count = struct.unpack_from("<3iQ", data, at)
        at += 20
        width = 1 + TYPES[kind][1]
        rows = struct.unpack_from("<%dQ" % (width * count), data, at)
        at += 8 * width * count
        if of == dim:
            elements += [(kind, 0, rows[width * i + 1 : width * (i + 1)]) for i in range(count)]
    mesh = mesh_of_parts(dim, split, nodes, {}, elements)
    mesh.sides = free_triangles(mesh)
    return mesh


def free_triangles(mesh):
    """Faces of tetrahedra that no other shares; those with the lesser x of their middle are `one`, others `two`."""
    seen = {}
    for _, _, numbers in mesh.cells:
        for face in itertools.combinations(numbers[:4], 3):
            seen.setdefault(tuple(sorted(face)), []).append(face)
    free = [faces[0] for faces in seen.values() if len(faces) == 1]
    middles = [sum(mesh.nodes[n][0] for n in face) for face in free]
    half = (min(middles) + max(middles)) / 2
    return [(2, "one" if m < half else "two", list(face)) for face, m in zip(free, middles)]
