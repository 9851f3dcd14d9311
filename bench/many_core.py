#!/usr/bin/env python3
"""Threads on one host: the triad's bandwidth, and solves of Poisson to 1e-9 with as many threads: a box of degree 4 and
of 16.7 million unknowns, by conjugate gradients and by what the program chooses, and the ball of cases/ball.yaml
without hanging nodes, of 1.8 million. Median of --times runs.

  many_core.py PROGRAM TRIAD CASES OUT.csv [--threads 1,2,4,8,16] [--times 3]

CSV: measurement,threads,triad_gbytes_per_s,box_setup_s,box_solve_s,box_dofs,box_iterations,chosen_..,ball_.."""
import argparse
import json
import os
import statistics
import subprocess
import tempfile

BOX = "problem: poisson\nmesh: {box: {cells: [64, 64, 64]}}\nspace: {degree: 4}\ndata: {f: 1 + x}\n" \
      "boundary: {all: {dirichlet: 0}}\nsolver: {tolerance: 1e-9, method: cg}\n"


def solve(program, case, threads, times, extra):
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        for _ in range(times):
            subprocess.run([program, "solve", case, "--device", "cpu", "--threads", str(threads), "--quiet", "--json",
                            report, *extra], check=True)
            with open(report, encoding="utf-8") as file:
                runs.append(json.load(file))
    first = runs[0]
    return [statistics.median(r["times"]["setup"] for r in runs), statistics.median(r["times"]["solve"] for r in runs),
            first["dofs"], first["iterations"]]


def main():
    parser = argparse.ArgumentParser()
    for name in ("program", "triad", "cases", "out"):
        parser.add_argument(name)
    parser.add_argument("--threads", default="1,2,4,8,16")
    parser.add_argument("--times", type=int, default=3)
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, open(o.out, "w", encoding="utf-8") as out:
        box = os.path.join(folder, "box.yaml")
        with open(box, "w", encoding="utf-8") as file:
            file.write(BOX)
        ball = ["--set", "space.degree=4", "--set", "mesh.refine=4", "--set", "mesh.refine_where=null", "--set",
                "mesh.refine_times=null", "--set", "solver.tolerance=1e-9"]
        out.write("measurement,threads,triad_gbytes_per_s," + ",".join(
            f"{case}_{value}" for case in ("box", "chosen", "ball")
            for value in ("setup_s", "solve_s", "dofs", "iterations")) + "\n")
        for threads in map(int, o.threads.split(",")):
            told = subprocess.run([o.triad, str(threads)], check=True, capture_output=True, text=True).stdout
            row = (
                solve(o.program, box, threads, o.times, [])
                + solve(o.program, box, threads, o.times, ["--set", "solver.method=auto"])
                + solve(o.program, os.path.join(o.cases, "ball.yaml"), threads, o.times, ball)
            )
            out.write(f"many_core,{threads},{told.split()[1]}," + ",".join(f"{v:.6g}" for v in row) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
