# SPDX-License-Identifier: GPL-3.0-or-later
"""A stand-in for torch: what the Python hook meets, in torch 2's places, names and call order; an
allocator that counts, no arithmetic. It shares no code with torch."""
import ctypes  # noqa: F401  torch imports it
import multiprocessing  # noqa: F401  and this

from . import _C  # noqa: F401
from .serialization import load, save  # noqa: F401


class device(object):
    def __init__(self, name):
        kind, _, index = str(name).partition(":")
        self.type, self.index = kind, int(index or 0)


class Tensor(object):
    """So many bytes somewhere."""

    def __init__(self, nbytes, where="cpu"):
        self.nbytes = nbytes
        self.device = device("cpu")
        place = device(where)
        if place.type == "cuda":
            cuda._lazy_init()
            _C.allocate(place.index, nbytes)
        self.device = place

    def to(self, where):
        return Tensor(self.nbytes, where)

    def __del__(self):
        if self.device.type == "cuda":
            _C.release(self.device.index, self.nbytes)


class OutOfMemoryError(RuntimeError):
    pass


_C.OutOfMemoryError = OutOfMemoryError

from . import cuda, hub, nn  # noqa: E402,F401


def compile(function):
    from ._dynamo import convert_frame

    return convert_frame.Compiled(function)
