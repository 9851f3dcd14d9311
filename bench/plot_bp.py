#!/usr/bin/env python3
"""SVG plots of the tables that bench_mapped and tessera bench bp write: plot_bp.py FOLDER (bp_global.csv,
bp_element.csv, bp_ladder.csv, bp_vector.csv, bp_float.csv, bp_plane.csv, bp_cg.csv there, or, of a CPU, bp.csv).

bp_element.svg: share of the copy roofline against the degree, as figures 5, 9 and 12 of Swirydowicz et al. (2019);
bp_ladder_*.svg: the same for the steps of their ladder; bp_global.svg, bp_vector.svg, bp_float.svg, bp_plane.svg:
GDoF/s of global vectors, of vectors of three components, in float32, of quadrilaterals; bp_cg.svg: of conjugate
gradients, an iteration; bp.svg: GDoF/s on a CPU, one core."""
import csv
import os
import sys

COLOURS = ["#1b6ca8", "#c8553d", "#3a7d44", "#7d4f9e", "#b8860b", "#444444", "#e07a9a"]
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 400, 60, 50, 30, 170


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def plot(path, title, label, series, top):
    """series: name -> [(degree, value)]."""
    last = max(x for points in series.values() for x, _ in points)

    def at(x, y):
        return (LEFT + (WIDTH - LEFT - RIGHT) * (x - 1) / max(1, last - 1),
            HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * y / top)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
           'font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>', f'<text x="{LEFT}" y="18" font-size="14">{title}</text>']
    for i in range(6):
        x, y = at(1, top * i / 5)
        out.append(f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{x - 8:.1f}" y="{y + 4:.1f}" text-anchor="end">{top * i / 5:g}</text>')
    for x in range(1, last + 1):
        out.append(f'<text x="{at(x, 0)[0]:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{x}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">degree</text>')
    out.append(f'<text transform="translate(16,{HEIGHT / 2}) rotate(-90)" text-anchor="middle">{label}</text>')
    for i, (name, points) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        line = " ".join(f"{a:.1f},{b:.1f}" for a, b in (at(x, y) for x, y in points))
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in (at(x, y) for x, y in points)]
        out.append(f'<text x="{WIDTH - RIGHT + 12}" y="{TOP + 20 + 18 * i}" fill="{colour}">{name}</text>')
    with open(path, "w") as file:
        file.write("\n".join(out + ["</svg>\n"]))


def collect(table, name, value, keep):
    series = {}
    for row in table:
        if keep(row):
            series.setdefault(name(row), []).append((int(row["degree"]), float(row[value])))
    return {key: sorted(points) for key, points in sorted(series.items())}


def host(folder):
    table = [row for row in rows(f"{folder}/bp.csv") if row["threads"] == "1"]
    for row in table:
        row["rate"] = 1e3 * float(row["gdofs_per_s"])

    def name(row):
        points = "" if row["bp"] == "5" else f', p + {int(row["points"]) - int(row["degree"])} points'
        return f'{row["dim"]}D BP{row["bp"]}{points}'

    plot(f"{folder}/bp.svg", "Global vectors, 2 to 5 million unknowns, float64, one core", "million unknowns a second",
         collect(table, name, "rate", lambda row: True), 400)


def main():
    folder = sys.argv[1]
    if os.path.exists(f"{folder}/bp.csv"):
        host(folder)
        return
    names = {"1": "BP1.0", "3": "BP3.0", "5": "BP3.5"}
    element = rows(f"{folder}/bp_element.csv")
    for row in element:
        row["percent"] = 100 * float(row["share"])
    large = [row for row in element if row["precision"] == "float64" and int(row["cells"]) > 4096]
    plot(f"{folder}/bp_element.svg", "Element vectors, float64, H200: share of the copy roofline", "% of the roofline",
         collect(large, lambda row: names[row["bp"]], "percent", lambda row: True), 110)
    ladder = rows(f"{folder}/bp_ladder.csv")
    for row in ladder:
        row["percent"] = 100 * float(row["share"])
    for bp, name in names.items():
        series = collect(ladder, lambda row: row["cut"], "percent", lambda row, bp=bp: row["bp"] == bp)
        series["lines (ours)"] = collect(large, lambda row: "", "percent", lambda row, bp=bp: row["bp"] == bp)[""]
        plot(f"{folder}/bp_ladder_{bp}.svg", f"{name}: the ladder and ours, float64, H200", "% of the copy roofline",
            series, 110)
    top = {"vector": 60, "float": 110, "plane": 75, "cg": 35}
    titles = {"vector": "Global vectors of three components, 20 million unknowns, float64, H200",
              "float": "Global vectors, 20 million unknowns, float32, H200",
              "plane": "Quadrilaterals, global vectors, 4 million unknowns, float64, H200",
              "cg": "Conjugate gradients on BP5, an iteration, 20 million unknowns, float64, H200"}
    for name, title in titles.items():
        first = rows(f"{folder}/bp_{name}.csv")
        value = "gdofs_per_s" if name == "plane" else "gdofs"
        plot(f"{folder}/bp_{name}.svg", title, "GDoF/s",
             collect(first,
                 lambda row: f"factors {row['geometry']}" if name == "cg"
                 else f"BP{int(row['bp']) + (name == 'vector')}", value,
                     lambda row: True), max(top[name], 1.05 * max(float(row[value]) for row in first)))
    table = [row for row in rows(f"{folder}/bp_global.csv")
             if row["precision"] == "float64" and row["form"] == "global"]
    plain = [row for row in table if row["mass"] == ("1" if row["bp"] == "1" else "0")]
    plot(f"{folder}/bp_global.svg", "Global vectors, 20 million unknowns, float64, H200", "GDoF/s",
         collect(plain, lambda row: f'BP{row["bp"]} {row["geometry"]}', "gdofs",
             lambda row: row["geometry"] != "affine"), 75)


if __name__ == "__main__":
    main()
