#!/usr/bin/env python3
"""What a gradient costs beside the solve: the table of docs/python.md.

python bench/peers/gradient_python.py [REPEATS]"""

import sys
import time

import tessera

WALLS = {"all": {"velocity": [0, 0]}, "left": {"velocity": ["4*y*(1 - y)", 0]}, "right": "outflow"}
OUTPUT = {"values": {"square": {"integral": "domain", "of": "u*u"}}}
HELD = {"all": {"traction": [0, 0]}, "left": {"displacement": [0, 0]}}
CASES = {
    "poisson, 2D, a varies": ("poisson", {"box": {"dim": 2, "cells": [128, 128]}}, {"a": "1 + x*y"}, None, "data.a"),
    "poisson, 3D, a varies": ("poisson", {"box": {"dim": 3, "cells": [24, 24, 24]}}, {"a": "1 + x*y"}, None, "data.a"),
    "poisson, disk": ("poisson", {"ball": {"dim": 2}, "refine": 4}, {"a": "1 + x*y"}, None, "data.a"),
    "elasticity, 2D": (
        "elasticity",
        {"box": {"dim": 2, "cells": [64, 64]}},
        {"young": 200, "poisson": 0.3, "f": [0, -1]},
        HELD,
        "data.young",
    ),
    "transport, 2D": ("transport", {"box": {"dim": 2, "cells": [64, 64]}}, {"b": ["1", "y"], "a": "1"}, None, "data.a"),
    "stokes, 2D": ("stokes", {"box": {"dim": 2, "cells": [48, 48]}}, {"nu": 1, "f": [0, "x"]}, WALLS, "data.nu"),
}


def main():
    """A row a case: the least of some runs."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    for name, (problem, mesh, data, boundary, of) in CASES.items():
        case = {"problem": problem, "mesh": mesh, "data": {"f": "1", **data}, "output": OUTPUT}
        if boundary:
            case["boundary"] = boundary
        if problem == "stokes":
            case["space"] = {"element": "q"}
        solves, gradients = [], []
        for _ in range(repeats):
            result = tessera.solve(case)
            solves.append(result.times["setup"] + result.times["solve"])
            begin = time.perf_counter()
            result.gradient("square", of=of)
            gradients.append(time.perf_counter() - begin)
        print(f"| {name} | {result.report['dofs']} | {min(solves):.3f} | {min(gradients):.3f} |")


if __name__ == "__main__":
    main()
