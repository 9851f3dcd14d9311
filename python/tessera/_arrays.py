"""Arrays of others as vectors of the library, without copies: NumPy and DLPack on the host, DLPack and
__cuda_array_interface__ on a GPU. What cannot be taken as it is, is refused by name."""

import ctypes

import numpy as np

from ._binding import ffi, lib
from ._core import Held, InvalidInput, own, place_of

CPU, CUDA = 1, 2  # DLPack's numbers of devices
TYPES = {"<f8": "double", "<f4": "single", "|f8": "double", "|f4": "single"}


def refused(name, what):
    """The exception of an array."""
    return InvalidInput(f"{name}: {what}", "invalid_input")


class Raw:
    """Address, length and precision ("double", "single") of an array, and what keeps it alive."""

    def __init__(self, address, length, precision, owner):
        self.address, self.length, self.precision, self.owner = address, length, precision, owner


def check_shape(name, shape, strides, size, length):
    """One direction, packed, of the length that is wanted."""
    if len(shape) == 2 and shape[1] == 1 and length is not None:  # a column, as SciPy has them
        shape, strides = shape[:1], strides and strides[:1]
    if len(shape) != 1:
        raise refused(name, f"an array of shape {tuple(shape)}, expected one direction")
    if strides is not None and shape[0] > 1 and strides[0] != size:
        raise refused(
            name, f"entries are {strides[0]} bytes apart, expected {size}: numpy.ascontiguousarray() packs them"
        )
    if length is not None and shape[0] != length:
        raise refused(name, f"{shape[0]} entries, expected {length}")
    return shape[0]


def from_numpy(array, name, length, writable):
    """Of a NumPy array."""
    if isinstance(array, np.ma.MaskedArray):
        raise refused(name, "an array with a mask")
    if array.dtype.str not in TYPES:
        raise refused(name, f"numbers of type {array.dtype}, expected float64 or float32")
    n = check_shape(name, array.shape, array.strides, array.itemsize, length)
    if writable and not array.flags.writeable:
        raise refused(name, "the array is read-only, and is to be written")
    if not array.flags.aligned:
        raise refused(name, f"the address is no multiple of {array.itemsize} bytes")
    return Raw(array.ctypes.data, n, TYPES[array.dtype.str], array)


def from_cuda(array, name, length, writable):
    """Of an object with __cuda_array_interface__ (CuPy, Numba, PyTorch), version 2 and 3. All streams are waited for
    before the array is read, so the stream that it may name is among them."""
    interface = array.__cuda_array_interface__
    kind = interface["typestr"]
    if kind not in TYPES:
        raise refused(name, f"numbers of type {kind}, expected <f8 or <f4")
    size = int(kind[-1])
    n = check_shape(name, interface["shape"], interface.get("strides"), size, length)
    address, read_only = interface["data"]
    if writable and read_only:
        raise refused(name, "the array is read-only, and is to be written")
    if interface.get("mask") is not None:
        raise refused(name, "an array with a mask")
    if address % size:
        raise refused(name, f"the address is no multiple of {size} bytes")
    return Raw(address, n, TYPES[kind], array)


# ---- DLPack ---------------------------------------------------------------------------------------------------------


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32),
        ("device_number", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    pass


_Managed._fields_ = [
    ("tensor", _Tensor),
    ("context", ctypes.c_void_p),
    ("deleter", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))),
]
_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_rename = ctypes.pythonapi.PyCapsule_SetName
_rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
_USED = b"used_dltensor"


# What is given to others: (the tensor, its shape, the vector) until they need it no more.
_given = {}
_Destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, _Destructor]
_TENSOR = b"dltensor"  # capsules keep the address of their name


@ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
def _give_back(managed):
    _given.pop(ctypes.addressof(managed.contents), None)


@_Destructor
def _drop(capsule):
    """Of a capsule that nobody took."""
    whose = ctypes.pythonapi.PyCapsule_IsValid
    whose.restype, whose.argtypes = ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p]
    if whose(capsule, _TENSOR):
        address = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
            ("PyCapsule_GetPointer", ctypes.pythonapi)
        )
        _given.pop(address(capsule, _TENSOR), None)


def give(vector, device):
    """A DLPack capsule with the memory of a vector on the device (kind, number)."""
    shape = (ctypes.c_int64 * 1)(vector.length)
    bits = 64 if vector.precision == "double" else 32
    managed = _Managed(_Tensor(vector.address, *device, 1, 2, bits, 1, shape, None, 0), None, _give_back)
    address = ctypes.addressof(managed)
    _given[address] = managed, shape, vector
    return _new(address, _TENSOR, _drop)


class _Capsule:
    """A consumed capsule: its deleter runs with this object."""

    def __init__(self, capsule):
        self.managed = ctypes.cast(_pointer_of(capsule, b"dltensor"), ctypes.POINTER(_Managed))
        _rename(capsule, _USED)

    def __del__(self):
        if self.managed.contents.deleter:
            self.managed.contents.deleter(self.managed)


def check_gpu(array, name, gpu):
    """It is the GPU of the context, where the array tells its own."""
    if gpu is not None and hasattr(array, "__dlpack_device__"):
        number = int(array.__dlpack_device__()[1])
        if number != gpu:
            raise refused(name, f"the array is on GPU {number}, expected GPU {gpu}")


def from_dlpack(array, name, length, device):
    """Of an object with __dlpack__, on the device (CPU or CUDA). Without a stream the producer orders its work before
    the default stream, which is waited for like all others."""
    kind = int(array.__dlpack_device__()[0])
    if kind != device:
        where = {CPU: "the host", CUDA: "a GPU"}
        raise refused(name, f"the array is on {where.get(kind, f'a device of kind {kind}')}, expected {where[device]}")
    owner = _Capsule(array.__dlpack__())
    tensor = owner.managed.contents.tensor
    if tensor.code != 2 or tensor.bits not in (32, 64) or tensor.lanes != 1:
        raise refused(name, "no array of float64 or float32")
    size = tensor.bits // 8
    shape = [tensor.shape[i] for i in range(tensor.ndim)]
    strides = [size * tensor.strides[i] for i in range(tensor.ndim)] if tensor.strides else None
    n = check_shape(name, shape, strides, size, length)
    address = (tensor.data or 0) + tensor.offset
    if address % size:
        raise refused(name, f"the address is no multiple of {size} bytes")
    return Raw(address, n, "double" if size == 8 else "single", owner)


def raw(context, array, name, length=None, writable=False):
    """What a context can take of an array."""
    if isinstance(array, Vector):
        if array.context is not context:
            raise refused(name, f"a vector of another context, on {array.context.device}")
        return Raw(array.address, check_shape(name, (array.length,), None, 8, length), array.precision, array)
    on_gpu = not context.on_host
    if isinstance(array, np.ndarray):
        if on_gpu:
            raise refused(name, "an array of NumPy is on the host, and the context on a GPU: give an array of the GPU")
        return from_numpy(array, name, length, writable)
    if on_gpu:
        check_gpu(array, name, context.gpu)
    if on_gpu and hasattr(array, "__cuda_array_interface__"):
        return from_cuda(array, name, length, writable)
    if hasattr(array, "__dlpack__"):
        return from_dlpack(array, name, length, CUDA if on_gpu else CPU)
    raise refused(
        name,
        f"a {type(array).__name__}, expected an array of "
        + ("a GPU (__cuda_array_interface__ or __dlpack__)" if on_gpu else "NumPy, or one with __dlpack__"),
    )


def wrap(context, array, name, length=None, precision=None, writable=False):
    """A TesVector over the array; it holds the array."""
    found = raw(context, array, name, length, writable)
    if precision and found.precision != precision:
        raise refused(name, f"numbers of {found.precision} precision, expected {precision}")
    place = place_of("TesVector")
    number = lib.TES_DOUBLE if found.precision == "double" else lib.TES_SINGLE
    context.check(lib.tes_vector_wrap(context._p, ffi.cast("void *", found.address), found.length, number, place))
    return own("vector", place[0], found.owner)


class Vector(Held):
    """A vector of the library, of zeros first. numpy.asarray(v) is a view of it on the host; on a GPU CuPy, Numba and
    PyTorch take it by __cuda_array_interface__, JAX and others by from_dlpack()."""

    def __init__(self, context, length, precision="double", pointer=None, owner=None):
        self.context, self.owner = context, owner
        if pointer is None:
            place = place_of("TesVector")
            number = lib.TES_DOUBLE if precision == "double" else lib.TES_SINGLE
            context.check(lib.tes_vector_create(context._p, length, number, place))
            pointer = own("vector", place[0])
        self._p, self.read_only = pointer, owner is not None

    length = property(lambda self: lib.tes_vector_length(self._p))
    address = property(lambda self: int(ffi.cast("uintptr_t", lib.tes_vector_data_const(self._p))))

    @property
    def precision(self):
        """ "double" or "single"."""
        return "double" if lib.tes_vector_precision(self._p) == lib.TES_DOUBLE else "single"

    def __len__(self):
        return self.length

    def __repr__(self):
        return f"<tessera.Vector of {self.length} {self.precision} numbers on {self.context.device}>"

    def _interface(self):
        return {
            "shape": (self.length,),
            "typestr": "<f8" if self.precision == "double" else "<f4",
            "data": (self.address, self.read_only),
            "strides": None,
            "version": 3,
        }

    def __getattr__(self, name):
        if name == "__array_interface__" and self.context.on_host:
            return self._interface()
        if name == "__cuda_array_interface__" and not self.context.on_host:
            self.context.synchronize()
            return self._interface()
        raise AttributeError(name)

    def __array__(self, dtype=None, copy=None):
        """On the host __array_interface__ comes first."""
        raise TypeError(f"{self!r} is no array of the host: numpy() copies it")

    def __dlpack_device__(self):
        return (CPU, 0) if self.context.on_host else (CUDA, self.context.gpu or 0)

    def __dlpack__(self, stream=None, **_):
        """The work of all streams is done before, so that any stream of the consumer may read."""
        if self.read_only:
            raise BufferError("DLPack has no arrays that are only read")
        self.context.synchronize()
        return give(self, self.__dlpack_device__())

    def numpy(self):
        """A view on the host, a copy from a GPU."""
        if self.context.on_host:
            return np.asarray(self)
        values = np.empty(self.length)
        self.context.check(lib.tes_vector_get(self._p, ffi.cast("double *", values.ctypes.data)))
        return values
