# SPDX-License-Identifier: GPL-3.0-or-later
"""Stands for torch's C part: devices and what is allocated on them."""
import os

COUNT = int(os.environ.get("STUB_GPUS", "0"))
CAPACITY = int(os.environ.get("STUB_CAPACITY", str(80 << 30)))
BLOCK = 2 << 20
fresh = dict(now=0, peak=0, reserved=0, reserved_peak=0, retries=0, ooms=0)
devices = [dict(fresh) for _ in range(COUNT)]
OutOfMemoryError = MemoryError
resets = 0


def _cuda_getDeviceCount():
    return COUNT


def allocate(index, nbytes):
    it = devices[index]
    need = it["now"] + nbytes
    if need > CAPACITY:
        it["retries"] += 1
        it["ooms"] += 1
        raise OutOfMemoryError("CUDA out of memory. Tried to allocate %d bytes" % nbytes)
    it["now"] = need
    it["peak"] = max(it["peak"], need)
    it["reserved"] = max(it["reserved"], -(-need // BLOCK) * BLOCK)
    it["reserved_peak"] = max(it["reserved_peak"], it["reserved"])


def release(index, nbytes):
    devices[index]["now"] -= nbytes


def _cuda_memoryStats(index):
    it = devices[index]
    whole = lambda now, peak: {"all": {"current": now, "peak": peak, "allocated": 0, "freed": 0}}
    return {
        "allocated_bytes": whole(it["now"], it["peak"]),
        "reserved_bytes": whole(it["reserved"], it["reserved_peak"]),
        "num_alloc_retries": it["retries"],
        "num_ooms": it["ooms"],
    }


def _cuda_resetPeakMemoryStats(index):
    global resets
    resets += 1
    devices[index]["peak"] = devices[index]["now"]
    devices[index]["reserved_peak"] = devices[index]["reserved"]


def _cuda_resetAccumulatedMemoryStats(index):
    global resets
    resets += 1
    devices[index].update(retries=0, ooms=0)
