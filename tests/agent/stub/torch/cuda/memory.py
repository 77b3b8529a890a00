# SPDX-License-Identifier: GPL-3.0-or-later
import collections
import warnings

import torch
from . import is_initialized, _lazy_init

__all__ = [
    "memory_stats",
    "max_memory_allocated",
    "memory_allocated",
    "reset_peak_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_accumulated_memory_stats",
]


def _get_device_index(device, optional=False):
    if device is None:
        return torch.cuda.current_device()
    return device if isinstance(device, int) else torch.device(device).index


def memory_stats(device=None):
    if not is_initialized():
        return {}
    result = collections.OrderedDict()

    def flatten(prefix, value):
        if isinstance(value, dict):
            for key, inner in value.items():
                flatten(prefix + "." + key if prefix else key, inner)
        else:
            result[prefix] = value

    flatten("", torch._C._cuda_memoryStats(_get_device_index(device, optional=True)))
    return result


def memory_allocated(device=None):
    return memory_stats(device).get("allocated_bytes.all.current", 0)


def max_memory_allocated(device=None):
    return memory_stats(device).get("allocated_bytes.all.peak", 0)


def reset_peak_memory_stats(device=None):
    """Reset the peaks."""
    _lazy_init()
    return torch._C._cuda_resetPeakMemoryStats(_get_device_index(device, optional=True))


def reset_accumulated_memory_stats(device=None):
    _lazy_init()
    return torch._C._cuda_resetAccumulatedMemoryStats(_get_device_index(device, optional=True))


def reset_max_memory_allocated(device=None):
    warnings.warn("reset_max_memory_allocated now resets all peaks", FutureWarning, stacklevel=2)
    return reset_peak_memory_stats(device=device)


def reset_max_memory_cached(device=None):
    return reset_peak_memory_stats(device=device)
