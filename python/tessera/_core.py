"""The context, errors, functions of space and time, and the road from Python values to members of C descriptions."""

import ctypes
import inspect
import numbers
import os
import sys
import threading
import warnings
import weakref
from typing import Any

import numpy as np

from ._binding import ffi, lib

# ---- errors ---------------------------------------------------------------------------------------------------------


class Error(Exception):
    """A call of the library that failed: `message`, `status` (its name in reports), `trace` (its road in the library).

    Where an iteration ended too early, `result` holds what there is of the solution."""

    def __init__(self, message, status="internal_error", trace=""):
        super().__init__(message)
        self.message, self.status, self.trace, self.result = message, status, trace, None

    def __reduce__(self):
        """Without the result, which stays in its process."""
        return type(self), (self.message, self.status, self.trace)


class InvalidInput(Error, ValueError):
    """An argument or an input file is not valid."""


class MissingComponent(Error, RuntimeError):
    """A device, a library or a part left out at build time is needed."""


class OutOfMemory(Error, MemoryError):
    """Memory is exhausted, or would be."""


class FileError(Error, OSError):
    """A file could not be read or written."""


class NotConverged(Error, ArithmeticError):
    """An iteration, a loop or steps in time ended before their aim; `status` says how."""


class Interrupted(Error):
    """Context.interrupt() was called from another thread."""


KINDS = {
    "TES_INVALID_INPUT": InvalidInput,
    "TES_MISSING": MissingComponent,
    "TES_OUT_OF_MEMORY": OutOfMemory,
    "TES_IO": FileError,
    "TES_INTERRUPTED": Interrupted,
    "TES_INTERNAL": Error,
}


def text_of(pointer):
    """A C string, None for NULL."""
    return None if pointer == ffi.NULL else ffi.string(pointer).decode()


def make_error(status, message="", trace=""):
    """The exception of a status."""
    name = ffi.typeof("TesStatus").elements[status]
    kind = KINDS.get(name, NotConverged)
    return kind(message or text_of(lib.tes_status_text(status)), text_of(lib.tes_status_name(status)), trace)


def own(name, pointer, owner=None):
    """The pointer, whose reference is given back with it: own("mesh", TesMesh *). `owner` stays alive as long."""
    destroy = getattr(lib, f"tes_{name}_destroy")
    kind = ffi.getctype(ffi.typeof(pointer), "*")
    kept = [owner]

    def end(held):
        destroy(ffi.new(kind, held))
        kept.clear()

    return ffi.gc(pointer, end)


def place_of(kind):
    """Where a create function writes a pointer: place_of("TesMesh")[0] is NULL first."""
    return ffi.new(f"{kind} **")


# ---- the context ----------------------------------------------------------------------------------------------------


def _wait(number):
    """For all streams of a GPU. The thread may have chosen another GPU, or none: the driver waits for the context of
    the thread, so that it is changed for this call."""
    driver, context, old = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_void_p()
    status = driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), number)
    if not status:
        status = driver.cuCtxPushCurrent_v2(context) or driver.cuCtxSynchronize()
        driver.cuCtxPopCurrent_v2(ctypes.byref(old))
        driver.cuDevicePrimaryCtxRelease_v2(number)
    if status:
        raise Error(f"the GPU ended with error {status} of its driver")


def _level_of_caller():
    """The stacklevel at which a warning tells the line of the user's program that called this package."""
    frame, level = sys._getframe(1), 1  # pylint: disable=protected-access
    while frame.f_back and frame.f_code.co_filename.startswith(os.path.dirname(__file__)):
        frame, level = frame.f_back, level + 1
    return level


class _Lines:
    """Lines of the library: its warnings are Python's, others are printed if wanted."""

    def __init__(self, context, verbose):
        self.context, self.verbose = weakref.proxy(context), verbose

    def log(self, level, line):
        """One of them."""
        if level == lib.TES_LOG_WARNING:
            warnings.warn(line[9:] if line.startswith("warning: ") else line, stacklevel=_level_of_caller())
        elif self.verbose and level != lib.TES_LOG_PROGRESS:
            print(line)


def _ranks_of(communicator):
    """A TesCommunicator of one of mpi4py."""
    if not hasattr(communicator, "py2f"):
        raise TypeError(f"communicator: {communicator!r} is none of mpi4py")
    place = place_of("TesCommunicator")
    status = lib.tes_communicator_create(communicator.py2f(), place)
    if status:
        raise make_error(status, None if status != lib.TES_MISSING else "communicator: this build has no MPI")
    return own("communicator", place[0])


class Held:
    """An object that lives in the library: it cannot be pickled, and a copy would be the same memory."""

    def __reduce_ex__(self, _protocol):
        raise TypeError(
            f"a tessera.{type(self).__name__} lives in the library and cannot be copied or pickled: keep its case, "
            "NumPy arrays of it, or a file"
        )


def check_type(value, kind, what):
    """Refuses an object of another type."""
    if not isinstance(value, kind):
        raise TypeError(f"{what}: {value!r} is no tessera.{kind.__name__}")


class Context(Held):
    """What all objects of one computation share: device, threads, memory, messages.

    device: "auto" (a GPU where there is one), "cpu", "cuda", "cuda:N" or "emulator"; threads 0: as many as OpenMP
    would use. Threads use a context one after the other, and may interrupt() it; contexts of their own compute at the
    same time. verbose: lines of the library are printed; its warnings are Python's in any case. communicator: one of
    mpi4py; meshes, spaces and problems of the context are then shared by its processes, which all make the same
    calls."""

    _defaults = threading.local()

    def __init__(
        self,
        device: str = "auto",
        threads: int = 0,
        deterministic: bool = False,
        simd_bits: int = 0,
        verbose: bool = False,
        communicator: Any = None,
    ) -> None:
        if not isinstance(device, str):
            raise TypeError(f"Context: device: {device!r} is no text, as 'cuda'")
        self.asked, self._pending, self._turn = device, None, threading.RLock()
        ranks = ffi.NULL if communicator is None else _ranks_of(communicator)
        self._lines = _Lines(self, verbose)
        self._handle = ffi.new_handle(self._lines)
        message = ffi.new("char[1024]")
        place = place_of("TesContext")
        name = ffi.new("char[]", device.encode())
        desc = ffi.new(
            "TesContextDesc *",
            {
                "device": name,
                "threads": threads,
                "deterministic": deterministic,
                "simd_bits": simd_bits,
                "verbosity": lib.TES_VERBOSE if verbose else lib.TES_NORMAL,
                "log": lib.py_log,
                "log_user": self._handle,
                "communicator": ranks,
            },
        )
        status = lib.tes_context_create(desc, place, message, 1024)
        if status:
            raise make_error(status, text_of(message))
        self._p = own("context", place[0], ranks)
        self.rank, self.ranks = lib.tes_communicator_rank(ranks), lib.tes_communicator_size(ranks)

    @classmethod
    def default(cls) -> "Context":
        """The context of objects that a thread makes without one; made when it is first asked for."""
        if not hasattr(cls._defaults, "context"):
            cls._defaults.context = cls()
        return cls._defaults.context

    @classmethod
    def of(cls, given):
        """The context that is given; None: the default one."""
        if given is None:
            return cls.default()
        check_type(given, cls, "context")
        return given

    device = property(lambda self: text_of(lib.tes_context_device(self._p)), doc='"cpu", "cuda:0" or "emulator"')
    threads = property(lambda self: lib.tes_context_threads(self._p), doc="Number of threads of the host.")
    memory = property(lambda self: lib.tes_context_memory(self._p), doc="Bytes of host memory held now.")

    def __repr__(self):
        return f"<tessera.Context {self.device}, {self.threads} threads>"

    @property
    def on_host(self):
        """Whether the host may read vectors: the emulator guards its memory as a GPU does."""
        return self.device == "cpu"

    def interrupt(self) -> None:
        """Ends what runs, from another thread: it raises Interrupted there."""
        lib.tes_context_interrupt(self._p)

    def synchronize(self) -> None:
        """Waits for all work on a GPU, of other libraries too: streams of Tessera are not in order with others."""
        if self.gpu is not None:
            _wait(self.gpu)

    @property
    def gpu(self):
        """The number of the GPU, or None."""
        kind, _, number = self.device.partition(":")
        return int(number) if kind == "cuda" else None

    def keep(self, error):
        """The first exception of a callable: what runs ends, and then it is raised."""
        if self._pending is None:
            self._pending = error
        lib.tes_context_interrupt(self._p)

    def fail(self, status, message=""):
        """Raises the exception of a status that is not TES_OK, or that of a callable."""
        pending, self._pending = self._pending, None
        error = pending or make_error(
            status, message or text_of(lib.tes_context_message(self._p)), text_of(lib.tes_context_trace(self._p))
        )
        lib.tes_context_clear(self._p)
        raise error

    def check(self, status, message=""):
        """Nothing where a call succeeded."""
        if status or self._pending is not None:
            self.fail(status or lib.TES_INTERRUPTED, message)

    def try_call(self, function, *arguments):
        """The status of a call that may take long: without the GIL, and Ctrl-C ends it."""
        listens = threading.current_thread() is threading.main_thread()
        with self._turn:
            lib.tes_context_clear(self._p)
            if listens:
                lib.py_interrupt_begin(self._p)
            try:
                return function(*arguments)
            finally:
                if listens:
                    lib.py_interrupt_end()

    def call(self, function, *arguments):
        """The same, and raises what went wrong. Here nan is of data: no iteration is made."""
        try:
            with self._turn:
                self.check(self.try_call(function, *arguments))
        except NotConverged as error:
            if error.status != "nan":
                raise
            raise InvalidInput(error.message, error.status, error.trace) from None


def keep_error(_kind, error, trace):
    """What a callback raises, KeyboardInterrupt before its first line too, ends what runs and is raised after it."""
    values = trace.tb_frame.f_locals
    ffi.from_handle(values["user"]).context.keep(error.with_traceback(trace))
    if "out" in values:
        np.frombuffer(ffi.buffer(values["out"], 8 * values["n"]))[:] = np.nan


@ffi.def_extern(onerror=keep_error)
def py_log(user, level, line):
    """TesContextDesc.log."""
    ffi.from_handle(user).log(level, text_of(line))


# ---- functions ------------------------------------------------------------------------------------------------------

COORDINATES = ("x", "y", "z", "t")
_alive = {}  # handles of callables, as long as the library refers to them


class _Callable:
    """A callable of x, y, z, t, of which it names those that it takes."""

    def __init__(self, context, call):
        self.context, self.call = context, call
        parameters = [
            p
            for p in inspect.signature(call).parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and not self._stays(p)
        ]
        names = [p.name for p in parameters]
        known = [name for name in names if name in COORDINATES]
        if not names or len(names) > len(COORDINATES):
            raise TypeError(f"{call!r}: a function of space takes x, y, z or t")
        if known and len(known) < len(names):
            others = ", ".join(name for name in names if name not in COORDINATES)
            raise TypeError(f"{call!r}: a function of space takes x, y, z or t; {others} needs a default")
        self.takes = [COORDINATES.index(name) for name in names] if known else list(range(len(names)))

    def _stays(self, parameter):
        """Whether a parameter keeps its default: all but coordinates, whose default may be 0 alone."""
        if parameter.default is parameter.empty:
            return False
        if parameter.name not in COORDINATES:
            return True
        if isinstance(parameter.default, numbers.Real) and parameter.default == 0:
            return False
        raise TypeError(
            f"{self.call!r}: {parameter.name} is a coordinate, and its default {parameter.default!r} would not be used"
        )

    def evaluate(self, n, columns, time, out):
        """out[n] <- values; what the callable returns is broadcast."""
        arguments = []
        for i in self.takes:
            if i == 3:
                arguments.append(time)
            else:
                column = np.frombuffer(ffi.buffer(columns[i], 8 * n))
                column.flags.writeable = False
                arguments.append(column)
        values = np.asarray(self.call(*arguments))
        if values.dtype.kind not in "biuf":
            raise TypeError(f"{self.call!r} returned values of type {values.dtype}, expected real numbers")
        if values.ndim > 1 or (values.ndim == 1 and values.shape[0] not in (1, n)):
            raise ValueError(f"{self.call!r} returned an array of shape {values.shape} for {n} points")
        np.frombuffer(ffi.buffer(out, 8 * n))[:] = values


@ffi.def_extern(onerror=keep_error)
def py_evaluate(user, n, x, y, z, t, out):
    """TesFunctionEvaluate."""
    ffi.from_handle(user).evaluate(n, (x, y, z), t, out)


@ffi.def_extern()
def py_release(user):
    """With the last reference."""
    _alive.pop(user, None)


def function(context, value):
    """A TesFunction of a number, an expression such as "sin(pi*x)*y", a callable of NumPy arrays f(x, y, z, t), a field
    of another solution, or for the coefficient a of diffusion a matrix of them."""
    from ._field import Field  # pylint: disable=import-outside-toplevel

    place = place_of("TesFunction")
    if isinstance(value, np.ndarray) and value.ndim == 0:  # as of a field at a point
        value = value.item()
    if isinstance(value, Field):
        return value._p
    if isinstance(value, str):
        status = lib.tes_function_create_expression(context._p, value.encode(), place)
    elif isinstance(value, numbers.Real):
        status = lib.tes_function_create_constant(context._p, value, place)
    elif callable(value):
        handle = ffi.new_handle(_Callable(context, value))
        status = lib.tes_function_create_callback(context._p, lib.py_evaluate, handle, lib.py_release, place)
        if not status:
            _alive[handle] = handle
    elif isinstance(value, (list, tuple, np.ndarray)):
        rows = [list(row) if isinstance(row, (list, tuple, np.ndarray)) else [] for row in value]
        if any(len(row) != len(rows) for row in rows):
            raise TypeError(f"{value!r}: a coefficient that is a matrix is a square of numbers or functions")
        entries = [entry if entry is None else function(context, entry) for row in rows for entry in row]
        pointers = [ffi.NULL if entry is None else entry for entry in entries]
        status = lib.tes_function_create_matrix(context._p, len(rows), pointers, place)
    else:
        raise TypeError(
            f"{value!r} is no function: give a number, an expression, a callable of x, y, z, t, or a field of another "
            "solution, solution.field('u')"
        )
    context.check(status)
    return own("function", place[0])


# ---- descriptions ---------------------------------------------------------------------------------------------------


def words(kind):
    """{word: number} of an enum: "chebyshev" is TES_SMOOTHER_CHEBYSHEV."""
    names = kind.relements
    prefix = os.path.commonprefix(list(names))
    prefix = prefix[: prefix.rfind("_") + 1] if len(names) > 1 else "TES_"
    return {name[len(prefix) :].lower(): number for name, number in names.items() if not name.endswith("_COUNT")}


def refuse(name, known, what):
    """A name that there is not, with the nearest one that there is."""
    texts = [ffi.new("char[]", text.encode()) for text in known]
    near = text_of(lib.tes_nearest_name(str(name).encode(), [*texts, ffi.NULL]))
    hint = f"; expected one of {', '.join(sorted(known))}" if known else ": there are none"
    hint = f"; did you mean '{near}'?" if near else hint
    return InvalidInput(f"{what}: there is no '{name}'{hint}", "invalid_input")


def has_members(kind):
    """Whether a type is a struct of the headers, not an opaque one (whose fields cffi must not be asked for)."""
    if kind.kind != "struct":
        return False
    try:
        return ffi.sizeof(kind) > 0
    except (ffi.error, TypeError, ValueError):
        return False


class Filler:
    """Fills C descriptions from Python values, and keeps alive what they point to."""

    def __init__(self, context):
        self.context, self.kept = context, []

    def keep(self, value):
        """The value, alive as long as the filler."""
        self.kept.append(value)
        return value

    def text(self, value, where):
        """A C string."""
        if not isinstance(value, (str, os.PathLike)):
            raise TypeError(f"{where}: {value!r} is no text")
        return self.keep(ffi.new("char[]", os.fspath(value).encode()))

    def function(self, value):
        """A TesFunction; None is NULL."""
        return ffi.NULL if value is None else self.keep(function(self.context, value))

    def fill(self, struct, values, where):
        """Members of a struct by name; None leaves a member as it is."""
        fields = dict(
            ffi.typeof(struct).fields if ffi.typeof(struct).kind == "struct" else ffi.typeof(struct).item.fields
        )
        order = list(fields)
        for name, value in values.items():
            if value is None:
                continue
            if name not in fields:
                raise refuse(name, fields, where)
            kind = fields[name].type
            if kind.kind == "pointer" and isinstance(value, (list, tuple)) and has_members(kind.item):
                rows = self.rows(kind.item, value, f"{where}.{name}")
                setattr(struct, name, rows)
                setattr(struct, order[order.index(name) - 1], len(value))  # the number of rows stands before them
            elif kind.kind == "struct" and isinstance(value, dict):
                self.fill(getattr(struct, name), value, f"{where}.{name}")
            elif kind.kind == "array":
                self.fill_array(getattr(struct, name), kind, value, f"{where}.{name}")
            else:
                setattr(struct, name, self.convert(kind, value, f"{where}.{name}"))
        return struct

    def rows(self, kind, values, where):
        """An array of structs."""
        rows = self.keep(ffi.new(ffi.getctype(kind, "[]"), len(values)))
        for i, value in enumerate(values):
            self.fill(rows[i], value, f"{where}[{i}]")
        return rows

    def fill_array(self, array, kind, value, where):
        """An array of fixed length; a single value is its first entry."""
        if isinstance(value, (str, numbers.Real)) or callable(value):
            value = [value]
        if len(value) > kind.length:
            raise InvalidInput(f"{where}: {len(value)} values, at most {kind.length}", "invalid_input")
        for i, entry in enumerate(value):
            if entry is not None:
                array[i] = self.convert(kind.item, entry, f"{where}[{i}]")

    def convert(self, kind, value, where):
        """A member's value."""
        if kind.kind == "enum":
            known = words(kind)
            if not isinstance(value, str) or value not in known:
                raise refuse(value, known, where)
            return known[value]
        if kind.cname == "_Bool":
            if not isinstance(value, (bool, np.bool_)):
                raise TypeError(f"{where}: {value!r} is neither True nor False")
            return bool(value)
        if kind.kind == "primitive":
            wanted = numbers.Real if kind.cname in ("double", "float") else numbers.Integral
            if not isinstance(value, wanted) or isinstance(value, bool) and wanted is numbers.Real:
                raise TypeError(f"{where}: {value!r} is no {'number' if wanted is numbers.Real else 'whole number'}")
            if wanted is numbers.Integral and abs(int(value)) >> 8 * ffi.sizeof(kind) - 1:
                raise InvalidInput(f"{where}: {value!r} is too large", "invalid_input")
            return value
        if kind.kind == "pointer":
            item = kind.item.cname
            if item == "char":
                return self.text(value, where)
            if item == "struct TesFunction":
                return self.function(value)
            if item in ("double", "int8_t", "uint8_t", "int32_t"):
                array = np.ascontiguousarray(value, dtype={"double": np.float64}.get(item, item[:-2]))
                self.keep(array)
                return ffi.cast(kind, array.ctypes.data)
            if hasattr(value, "_p") and ffi.typeof(value._p) == kind:
                self.keep(value)
                return value._p
        wanted = "a dict" if kind.kind == "struct" else f"a tessera.{kind.item.cname[len('struct Tes'):]}"
        raise TypeError(f"{where}: {value!r}, expected {wanted}")


class Noun(Held):
    """An object of the library: a pointer and its context."""

    _p: Any = None
    context: Any = None

    @classmethod
    def help(cls, name=None):
        """What the C headers say of an option, or of all."""
        from ._words import WORDS  # pylint: disable=import-outside-toplevel,no-name-in-module

        keys = {option: f"{cls._desc}.{option}" for option, _ in ffi.typeof(cls._desc).fields} if cls._desc else {}
        keys.update(cls._data)
        if name:
            check_options([name], keys, f"{cls.__name__}.help")
            return WORDS.get(keys[name], "")
        return "\n".join(f"{option}: {WORDS[key]}" for option, key in keys.items() if key in WORDS)

    _desc = ""
    _data: dict = {}  # options that are members of other descriptions: {"f": "TesData.f"}


def known_members(kind, more, without):
    """The names of options: members of a description, names that Python adds, and without those that it hides."""
    return [*more, *(name for name, _ in ffi.typeof(kind).fields if name not in without)]


def check_options(options, known, what):
    """Refuses the first name that is none of those."""
    for name in options:
        if name not in known:
            raise refuse(name, known, what)


def members(struct, skip=()):
    """A filled C struct as a dict: enums are words, texts strings."""
    result = {}
    for name, field in ffi.typeof(struct).fields:
        value, kind = getattr(struct, name), field.type
        if name in skip or kind.kind == "function":
            continue
        if kind.kind == "enum":
            result[name] = {number: word for word, number in words(kind).items()}[int(ffi.cast("int", value))]
        elif kind.kind == "array" and kind.item.kind == "pointer":
            if kind.item.item.cname == "char":
                result[name] = [text_of(v) for v in value]
        elif kind.kind == "array":
            result[name] = list(value)
        elif kind.kind == "pointer":
            if kind.item.cname == "char":
                result[name] = text_of(value)
        elif kind.kind == "struct":
            result[name] = members(value)
        else:
            result[name] = value
    return result
