"""Arrays without copies, and refusals of those that would need one."""

import ctypes

import numpy as np
import pytest

import tessera
from tessera import _arrays


class OnGpu:
    """An array of the emulated GPU, whose memory is the host's."""

    def __init__(self, values, **changes):
        self.values = values
        self.__cuda_array_interface__ = {
            "shape": values.shape,
            "typestr": values.dtype.str,
            "strides": None,
            "data": (values.ctypes.data, False),
            "version": 3,
            **changes,
        }


@pytest.fixture
def operator(square):
    """Of Poisson's equation, 33 x 33 nodes."""
    return tessera.Operator(tessera.Space(square, 4))


def by_matrix(operator, x):
    """A x over all nodes, from the operator on unknowns."""
    return operator.extend(operator @ operator.restrict(x))


def prepared(operator, rng):
    """Random numbers at unknowns, zero at given nodes."""
    return operator.extend(rng.standard_normal(operator.shape[0]))


def test_vectors_are_views(square):
    """numpy.asarray() has the vector's address, both ways."""
    v = tessera.Space(square, 3).vector()
    a = np.asarray(v)
    assert a.ctypes.data == v.address and a.flags.writeable and len(a) == 25 * 25
    a[:] = 3
    assert (v.numpy() == 3).all()


def test_wrapped_arrays_are_the_same_memory(operator, rng):
    """The library reads and writes NumPy's own memory: addresses are equal, and `out` holds the result."""
    x, y = prepared(operator, rng), np.full(operator.space.length, np.nan)
    for array in (x, y):
        vector = _arrays.wrap(operator.context, array, "x")
        address = int(_arrays.ffi.cast("uintptr_t", _arrays.lib.tes_vector_data(vector)))
        assert address == array.ctypes.data
    assert operator.apply(x, out=y) is y
    assert y == pytest.approx(by_matrix(operator, x), abs=1e-13)


@pytest.mark.parametrize("offset", [1, 3])
def test_any_multiple_of_a_number_will_do(operator, rng, offset):
    """Vectors need not begin where SIMD would like it."""
    room = np.zeros(operator.space.length + 8)
    x, out = (
        room[offset : offset + operator.space.length],
        np.empty(operator.space.length + 8)[offset:][: len(room) - 8],
    )
    x[:] = prepared(operator, rng)
    assert operator.apply(x, out) == pytest.approx(by_matrix(operator, x), abs=1e-13)


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda a: a[:-1], "entries, expected"),
        (lambda a: a.astype(np.float32), "single precision, expected double"),
        (lambda a: a.astype(complex), "type complex128"),
        (lambda a: np.arange(len(a)), "type int"),
        (lambda a: a.astype(">f8"), "type >f8"),
        (lambda a: np.repeat(a, 2)[::2], "16 bytes apart"),
        (lambda a: a[::-1], "-8 bytes apart"),
        (lambda a: a.reshape(33, 33), "shape"),
        (lambda a: list(a), "a list, expected"),
        (lambda a: np.frombuffer(b"\0" + a.tobytes(), np.uint8)[1:].view(np.float64), "no multiple of 8"),
    ],
)
def test_refusals_name_array_and_reason(operator, rng, change, message):
    """Nothing is copied silently."""
    good, bad = prepared(operator, rng), change(prepared(operator, rng))
    with pytest.raises(tessera.InvalidInput, match=message) as caught:
        operator.apply(bad, np.empty_like(good))
    assert str(caught.value).startswith("x: ")
    with pytest.raises(tessera.InvalidInput) as caught:
        operator.apply(good, bad)
    assert str(caught.value).startswith("out: ")


def test_read_only_arrays_are_not_written(operator, rng):
    """As x they are welcome."""
    x = prepared(operator, rng)
    x.flags.writeable = False
    with pytest.raises(tessera.InvalidInput, match="out: the array is read-only"):
        operator.apply(np.zeros(len(x)), x)
    operator.apply(x, np.empty(len(x)))


def test_one_array_twice(operator):
    """What is read is not written."""
    n = operator.space.length
    whole = np.zeros(n + 1)
    for x, out in ((whole[1:], whole[1:]), (whole[:n], whole[:n][:]), (whole[:n], whole[1:]), (whole[1:], whole[:n])):
        with pytest.raises(tessera.InvalidInput, match="x and out share memory"):
            operator.apply(x, out)
    with pytest.raises(tessera.InvalidInput, match="x: an array with a mask"):
        operator.apply(np.ma.masked_array(np.zeros(n), mask=True), np.zeros(n))


def test_vectors_of_the_library(operator, rng):
    """As arguments, with their own checks."""
    x, y = operator.space.vector(), operator.space.vector()
    np.asarray(x)[:] = prepared(operator, rng)
    operator.apply(x, y)
    assert np.asarray(y) == pytest.approx(by_matrix(operator, np.asarray(x)), abs=1e-13)
    with pytest.raises(tessera.InvalidInput, match="out: 25 entries, expected"):
        operator.apply(x, tessera.Vector(operator.context, 25))
    with pytest.raises(tessera.InvalidInput, match="out: numbers of single precision"):
        operator.apply(x, operator.space.vector("single"))


def test_single_precision(square, rng):
    """float32 arrays for a float32 operator."""
    op = tessera.Operator(tessera.Space(square, 4), precision="single")
    x = prepared(op, rng).astype(np.float32)
    y = op.apply(x, np.empty_like(x))
    assert y.dtype == np.float32
    double = tessera.Operator(tessera.Space(square, 4))
    assert y == pytest.approx(by_matrix(double, x), abs=2e-5)


class Unowned:
    """An array of the host by DLPack alone."""

    def __init__(self, values, device=(1, 0)):
        self.values, self.device = values, device

    def __dlpack__(self, **_):
        return self.values.__dlpack__()

    def __dlpack_device__(self):
        return self.device


def test_dlpack_of_the_host(operator, rng):
    """Taken by its address, and the capsule's deleter runs."""
    x = prepared(operator, rng)
    raw = _arrays.raw(operator.context, Unowned(x), "x")
    assert raw.address == x.ctypes.data and raw.length == len(x) and raw.precision == "double"
    y = operator.apply(Unowned(x), np.empty_like(x))
    assert y == pytest.approx(by_matrix(operator, x), abs=1e-13)
    with pytest.raises(tessera.InvalidInput, match="x: the array is on a GPU, expected the host"):
        operator.apply(Unowned(x, (2, 0)), y)


def test_dlpack_deleter_runs_once():
    """An array that is wrapped lives as long as the vector, and no longer."""
    import gc
    import weakref

    class Owner(np.ndarray):
        """Has weak references."""

    array = np.zeros(4).view(Owner)
    gone = weakref.ref(array)
    raw = _arrays.from_dlpack(Unowned(array), "x", None, _arrays.CPU)
    del array
    gc.collect()
    assert gone() is not None
    ctypes.memset(raw.address, 0, 32)
    del raw
    gc.collect()
    assert gone() is None


@pytest.fixture
def emulated():
    """An operator on the emulated GPU."""
    context = tessera.Context("emulator")
    mesh = tessera.Mesh.box([4, 4], context=context)
    return tessera.Operator(tessera.Space(mesh, 3))


def test_vectors_of_a_gpu_are_no_arrays_of_the_host(emulated, operator):
    """Neither as an array of NumPy nor for an operator of the host."""
    with pytest.raises(TypeError, match="is no array of the host"):
        np.asarray(emulated.space.vector())
    with pytest.raises(tessera.InvalidInput, match="x: a vector of another context, on emulator"):
        operator.apply(emulated.space.vector(), operator.space.vector())


def test_cuda_array_interface(emulated, rng):
    """Arrays of a GPU by address: here its emulator, whose kernels write the caller's memory."""
    host = tessera.Operator(tessera.Space(tessera.Mesh.box([4, 4], context=tessera.Context("cpu")), 3))
    x, y = prepared(host, rng), np.full(host.space.length, np.nan)
    emulated.apply(OnGpu(x), OnGpu(y))
    assert y == pytest.approx(by_matrix(host, x), abs=1e-12)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"typestr": "<i8"}, "type <i8"),
        ({"shape": (3,)}, "3 entries, expected"),
        ({"strides": (16,)}, "16 bytes apart"),
        ({"data": (12, False)}, "no multiple"),
        ({"mask": object()}, "mask"),
        ({"shape": (13, 13)}, "shape"),
    ],
)
def test_cuda_array_interface_is_read_with_care(emulated, changes, message):
    """What cannot be taken is refused by name."""
    x = np.zeros(emulated.space.length)
    with pytest.raises(tessera.InvalidInput, match=message):
        emulated.apply(OnGpu(x, **changes), OnGpu(np.zeros_like(x)))
    with pytest.raises(tessera.InvalidInput, match="out: the array is read-only"):
        emulated.apply(OnGpu(x), OnGpu(np.zeros_like(x), data=(x.ctypes.data, True)))


def test_vectors_by_dlpack(square):
    """NumPy takes a vector of the host; the memory lives as long as its array, and no longer."""
    import gc

    v = tessera.Space(square, 3).vector()
    a = np.from_dlpack(v)
    assert a.ctypes.data == v.address and a.dtype == np.float64 and a.shape == (25 * 25,)
    v.numpy()[:] = 3
    assert len(_arrays._given) == 1
    del v
    gc.collect()
    assert (a == 3).all()
    del a
    gc.collect()
    assert not _arrays._given
    capsule = tessera.Space(square, 3).vector("single").__dlpack__()
    assert len(_arrays._given) == 1
    del capsule  # nobody took it
    gc.collect()
    assert not _arrays._given


class ByDlpack:
    """A vector of a GPU as JAX would give it."""

    def __init__(self, vector, number=0):
        self.vector, self.number = vector, number

    def __dlpack__(self, stream=None):
        return self.vector.__dlpack__(stream=stream)

    def __dlpack_device__(self):
        return (self.vector.__dlpack_device__()[0], self.number)


def test_dlpack_of_a_gpu(emulated, rng):
    """Both ways: vectors are given, and taken back by address."""
    host = tessera.Operator(tessera.Space(tessera.Mesh.box([4, 4], context=tessera.Context("cpu")), 3))
    x, y = prepared(host, rng), np.full(host.space.length, np.nan)
    given = emulated.space.vector()
    emulated.apply(OnGpu(x), given)
    assert _arrays.raw(emulated.context, ByDlpack(given), "x").address == given.address
    emulated.apply(ByDlpack(given), OnGpu(y))
    assert y == pytest.approx(by_matrix(host, by_matrix(host, x)), abs=1e-11)


def test_arrays_of_another_gpu():
    """Are refused by both interfaces, where they tell their GPU."""
    array = Unowned(np.zeros(3), (2, 1))
    with pytest.raises(tessera.InvalidInput, match="x: the array is on GPU 1, expected GPU 0"):
        _arrays.check_gpu(array, "x", 0)
    _arrays.check_gpu(array, "x", 1)
    _arrays.check_gpu(OnGpu(np.zeros(3)), "x", 0)


def test_all_streams_are_waited_for(monkeypatch):
    """In the context of the GPU that is meant, which the thread then forgets; errors of the driver come out."""
    from tessera import _core

    calls, ends = [], {}

    class Driver:
        """Notes what is called."""

        def __getattr__(self, name):
            return lambda *a: calls.append(name) or ends.get(name, 0)

    monkeypatch.setattr(_core.ctypes, "CDLL", lambda name: Driver())
    _core._wait(1)
    assert [name.partition("_")[0] for name in calls] == [
        "cuDevicePrimaryCtxRetain",
        "cuCtxPushCurrent",
        "cuCtxSynchronize",
        "cuCtxPopCurrent",
        "cuDevicePrimaryCtxRelease",
    ]
    ends["cuCtxSynchronize"] = 700
    with pytest.raises(tessera.Error, match="error 700"):
        _core._wait(1)
