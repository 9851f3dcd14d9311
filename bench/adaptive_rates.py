#!/usr/bin/env python3
"""Energy error against unknowns at re-entrant corners, refined where the error is and uniformly: adaptive_rates.py
TESSERA FOLDER.

L-shape: r^(2/3) sin(2 phi / 3), degrees 1 to 4; Fichera corner: r^(1/2), degrees 1 to 4. Residual estimator, bulk
0.5. Then dual-weighted residuals on the L-shape for the value at (-0.3, 0.4), bulk 0.5, error and estimate of that
value: "dwr_data" for the same function, whose boundary values are interpolated, "dwr" for (1 - x^2) (1 - y^2) times
it, which is 0 on the boundary. Writes adaptive_rates.csv and, log-log, adaptive_rates_l_shape.svg and
adaptive_rates_fichera.svg; prints rates, fitted over the last third of the steps, and the range of effectivities."""
import csv
import json
import math
import subprocess
import sys

ANGLE = "(atan2(y, x) < -1e-12 ? atan2(y, x) + 2*pi : atan2(y, x))"
CORNER = f"pow(x*x + y*y, 1/3.) * sin(2/3. * {ANGLE})"
PRODUCT = f"(1 - x*x) * (1 - y*y) * {CORNER}"
MINUS_LAPLACE_OF_PRODUCT = (f"(2*(1 - y*y) + 2*(1 - x*x)) * {CORNER} + 8/3. * pow(x*x + y*y, -1/6.) "
                            f"* (y*(1 - x*x)*cos({ANGLE}/3) - x*(1 - y*y)*sin({ANGLE}/3))")
ROOT, ROOT_LOAD = "pow(x*x + y*y + z*z, 1/4.)", "-0.75 * pow(x*x + y*y + z*z, -3/4.)"
BULK = "marking: bulk, fraction: 0.5, steps: 27"
UNIFORM = "marking: fraction, fraction: 1, steps: 12"
DWR = "estimator: dwr, goal: {point: [-0.3, 0.4]}, marking: bulk, fraction: 0.5, steps: 24, max_dofs: 20000"
# dimension, then of each run: exact solution, right-hand side, `adapt`
DOMAINS = {"l_shape": (2, {"adaptive": (CORNER, "0", BULK + ", max_dofs: 60000"), "uniform": (CORNER, "0",
    UNIFORM + ", max_dofs: 60000"),
                           "dwr_data": (CORNER, "0", DWR), "dwr": (PRODUCT, MINUS_LAPLACE_OF_PRODUCT, DWR)}),
           "fichera": (3, {"adaptive": (ROOT, ROOT_LOAD, BULK + ", max_dofs: 150000"), "uniform": (ROOT, ROOT_LOAD,
               UNIFORM + ", max_dofs: 150000")})}
COLOURS = ["#1b6ca8", "#c8553d", "#3a7d44", "#7d4f9e"]


def run(program, domain, degree, exact, f, adapt):
    boundary = "0" if exact == PRODUCT else exact
    case = f"""problem: poisson
mesh: {{{domain}: {{dim: {DOMAINS[domain][0]}}}, refine: 1}}
space: {{degree: {degree}}}
data: {{f: "{f}", exact: "{exact}"}}
boundary: {{all: {{dirichlet: "{boundary}"}}}}
solver: {{tolerance: 1e-11}}
adapt: {{{adapt}}}
"""
    done = subprocess.run([program, "solve", "-", "--threads", "1", "--quiet", "--json", "-"], input=case,
        capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)["steps"]


def slope(steps):
    points = [(math.log(s["dofs"]), math.log(abs(s["error"]))) for s in steps[-max(3, len(steps) // 3):]]
    x, y = (sum(p[i] for p in points) / len(points) for i in (0, 1))
    return -sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)


def plot(path, title, series):
    """series: (name, colour, dashed, [(dofs, error)])."""
    width, height, left, right, top, bottom = 640, 420, 70, 150, 30, 45
    xs = [x for s in series for x, _ in s[3]]
    ys = [y for s in series for _, y in s[3]]
    x0, x1 = math.floor(math.log10(min(xs))), math.ceil(math.log10(max(xs)))
    y0, y1 = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)))

    def at(x, y):
        return (left + (width - left - right) * (math.log10(x) - x0) / (x1 - x0),
                height - bottom - (height - top - bottom) * (math.log10(y) - y0) / (y1 - y0))

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           'font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>', f'<text x="{left}" y="18" font-size="14">{title}</text>']
    for e in range(y0, y1 + 1):
        x, y = at(10 ** x0, 10.0 ** e)
        out.append(f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{width - right}" y2="{y:.1f}" stroke="#ddd"/>'
                   f'<text x="{x - 8:.1f}" y="{y + 4:.1f}" text-anchor="end">1e{e}</text>')
    for e in range(x0, x1 + 1):
        x, y = at(10 ** e, 10.0 ** y0)
        out.append(f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{x:.1f}" y2="{top}" stroke="#eee"/>'
                   f'<text x="{x:.1f}" y="{y + 18:.1f}" text-anchor="middle">1e{e}</text>')
    out.append(f'<text x="{(left + width - right) / 2}" y="{height - 8}" text-anchor="middle">unknowns</text>')
    for i, (name, colour, dashed, points) in enumerate(series):
        line = " ".join(f"{a:.1f},{b:.1f}" for a, b in (at(x, y) for x, y in points))
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        out.append(f'<text x="{width - right + 12}" y="{top + 20 + 18 * i}" fill="{colour}">{name}</text>')
    with open(path, "w") as file:
        file.write("\n".join(out + ["</svg>\n"]))


def main():
    program, folder = sys.argv[1:]
    version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout.strip()
    with open(f"{folder}/adaptive_rates.csv", "w", newline="") as file:
        file.write(f"# bench/adaptive_rates.py | {version} | energy error of the residual-driven loop (bulk 0.5) "
                   "and of uniform refinement, error of the value at a point (dwr)\n")
        out = csv.writer(file)
        out.writerow(["domain", "dim", "degree", "refinement", "step", "cells", "dofs", "hanging", "iterations",
            "estimate", "error", "effectivity"])
        for domain, (dim, runs) in DOMAINS.items():
            series = []
            for degree in range(1, 5):
                for name, what in runs.items():
                    steps = run(program, domain, degree, *what)
                    for i, s in enumerate(steps):
                        out.writerow([domain, dim, degree, name, i] + [s[k] for k in ("cells", "dofs", "hanging",
                            "iterations")] +
                                     [f"{s[k]:.5g}" for k in ("estimate", "error", "effectivity")])
                    effectivity = [s["effectivity"] for s in steps]
                    print(f"{domain} degree {degree} {name}: {len(steps)} steps, {steps[-1]['dofs']} unknowns, "
                          f"error {steps[-1]['error']:.3g}, "
                          f"rate {slope(steps):.2f}, "
                          f"effectivity {min(effectivity):.2f} to {max(effectivity):.2f}, "
                          f"iterations at most {max(s['iterations'] for s in steps)}", flush=True)
                    if name in ("adaptive", "uniform"):
                        series.append((f"Q{degree} {name}", COLOURS[degree - 1], name == "uniform", [(s["dofs"],
                            s["error"]) for s in steps]))
            plot(f"{folder}/adaptive_rates_{domain}.svg",
                f"{'L-shape' if domain == 'l_shape' else 'Fichera corner'}: energy error", series)


main()
