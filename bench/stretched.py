#!/usr/bin/env python3
"""Stretched cells on meshes of trees: iterations and times of a box whose last direction is shorter, by smoother.

Usage: stretched.py TESSERA [REPEATS] > stretched.csv

One thread. Each mesh is solved by all smoothers in turn, and that REPEATS (9) times; a time is the least, as other work
on the machine only adds to it. `auto` is what is chosen by itself. No answer stands where 100 iterations did not do."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

# dim, cells a direction (a power of two), upper corner, degrees
SQUEEZED = [(2, 32, (1, height), range(1, 6)) for height in (1, 0.01)]
THRESHOLD = [(2, 64, (1, 1 / aspect), (1, 2, 4)) for aspect in (1.5, 2, 2.5, 3, 4, 6, 10)]
THRESHOLD += [(3, 16, (1, 1, 1 / aspect), (1, 2, 4)) for aspect in (1.5, 2, 2.5, 3, 4, 6, 10)]
BARS = [(3, 8, (1, 1 / aspect, 1 / aspect), range(1, 6)) for aspect in (4, 10, 100)]
SMOOTHERS = ("auto", "chebyshev", "cell_patch", "line_patch")


def solve(program, folder, dim, cells, upper, degree, smoother):
    """Report of a solve."""
    case = Path(folder) / "case.yaml"
    case.write_text(
        "problem: poisson\n"
        f"mesh: {{kind: forest, box: {{dim: {dim}, cells: {cells}, upper: {list(upper)}}}}}\n"
        f"space: {{degree: {degree}}}\nsolver: {{smoother: {smoother}}}\n"
    )
    answer = subprocess.run([program, "solve", str(case), "--threads", "1", "--quiet", "--json", "-"],
                            capture_output=True, text=True, check=False)
    return json.loads(answer.stdout)


def main():
    program, repeats = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 9
    print("dim,cells,upper,degree,smoother,dofs,iterations,setup_s,solve_s,chosen")
    with tempfile.TemporaryDirectory() as folder:
        for dim, cells, upper, degrees in SQUEEZED + THRESHOLD + BARS:
            for degree in degrees:
                reports = {smoother: [] for smoother in SMOOTHERS}
                for _ in range(repeats):
                    for smoother, found in reports.items():
                        found.append(solve(program, folder, dim, cells, upper, degree, smoother))
                for smoother, found in reports.items():
                    one = found[0]
                    count = one["iterations"] if one["status"] == "converged" else ""
                    setup, took = (min(r["times"][part] for r in found) for part in ("setup", "solve"))
                    where = " ".join(f"{length:.4g}" for length in upper)
                    chosen = one["solver"]["smoother"].split(",")[0]
                    print(f"{dim},{cells},{where},{degree},{smoother},{one['dofs']},{count},{setup:.4f},"
                          f"{took if count else '':{'.4f' if count else ''}},{chosen}", flush=True)


if __name__ == "__main__":
    main()
