#!/usr/bin/env python3
"""The tables of docs/performance-h200-mapped.md, in Markdown, from those that ./bp of a bundle writes
(tools/bundle_bp.sh): tables_bp.py FOLDER PEERS SMALL. PEERS: the best public figures in GDoF/s, columns p, L_BP1,
L_BP3, L_BP5, L_H3, L_H5; SMALL: their times in microseconds of one application, columns p, dofs, BP1, BP3, BP5.
What misses its aim is bold."""
import csv
import sys


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def select(table, **columns):
    return {int(row["degree"]): row for row in table if all(row.get(key, value) == value for key,
        value in columns.items())}


def line(cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |")


def header(cells):
    print()
    line(cells)
    line(["---"] * len(cells))


def number(value):
    value = float(value)
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def ratio(value, peer, aim):
    quotient = value / peer
    if quotient >= aim:
        return f"{quotient:.2f}"
    return f"**{quotient:.3f}**" if quotient >= aim - 0.02 else f"**{quotient:.2f}**"


def operators(folder, peers):
    """GDoF/s of global vectors and what they are of the best peer."""
    table = read(f"{folder}/bp_global.csv")
    kinds = [("BP1", "1", "1", "stored", "L_BP1"), ("BP3", "3", "0", "stored", "L_BP3"), ("BP3 + mass", "3", "1",
        "stored", "L_H3"),
             ("BP5", "5", "0", "stored", "L_BP5"), ("BP5 + mass", "5", "1", "stored", "L_H5"),
             ("BP3 vertices", "3", "0", "vertices", "L_BP3"), ("BP5 vertices", "5", "0", "vertices", "L_BP5")]
    header(["degree"] + [cell for kind in kinds for cell in (kind[0], "/")])
    for degree in range(1, 9):
        cells = [degree]
        for name, bp, mass, geometry, column in kinds:
            value = float(select(table, bp=bp, mass=mass, form="global", geometry=geometry,
                precision="float64")[degree]["gdofs"])
            aim = 2 if bp == "3" and degree > 1 else 1.6 if bp == "5" and degree > 2 else 0
            aim = 1.3 if geometry == "stored" else aim
            cells += [number(value), ratio(value, float(peers[degree][column]), aim)]
        line(cells)
    header(["degree"] + list(range(9, 16)))
    for name, bp, mass, geometry, _ in kinds:
        rows = select(table, bp=bp, mass=mass, form="global", geometry=geometry, precision="float64")
        if 15 in rows:
            line([name] + [number(rows[degree]["gdofs"]) for degree in range(9, 16)])
    for form, geometry in (("global", "affine"), ("global coloured", "stored")):
        best = [max(float(row["gdofs"]) for row in table if (row["bp"], row["form"], row["geometry"]) == (bp, form,
            geometry))
                for bp in "135"]
        print(f"\nbest of {form}, {geometry}: " + ", ".join(f"BP{bp} {number(value)}" for bp, value in zip("135",
            best)))
    worst = max(float(row["error"]) for row in table if row["precision"] == "float64")
    print(f"largest error: {worst:.1e}")


def elements(folder):
    """Share of the copy roofline, and of the GDoF/s at N = 8."""
    table = [row for row in read(f"{folder}/bp_element.csv") if int(row["cells"]) > 4096 or int(row["degree"]) > 14]
    header(["N"] + list(range(1, 16)))
    for bp, name, aim in (("1", "BP1.0", lambda n: 75 * (n < 11)), ("3", "BP3.0", lambda n: 75 * (n < 11)),
                          ("5", "BP3.5", lambda n: 90 * (n < 13))):
        rows = select(table, bp=bp, precision="float64")
        shares = {n: 100 * float(rows[n]["share"]) for n in rows}
        line([f"{name} %"] + [f"{shares[n]:.0f}" if shares[n] >= aim(n) else f"**{shares[n]:.1f}**" for n in range(1,
            16)])
        kept = {n: 100 * float(rows[n]["gdofs"]) / float(rows[8]["gdofs"]) for n in range(9, 16)}
        line(["of N = 8"] + 8 * [""] + [f"{kept[n]:.0f}" if kept[n] >= 75 else f"**{kept[n]:.1f}**" for n in range(9,
            16)])


def small(folder, peers):
    """Microseconds of one application."""
    table = read(f"{folder}/bp_small.csv")
    header(["degree", "unknowns", "BP1", "peer", "BP3", "peer", "BP5", "peer"])
    for peer in peers:
        cells = [peer["p"], peer["dofs"]]
        for bp in "135":
            time = next(1e3 * float(row["ms"]) for row in table
                        if (row["bp"], row["degree"], row["dofs"]) == (bp, peer["p"], peer["dofs"]))
            theirs = float(peer[f"BP{bp}"])
            cells += [f"{time:.1f}" if time <= theirs else f"**{time:.1f}**", peer[f"BP{bp}"]]
        line(cells)


def by_degree(folder, file, key, value, names):
    """A row a key, a column a degree."""
    series = {}
    for row in read(f"{folder}/{file}.csv"):
        series.setdefault(names(row[key]), {})[int(row["degree"])] = float(row[value])
    degrees = sorted({degree for points in series.values() for degree in points})
    header(["degree"] + degrees)
    for name, points in series.items():
        line([name] + [number(points[degree]) if degree in points else "" for degree in degrees])


def assembled(folder):
    rows = read(f"{folder}/bp_csr.csv")
    header(["degree"] + [row["degree"] for row in rows])
    for name, column in (("cuSPARSE, GDoF/s", "gdofs_cusparse"), ("BP5 stored, GDoF/s", "gdofs_matrix_free"), ("ratio",
        "ratio"),
                         ("matrix, GiB", "matrix_gib"), ("matrix-free, GiB", "matrix_free_gib"), ("assembly, s",
                             "assembly_s")):
        line([name] + [number(row[column]) for row in rows])
    print("\nlargest difference: " + max((row["difference"] for row in rows), key=float))


def main():
    folder = sys.argv[1]
    operators(folder, {int(row["p"]): row for row in read(sys.argv[2])})
    elements(folder)
    small(folder, read(sys.argv[3]))
    assembled(folder)
    by_degree(folder, "bp_vector", "bp", "gdofs", lambda bp: f"BP{int(bp) + 1}")
    by_degree(folder, "bp_float", "bp", "gdofs", lambda bp: f"BP{bp} float32")
    by_degree(folder, "bp_plane", "bp", "gdofs_per_s", lambda bp: f"BP{bp}, 2D")
    by_degree(folder, "bp_plane", "bp", "share_of_copy", lambda bp: f"BP{bp}, 2D, share of the copy roofline")
    by_degree(folder, "bp_cg", "geometry", "gdofs", lambda geometry: f"CG, {geometry}")


if __name__ == "__main__":
    main()
