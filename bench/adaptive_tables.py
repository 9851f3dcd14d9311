#!/usr/bin/env python3
"""The tables of docs/performance-h200-adaptive.md from the CSV of `tessera bench adaptive`: adaptive_tables.py
FILE.csv... prints Markdown, a table for each dimension, precision and degree of cells. Rows of several files are
put together.

Floor: the bytes that an unknown must move at COPY bytes a second, 4.29e12 of an H200 unless --copy says otherwise:
the operator's (factors, geometry, index; measured), and four times a number of the vectors (x, zeros of y,
additions)."""
import argparse
import csv
import sys


def read(paths):
    rows = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            rows += csv.DictReader(line for line in file if not line.startswith("#"))
    return rows


def number(row, name):
    return float(row[name]) if row.get(name) not in (None, "", "nan") else float("nan")


def text(value, digits):
    return "-" if value != value else f"{value:.{digits}f}"


def pair(rows, name, digits):
    return ", ".join(text(number(row, name), digits) if row else "-" for row in rows)


def share_of_floor(row, copy):
    size = 8 if row["precision"] == "double" else 4
    return 1e6 * number(row, "mdofs_per_s") * (number(row, "bytes_per_dof") + 4 * size) / copy


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--copy", type=float, default=4.29e12)
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    rows = read(options.files)
    keys = sorted({(-int(r["dim"]), r["precision"], r.get("cell_degree", "2")) for r in rows})
    for minus_dim, precision, cells in keys:
        chosen = [r for r in rows if (-int(r["dim"]), r["precision"], r.get("cell_degree", "2")) == (minus_dim,
            precision, cells)]
        print(f"\n{-minus_dim}D, {precision}, cells of degree {cells}\n")
        print("| k | factors | uniform: unknowns | GDoF/s | of the floor | shells: unknowns "
              "| hanging % | GDoF/s | overhead %"
              " | times cuSPARSE (uniform, shells) | bytes an unknown | CSR | times larger |")
        print("|---" * 13 + "|")
        for degree in sorted({int(r["degree"]) for r in chosen}):
            by = {r["mesh"]: r for r in chosen if int(r["degree"]) == degree}
            u, s = by.get("uniform"), by.get("shells")
            if not u or not s:
                print(f"degree {degree}: uniform or shells are missing", file=sys.stderr)
                continue
            print(f"| {degree} | {u.get('factors', '-')}, {s.get('factors', '-')} | {number(u, 'dofs') / 1e6:.1f} M"
                  f" | {number(u, 'mdofs_per_s') / 1e3:.1f} | {share_of_floor(u, options.copy):.2f}"
                  f" | {number(s, 'dofs') / 1e6:.1f} M"
                  f" | {number(s, 'hanging_percent'):.1f} | {number(s, 'mdofs_per_s') / 1e3:.1f}"
                  f" | {100 * number(s, 'hanging_overhead'):.1f}"
                  f" | {pair((u, s), 'times_csr', 1)} | {pair((u, s), 'bytes_per_dof', 0)}"
                  f" | {pair((u, s), 'csr_bytes_per_dof', 0)}"
                  f" | {pair((u, s), 'times_larger', 1)} |")


main()
