#!/usr/bin/env python3
"""Run: ctest -R t9_chaos. The program on several ranks below chaos_mpi.c. With delays it ends as without; collectives,
lengths of messages, requests and communicators are looked at. An allocation of one rank that finds no memory ends all
ranks soon with one message; a rank that is killed ends them too. `all`: more of each. Ends with 77 without mpirun."""
import os
import random
import subprocess
import sys
import tempfile

import t9_ranks as ranks
from t9_ranks import ENVIRONMENT, MPIRUN, PROGRAM, check

LIBRARY = os.path.abspath(sys.argv[2])
ALL = len(sys.argv) > 3
LIMIT = 60 if ALL else 30 # seconds a call; the aim is 5, which a busy machine does not keep

CASES = {
    "poisson": "problem: poisson\nmesh: {kind: forest, box: {cells: [4, 4]}, refine: 1}\nspace: {degree: 2}\n"
               "data: {f: sin(3*x*y)}\nboundary: {all: {dirichlet: x*y}}\n"
               "output: {points: {a: [0.3, 0.4]}, values: {m: {mean: domain}}}\n",
    "elastic": "problem: elasticity\nmesh: {file: skew.msh, refine: 1}\nspace: {degree: 2}\n"
               "data: {mu: 1, lambda: 2, f: [y, -x]}\n"
               "boundary: {left: {displacement: [0, 0]}, bottom: symmetry, right: {traction: [1, 0]}}\n"
               "output: {points: {a: [0.3, 0.4]}, values: {f: {force: left, of: x}}}\n",
    "stokes": "problem: stokes\nmesh: {kind: forest, box: {cells: [4, 4]}}\nspace: {element: q, degree: 2}\n"
              "data: {nu: 1, f: [y, -x]}\n"
              "boundary: {all: {velocity: [y*(1 - y), 0]}, bottom: slip, right: outflow}\n"
              "output: {points: {a: [0.3, 0.4]}, values: {f: {force: left, of: x}}}\n",
    "transport": "problem: transport\nmesh: {kind: forest, box: {cells: [4, 4]}, refine: 1}\nspace: {degree: 2}\n"
                 "data: {a: 0.01, b: [1, y], initial: sin(3*x)*y}\ntime: {end: 0.1, step: 0.02}\n"
                 "boundary: {all: {dirichlet: 0}}\noutput: {points: {a: [0.3, 0.4]}, values: {m: {mean: domain}}}\n"}


def skew_mesh():
    """6 x 6 cells of a skew square, with its four sides."""
    n, sides = 6, ("left", "right", "bottom", "top")
    at = lambda i, j: 1 + i + (n + 1) * j
    ends = [[(at(a, j), at(a, j + 1)) for j in range(n)] for a in (0, n)]
    ends += [[(at(i, b), at(i + 1, b)) for i in range(n)] for b in (0, n)]
    elements = [f"1 2 {s + 1} {s + 1} {a} {b}" for s in range(4) for a, b in ends[s]]
    elements += [f"3 2 5 5 {at(i, j)} {at(i + 1, j)} {at(i + 1, j + 1)} {at(i, j + 1)}"
                 for j in range(n) for i in range(n)]
    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$PhysicalNames", "5"]
    lines += [f'1 {s + 1} "{name}"' for s, name in enumerate(sides)] + ['2 5 "body"', "$EndPhysicalNames", "$Nodes"]
    lines += [str((n + 1)**2)] + [f"{at(i, j)} {i / n} {j / n + 0.1 * i / n} 0"
                                  for j in range(n + 1) for i in range(n + 1)] + ["$EndNodes", "$Elements"]
    lines += [str(len(elements))] + [f"{e + 1} {text}" for e, text in enumerate(elements)] + ["$EndElements"]
    return "\n".join(lines) + "\n"


def call(folder, case, count, **chaos):
    """Exit status (None: it hangs), the messages of Tessera, all of the errors."""
    given = {f"CHAOS_{key.upper()}": str(value) for key, value in chaos.items()}
    command = [MPIRUN, "--quiet", "--oversubscribe", "-n", str(count), "env", f"LD_PRELOAD={LIBRARY}", PROGRAM, "solve",
               f"{case}.yaml", "--quiet", "--json", f"{case}.json"]
    with subprocess.Popen(command, cwd=folder, env=dict(ENVIRONMENT, **given), stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True) as run:
        try:
            errors = run.communicate(timeout=LIMIT)[1]
        except subprocess.TimeoutExpired:
            run.kill() # with its ranks
            return None, [], "it hangs"
        return run.returncode, [line for line in errors.split("\n") if line.startswith("tessera: ")], errors


def delays(folder, case, count, seed):
    code, told, errors = call(folder, case, count, seed=seed, tell=1)
    check(code == 0 and not told, f"{case} on {count}, delays {seed}: {code}: {errors}")
    numbers = [line.split() for line in errors.split("\n") if "allocations" in line]
    return [(int(words[3]), int(words[5])) for words in numbers] # allocations and calls of each rank


def main():
    if not MPIRUN:
        print("skipped: mpirun is missing (openmpi-bin)")
        return 77
    draw = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in CASES.items():
            with open(os.path.join(folder, f"{name}.yaml"), "w", encoding="utf-8") as file:
                file.write(text)
        with open(os.path.join(folder, "skew.msh"), "w", encoding="utf-8") as file:
            file.write(skew_mesh())
        for number, case in enumerate(CASES):
            for count in (2, 3, 4, 7) if ALL else (2 + number % 2,):
                most = delays(folder, case, count, number)
                if not most or count > 3:
                    continue
                late = case == "transport" # the last allocations are of steps
                for n in range(60 if ALL else 1 + late):
                    rank = draw.randrange(count)
                    which = draw.randrange(20, most[rank][0]) if n or not late else int(0.93 * most[rank][0])
                    code, told, errors = call(folder, case, count, rank=rank, alloc=which)
                    check((code == 4 and len(told) == 1) or (code == 0 and not told),
                          f"{case} on {count}, allocation {which} of rank {rank}: {code}: {errors}")
                for n in range(4 if ALL else number % 2):
                    rank, which = draw.randrange(count), draw.randrange(2, most[0][1])
                    code, _, errors = call(folder, case, count, rank=rank, kill=which)
                    check(code not in (None, 0), f"{case} on {count}, rank {rank} killed at {which}: {code}: {errors}")
    return 1 if ranks.wrote_faults() else 0


if __name__ == "__main__":
    sys.exit(main())
