"""Runs the program on a case."""

import json
import os
import subprocess

# run.py sets these, for each process that checks relations
PROGRAM = ""
WORK = "."
# of one solve, in seconds
LIMIT = 60
ENVIRONMENT = dict(
    os.environ,
    OMP_NUM_THREADS="1",
    OMPI_ALLOW_RUN_AS_ROOT="1",
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
    OMPI_MCA_rmaps_base_oversubscribe="1",
)
# number of solves so far, and the floors of those that ended at one
RUNS = 0
FLOORS = []


def execute(case, args=(), limit=LIMIT):
    """Solves a case; returns (exit status, report or None, standard error)."""
    global RUNS
    RUNS += 1
    p = subprocess.Popen(
        [PROGRAM, "solve", "-", "--quiet", "--json", "-"] + list(args),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=WORK,
        env=ENVIRONMENT,
        text=True,
    )
    try:
        out, err = p.communicate(json.dumps(case, indent=1), timeout=limit)
    except subprocess.TimeoutExpired:
        p.kill()
        p.communicate()
        return 124, None, "time limit"
    try:
        report = json.loads(out) if out.strip() else None
    except ValueError:
        report = None
    if report and report.get("floor"):
        FLOORS.append(report["floor"])
    return p.returncode, report, err


class Failure(Exception):
    """The program crashed, hung, or said that wrong values are right."""


class Refused(Exception):
    """The program refused a case, or said that it does not converge."""


def observe(spec, args=()):
    """Values and report of a solved case."""
    return observed(execute(spec.case(), list(spec.args) + list(args)))


def observed(result):
    """Values and report of what execute() returned."""
    code, rep, err = result
    if code < 0 or code in (124, 134, 139):
        raise Failure("exit %d: %s" % (code, err.strip()[-300:]))
    if code == 1 and rep and rep.get("status") == "internal_error":
        raise Failure("internal error: " + err[-300:])
    if code == 0 and rep is None:
        raise Failure("exit 0 without a report")
    if code != 0:
        raise Refused("exit %d: %s" % (code, err.strip()[:300].replace("\n", " | ")))
    if rep["status"] != "converged":
        raise Failure("exit 0, status %s" % rep["status"])
    v = rep["values"]
    bad = [k for k, x in v.items() if x is None]
    if bad:
        raise Failure("exit 0, values that are not finite: %s" % bad[:4])
    return v, rep


def observe_extra(n, extra):
    """Values and report of a case with more values."""
    c = n.case()
    c["output"]["values"].update(extra)
    return observed(execute(c, n.args))
