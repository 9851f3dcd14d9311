"""tessera.solve(): a case as the program solves it, with its report."""

from __future__ import annotations

import html
import json
import os
import re
import tempfile
from typing import Any, Callable

import numpy as np

from ._binding import ffi, lib
from ._core import Context, MissingComponent, _Lines, keep_error, own, text_of
from ._gradient import of_case
from ._solution import Solution
from ._types import Array, Path

SUMMARY = ("status", "problem", "iterations", "dofs", "dim", "degree", "tolerance", "device", "threads", "precision")


class Result(Solution):
    """The solution of a case: `report` is the program's JSON report as a dict, and parts of it have names of their own.

    Fields, points and files are those of Solution: fields["u"], sample(points, "ux"), plot(), to_vtu(path), .."""

    report: dict[str, Any]
    name: str

    def __init__(self, context, pointer, report, name):
        self.context, self._p, self.report, self.name = context, pointer, report, name
        self._case = None

    @property
    def status(self) -> str:
        """ "converged", "not_converged", .."""
        return self.report["status"]

    @property
    def iterations(self) -> int:
        """Of all solves."""
        return self.report["iterations"]

    @property
    def residuals(self) -> Array:
        """Relative, one an iteration."""
        return np.array(self.report["residuals"], float)

    @property
    def errors(self) -> dict[str, float]:
        """Of a case with an exact solution: {name: norm}."""
        return self.report.get("errors", {})

    @property
    def times(self) -> dict[str, float]:
        """Seconds by part: set-up, solve, .."""
        return self.report["times"]

    @property
    def points(self) -> list[dict[str, Any]]:
        """output.points: a dict a point."""
        return self.report.get("points", [])

    @property
    def values(self) -> dict[str, float]:
        """output.values: {name: number}."""
        return self.report.get("values", {})

    @property
    def warnings(self) -> list[str]:
        """Of the solve."""
        return self.report.get("warnings", [])

    def gradient(self, value: Any, of: Any, cells: bool = False) -> Any:
        """The derivative of a value by data of the case, for the price of one adjoint solve:
        gradient("drag", of="k"), gradient("end", of=["data.young", "boundary.right.traction[1]"]).

        value: a name of output.values. of: a name of constants, by which everything that is made of it is
        differentiated; or the key of a number or an expression below data or boundary ("data." may be left out), to
        which a number is added; or a list of these, which gives an array. cells=True: an array of the parts of all
        cells, the derivatives by the datum in this cell alone. A dict in the place of a name asks as
        Problem.gradient() does."""
        if isinstance(value, dict):
            return super().gradient(value, of, cells)
        kept, text, name, overrides = [], *self._case
        asked = ffi.new("PyRun *", describe_case(text, name, overrides, kept))
        return of_case(self, asked, value, of, cells)

    def __repr__(self):
        more = "".join(f", error {name} {value:.2e}" for name, value in self.errors.items() if value is not None)
        return (
            f"<tessera.Result {self.name}: {self.status} after {self.iterations} iterations, "
            f"{self.report['dofs']} unknowns, {self.times['solve']:.3g} s{more}>"
        )

    def _repr_html_(self):
        rows = [(key, self.report[key]) for key in SUMMARY if key in self.report]
        rows += [(f"error {key}", f"{value:.4e}") for key, value in self.errors.items() if value is not None]
        rows += [(f"value {key}", f"{value:.10g}") for key, value in self.values.items() if value is not None]
        rows += [("seconds", f"{self.times['setup']:.3g} set-up, {self.times['solve']:.3g} solve")]
        cells = "".join(
            f"<tr><th style='text-align:left'>{html.escape(str(key))}</th>"
            f"<td style='text-align:left'>{html.escape(str(value))}</td></tr>"
            for key, value in rows
        )
        return f"<table><caption>{html.escape(self.name)}</caption>{cells}</table>"


def without_places(case, text):
    """The messages about a case: a dict has no lines and columns, and its keys are named."""
    return re.sub(r"\bcase:\d+:\d+: ", "", text) if text and isinstance(case, dict) else text


class _Listener(_Lines):
    """Lines and progress of a run."""

    def __init__(self, context, case, verbose, progress):
        super().__init__(context, verbose)
        self.case, self.progress, self.bar = case, progress, None
        if progress is True:
            from tqdm.auto import tqdm  # pylint: disable=import-outside-toplevel,import-error

            self.bar = tqdm(total=100, unit="%", bar_format="{l_bar}{bar}| {elapsed}<{remaining}")
            self.progress = lambda part: self.bar.update(max(0, int(100 * part) - self.bar.n))

    def log(self, level, line):
        """One of the lines."""
        super().log(level, without_places(self.case, line))

    def end(self):
        """Of the bar."""
        if self.bar is not None:
            self.bar.close()


def as_text(case):
    """Text (None: a file) and name of a case: a dict, the text of a YAML file, or the path of one."""
    if isinstance(case, dict):
        return json.dumps(case, default=plain), "case"
    if isinstance(case, str) and (not case.strip() or "\n" in case or ":" in case and not os.path.exists(case)):
        return case, "case"
    if not isinstance(case, (str, os.PathLike)):
        raise TypeError(f"solve: {case!r} is no case: give the path of a case file, its text, or a dict")
    return None, os.fspath(case)


def plain(value):
    """What JSON does not know."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(
        f"{value!r} cannot stand in a case: give a number, a text, a list or a dict "
        "(callables are for tessera.Problem)"
    )


def solve(
    case: dict[str, Any] | Path,
    set: dict[str, Any] | None = None,  # pylint: disable=redefined-builtin
    *,
    context: Context | None = None,
    vtu: Path | None = None,
    png: Path | None = None,
    restart: Path | None = None,
    verbose: bool = False,
    progress: bool | Callable[[float], None] | None = None,
) -> Result:
    """Solves a case: the path of a case file, its text, or a dict of the same keys (docs/case-file.md).

    set: {"space.degree": 5} replaces or adds values. Files that the case names are written as the program does, and
    vtu, png, restart are options of the program. verbose prints what the program prints. progress=True shows a bar of
    tqdm; a callable gets the part that is done. Returns a Result, or raises: a mistake in the case InvalidInput with
    its place, an iteration that does not reach its tolerance NotConverged, whose `result` is the Result."""
    context = Context.of(context)
    if set is not None and not isinstance(set, dict):
        raise TypeError(f'solve: set: {set!r} is no dict, as {{"space.degree": 5}}')
    try:
        with context._turn:
            return run(context, case, set or {}, vtu, png, restart, verbose, progress)
    except MissingComponent:
        if context.asked != "auto" or context.device == "cpu":
            raise
        return run(Context("cpu"), case, set or {}, vtu, png, restart, verbose, progress)


def c_text(value, kept):
    """A C string, which `kept` keeps; NULL of None."""
    kept.append(ffi.NULL if value is None else ffi.new("char[]", os.fspath(value).encode()))
    return kept[-1]


def describe_case(text, name, overrides, kept):
    """The members of PyRun that tell the case."""
    rows = ffi.new("char *[]", [c_text(override, kept) for override in overrides])
    kept.append(rows)
    return {
        "path": c_text(name, kept),
        "text": c_text(text, kept),
        "override_count": len(overrides),
        "overrides": rows,
    }


def read_text(text, path):
    """The text of a case, that of its file where there is none."""
    if text is not None:
        return text
    with open(path, encoding="utf-8") as file:
        return file.read()


def run(context, case, values, vtu, png, restart, verbose, progress):
    """One run on one context."""
    text, name = as_text(case)
    listener = _Listener(context, case, verbose, progress)
    handle, kept = ffi.new_handle(listener), []
    overrides = [
        f"{key}={value if isinstance(value, str) else json.dumps(value, default=plain)}"
        for key, value in values.items()
    ]
    with tempfile.TemporaryDirectory(prefix="tessera") as folder:
        report = os.path.join(folder, "report.json")
        asked = ffi.new(
            "PyRun *",
            {
                **describe_case(text, name, overrides, kept),
                "restart": c_text(restart, kept),
                "vtu": c_text(vtu, kept),
                "png": c_text(png, kept),
                "report": c_text(report, kept),
                "verbosity": lib.TES_NORMAL if verbose else lib.TES_QUIET,
                "log": lib.py_log,
                "user": handle,
                "progress": lib.py_progress if listener.progress else ffi.NULL,
            },
        )
        try:
            status = context.try_call(lib.py_run, context._p, asked)
        finally:
            listener.end()
        pointer = None if asked.problem == ffi.NULL else own("problem", asked.problem)
        result = None
        if pointer is not None and os.path.exists(report):
            with open(report, encoding="utf-8") as file:
                result = Result(context, pointer, json.load(file), name)
            result._case = read_text(text, name), name, overrides
    try:
        context.check(status, without_places(case, text_of(asked.message)))
    except Exception as error:
        error.result = result
        raise
    return result


@ffi.def_extern(onerror=keep_error)
def py_progress(user, part):
    """PyRun.progress."""
    ffi.from_handle(user).progress(part)
