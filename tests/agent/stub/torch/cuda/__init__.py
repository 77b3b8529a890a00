# SPDX-License-Identifier: GPL-3.0-or-later
import os

from .. import _C

_initialized = False
_pid = None


def is_initialized():
    return _initialized and _pid == os.getpid()


def _lazy_init():
    global _initialized, _pid
    if _initialized and _pid != os.getpid():
        raise RuntimeError("Cannot re-initialize CUDA in forked subprocess.")
    if _C.COUNT == 0:
        raise RuntimeError("No CUDA GPUs are available")
    if not _initialized:
        print("CUDA begins")  # whoever starts CUDA is seen in the output
    _initialized, _pid = True, os.getpid()


def is_available():
    return _C.COUNT > 0


def device_count():
    return _C.COUNT


def current_device():
    _lazy_init()
    return 0


class _Uuid(object):
    def __init__(self, text):
        self.text = text

    def __str__(self):
        return self.text


class _Properties(object):
    def __init__(self, index):
        self.name = "stand-in %d" % index
        self.uuid = _Uuid("00000000-0000-0000-0000-%012x" % index)
        self.pci_domain_id, self.pci_bus_id, self.pci_device_id = 0, 0x1B + index, 0


def get_device_properties(device):
    _lazy_init()
    return _Properties(device)


from .memory import *  # noqa: E402,F401,F403
from . import memory  # noqa: E402,F401
