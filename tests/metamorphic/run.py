#!/usr/bin/env python3
"""Draws valid cases of all problems, elements and meshes, and checks relations that hold between their solutions.

Relations: axes in another order, mirrored and turned, another origin, other units of length, time, solution and
coefficient; box, forest and file; refined meshes and twice the cells; sides and materials of two names; threads, ranks,
SIMD widths, emulator; solvers and precisions; --set; --deterministic; restarts; 2D in 3D; sums of data; polynomials;
conditions, loads and coefficients that say the same; balances, forces, divergences; points, values and lines. A case
that deviates is made smaller and printed.
Ends with 1 where a relation does not hold."""

import argparse
import json
import multiprocessing
import os
import random
import re
import shutil
import sys
import tempfile
import time
from collections import Counter

import program
from cases import generate
from program import Failure, Refused
from relations import RELATIONS, WANTED
from shrink import shrink


def label_of(s):
    """Problem, element and mesh of a case."""
    mesh = "box"
    if s.mesh:
        mesh = s.mesh.origin
    elif s.domain:
        mesh = list(s.domain)[0]
    elif s.map or s.where or s.periodic:
        mesh = "map" if s.map else "refined" if s.where else "periodic"
    elif s.kind:
        mesh = s.kind
    return "%s %s%s %dD %s" % (s.problem, s.element, " in time" if s.time else "", s.dim, mesh)


def related(name, seed, s):
    """The deviation of a case over the tolerance, a text, and the second case; None where nothing is to be seen."""
    program.FLOORS.clear()
    try:
        return RELATIONS[name](random.Random(seed), s)
    except Failure as e:
        return 1e9, str(e), s
    except (KeyError, TypeError) as e:
        return 1e9, "the report lacks something: %r" % e, s


def keep(folder, seed, head, first, second):
    """Writes the two cases of a deviation, and their meshes."""
    os.makedirs(folder, exist_ok=True)
    for s, end in ((first, "a"), (second, "b")):
        with open(os.path.join(folder, "%d-%s.yaml" % (seed, end)), "w", encoding="utf-8") as file:
            file.write("# %s\n" % head.replace("\n", " "))
            json.dump(s.case(), file, indent=1)
        if s.mesh:
            s.mesh.save(folder)


def check(task):
    """Draws a case and a relation from a seed; returns (state, relation, label, text)."""
    seed, only, folder = task
    r = random.Random(seed)
    names = [only] if only else list(RELATIONS)
    name = names[int(r.random() * len(names))]  # one draw, whatever names there are
    s = generate(r, **WANTED.get(name, {}))
    label = label_of(s)
    for left in os.listdir(program.WORK):
        os.unlink(os.path.join(program.WORK, left))
    try:
        found = related(name, seed, s)
    except Refused as e:
        return "refused", name, label, str(e)
    if found is None:
        return "none", name, label, ""
    if found[0] <= 1:
        return "passed", name, label, "%.2g" % found[0]
    small = shrink(name, s, seed)
    try:
        again = related(name, seed, small)
    except Refused:
        again = None
    if not again or again[0] <= 1:
        small, again = s, found
    head = "%s | %s | seed %d | %.3g times the tolerance | %s" % (name, label, seed, again[0], again[1][:600])
    if folder:
        keep(folder, seed, head, small, again[2])
    case = {key: value for key, value in small.case().items() if key != "output"}
    return "failed", name, label, "%s\n  %s" % (head, json.dumps(case))


def begin(executable, folder):
    """Sets the program and a folder of its own for a process."""
    program.PROGRAM = executable
    program.WORK = tempfile.mkdtemp(dir=folder)


def tasks(options):
    """Seeds of relations, without end."""
    if options.one is not None:
        yield options.one, options.only, options.keep
        return
    r = random.Random(options.seed)
    for _ in range(20 * options.count):
        yield r.randrange(1 << 30), options.only, options.keep


def arguments():
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000, help="relations that are checked")
    parser.add_argument("--seconds", type=float, help="ends after this time, whatever has been checked")
    parser.add_argument("--only", choices=sorted(RELATIONS), help="a relation")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--keep", metavar="FOLDER", help="where cases that deviate are written")
    parser.add_argument("--one", type=int, metavar="SEED", help="the relation whose seed was printed, alone")
    parser.add_argument("--table", action="store_true", help="numbers by relation, problem and mesh")
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    options.keep = options.keep and os.path.abspath(options.keep)
    return options


def print_table(counts):
    """Numbers by relation, by problem, and what was refused."""
    for kind, table in counts.items():
        print(kind + ":")
        for key, number in table.most_common(60):
            print("  %5d %s" % (number, key))


def run(options, folder):
    """Checks relations until enough of them applied; returns the numbers of those that passed and failed."""
    passed = failed = 0
    end = time.time() + options.seconds if options.seconds else float("inf")
    counts = {"relations": Counter(), "cases": Counter(), "refused": Counter()}
    pool = multiprocessing.Pool(options.jobs, begin, (options.program, folder))
    for state, name, label, text in pool.imap(check, tasks(options)):
        if state == "refused":
            counts["refused"][
                re.sub(r"(?<!exit )\d[-+.e\d]*", "#", "%s, %s: %s" % (name, label.split(" ")[0], text))[:150]
            ] += 1
        if state in ("passed", "failed"):
            counts["relations"][name] += 1
            counts["cases"][label] += 1
        passed += state == "passed"
        if state == "failed":
            failed += 1
            print("FAILED " + text, flush=True)
        if passed + failed >= options.count or time.time() > end:
            break
    pool.terminate()
    if options.table:
        print_table(counts)
    return passed, failed


def main():
    """Runs the program; the last line says how many relations passed and failed."""
    options = arguments()
    start = time.time()
    folder = tempfile.mkdtemp(prefix="metamorphic-")
    try:
        passed, failed = run(options, folder)
    finally:
        shutil.rmtree(folder, True)
    print("%d passed, %d failed in %.0f s" % (passed, failed, time.time() - start))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
