"""Derivatives of values by data: what Problem.gradient() and Result.gradient() share."""

import re

import numpy as np

from ._binding import ffi, lib
from ._core import Filler, InvalidInput, refuse, text_of

DATA = {name: name for name in ("a", "c", "lambda", "f", "b")}
DATA.update({"nu": "a", "mu": "a", "alpha": "c", "lambda_": "lambda"})
LISTS = ("f", "b")


def entry_of(name, dim):
    """A name and its entry: "f[1]" is ("f", 1)."""
    match = re.fullmatch(r"(.+)\[(\d)\]", name)
    if not match:
        return name, 0
    if int(match.group(2)) >= dim:
        raise InvalidInput(f"gradient by {name}: there are {dim} directions", "invalid_input")
    return match.group(1), int(match.group(2))


def data_of(values):
    """TesData of {name: direction}."""
    for name in values:
        if name not in DATA:
            raise refuse(name, DATA, "gradient")
    return {
        DATA[name]: value if DATA[name] not in LISTS or isinstance(value, (list, tuple)) else [value]
        for name, value in values.items()
    }


def boundaries_of(directions, others):
    """Rows of TesBoundary of {name: a direction of its values, or {"g": .., "alpha": ..}}. "all" are the boundaries
    that the problem has under this name."""
    if "all" in directions and others is None:
        raise InvalidInput("gradient: 'all' is no boundary of a result: name each of them", "invalid_input")
    named = {name: directions["all"] for name in others or ()} if "all" in directions else {}
    named.update({name: row for name, row in directions.items() if name != "all"})
    return [{"name": name, **(row if isinstance(row, dict) else {"g": row})} for name, row in named.items()]


def named(of, dim, flow):
    """The direction of a name, 1 everywhere: "a", "f[1]", "boundary.left", "boundary.left.alpha",
    "boundary.right.pressure", "materials.X.a"."""
    name, entry = entry_of(of, dim)
    one = [None] * entry + [1.0]
    if name.startswith("boundary."):
        place = name[len("boundary.") :]
        if place.endswith(".pressure"):
            normal = [None] * dim + [1.0] if flow else [f"-n{axis}" for axis in "xyz"[:dim]]
            return {"boundary": {place[: -len(".pressure")]: {"g": normal}}}
        if place.endswith(".alpha"):
            return {"boundary": {place[: -len(".alpha")]: {"alpha": 1.0}}}
        return {"boundary": {place: {"g": one}}}
    material = re.fullmatch(r"materials\.(.+)\.(\w+)", name)
    if name != of and (material.group(2) if material else name) not in LISTS:
        raise InvalidInput(f"gradient by {of}: {name} has no entries", "invalid_input")
    if material:
        return {"materials": {material.group(1): {material.group(2): one if material.group(2) in LISTS else 1.0}}}
    return {name: one if name in LISTS else 1.0}


def direction_of(of, dim, flow, others):
    """Members of TesVariation of a name or {"a": .., "f": .., "boundary": {..}, "materials": {..}}."""
    values = dict(named(of, dim, flow) if isinstance(of, str) else of)
    boundary, materials = values.pop("boundary", None), values.pop("materials", None)
    return {
        "data": data_of(values),
        "boundary": boundaries_of(boundary, others) if boundary else None,
        "material": (
            [{"name": name, "data": data_of(data)} for name, data in materials.items()] if materials else None
        ),
    }


def as_list(of):
    """What a value is differentiated by as a list, and whether it was one."""
    return (list(of), True) if isinstance(of, (list, tuple)) else ([of], False)


def results(rows, several, cells):
    """Numbers, or with `cells` arrays: one, or a row for each."""
    found = cells if cells is not None else np.array([row.derivative for row in rows])
    if several:
        return found
    return found[0] if cells is not None else float(found[0])


def of_problem(problem, what, of, cells):
    """By directions: TesVariation."""
    wanted, several = as_list(of)
    filler = Filler(problem.context)
    parts = np.zeros((len(wanted), problem.mesh.cells)) if cells else None
    rows = ffi.new("TesVariation[]", max(len(wanted), 1))
    for i, one in enumerate(wanted):
        values = direction_of(one, problem.mesh.dim, "p" in problem.field_names, problem._others)
        filler.fill(rows[i], {**values, "cells": parts[i] if cells else None}, "gradient")
    problem.context.call(lib.tes_problem_gradient, problem._p, what, len(wanted), rows)
    return results([rows[i] for i in range(len(wanted))], several, parts)


def of_case(result, asked, value, of, cells):
    """By data of the case: TesCaseDatum. asked: PyRun with the case."""
    wanted, several = as_list(of)
    filler = Filler(result.context)
    parts = np.zeros((len(wanted), result.mesh.cells)) if cells else None
    rows = ffi.new("TesCaseDatum[]", max(len(wanted), 1))
    for i, key in enumerate(wanted):
        filler.fill(rows[i], {"key": key, "cells": parts[i] if cells else None}, "gradient")
    name, context = filler.text(value, "gradient: value"), result.context
    with context._turn:
        status = context.try_call(lib.py_gradient, context._p, asked, result._p, name, len(wanted), rows)
        context.check(status, text_of(asked.message) or None)
    return results([rows[i] for i in range(len(wanted))], several, parts)
