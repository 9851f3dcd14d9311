#!/usr/bin/env python3
"""Flows in time by Tessera, NGSolve and OpenFOAM in turn, on two threads or processes each.

flows_beside.py PROGRAM PYTHON FLOW ROUNDS OUT.csv TESSERA... -- NGSOLVE... -- OPENFOAM...

PROGRAM: tessera; PYTHON: one with NGSolve and numpy; FLOW: cavity or cylinder; sizes of Tessera DEGREE:CELLS (cavity)
or DEGREE:REFINED (cylinder, how often all cells are halved), those of the others as their drivers take them. Adds
a line a run: program, flow, size, unknowns (cells of OpenFOAM), steps, set-up and steps in seconds, the value that
is compared and its relative error. `chrt -f 10` before the command gives it priority over what else runs."""
import csv
import json
import os
import subprocess
import sys

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
# The energy by Tessera with Q8/Q7 on 16 x 16 cells, cfl 0.2, tolerance 1e-6; the drag by John (2004).
KNOWN = {"cavity": 0.00726956, "cylinder": 2.950921575}


def by_tessera(program, flow, size):
    degree, number = size.split(":")
    change = f"mesh.box.cells=[{number},{number}]" if flow == "cavity" else f"mesh.refine={number}"
    case = os.path.join(HERE, f"{flow}_flow.yaml")
    more = ["--set", "output.series.file=flows_beside_series.csv"] if flow == "cylinder" else []
    done = subprocess.run([program, "solve", case, "--quiet", "--threads", "2", "--json", "-", "--set",
                           f"space.degree={degree}", "--set", change, *more],
                          stdout=subprocess.PIPE, check=True, text=True)
    report = json.loads(done.stdout)
    value = report["values"].get("energy")
    if flow == "cylinder":
        with open("flows_beside_series.csv", encoding="utf-8") as file:
            rows = [(float(r["time"]), 20 * float(r["drag"])) for r in csv.DictReader(file)]
        os.remove("flows_beside_series.csv")
        t, drag = numpy.array([row for row in rows if 3.6 <= row[0] <= 4.25]).T
        value = float(numpy.polynomial.Polynomial.fit(t, drag, 4)(numpy.linspace(3.6, 4.25, 4001)).max())
    return (f"tessera,{flow},{size},{report['dofs']},{report['time_steps']},{report['times']['setup']:.3f},"
            f"{report['times']['solve']:.3f},{value:.9f}")


def by_driver(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    lines = [line for line in done.stdout.splitlines() if line.count(",") == 7]
    return lines[-1] if lines else None


def main():
    program, python, flow, rounds, path = sys.argv[1:6]
    sizes = [[], [], []]
    which = 0
    for word in sys.argv[6:]:
        if word == "--":
            which += 1
        else:
            sizes[which].append(word)
    with open(path, "a", encoding="utf-8") as out:
        if not out.tell():
            out.write("program,flow,size,unknowns,steps,setup,seconds,value,error\n")
        for _ in range(int(rounds)):
            lines = [by_tessera(program, flow, size) for size in sizes[0]]
            lines += [by_driver([python, f"{HERE}/ngsolve_flows.py", "2", "sparsecholesky", flow, s]) for s in sizes[1]]
            lines += [by_driver([python, f"{HERE}/openfoam_flows.py", "2", flow, s]) for s in sizes[2]]
            for line in filter(None, lines):
                error = abs(float(line.rsplit(",", 1)[1]) / KNOWN[flow] - 1)
                print(f"{line},{error:.2e}", flush=True)
                out.write(f"{line},{error:.2e}\n")


main()
