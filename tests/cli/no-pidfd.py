# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a command as on a kernel before 5.3: pidfd_open fails with ENOSYS for it and all that it starts.

    no-pidfd.py COMMAND [ARG...]

Exit status 77: not possible here (another architecture, or no seccomp)."""
import ctypes
import os
import platform
import struct
import sys

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
PIDFD_OPEN = 434  # the same number on all architectures
ALLOW, ENOSYS = 0x7FFF0000, 0x00050000 | 38
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def forbid():
    architecture = ARCHITECTURES.get(platform.machine())
    if architecture is None:
        sys.exit(77)
    steps = [
        (LOAD, 0, 0, 4), (EQUAL, 0, 3, architecture),
        (LOAD, 0, 0, 0), (EQUAL, 0, 1, PIDFD_OPEN), (RETURN, 0, 0, ENOSYS),
        (RETURN, 0, 0, ALLOW),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = Program(len(steps), ctypes.cast(code, ctypes.c_void_p))
    libc = ctypes.CDLL(None, use_errno=True)
    if (libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) != 0):
        sys.exit(77)


forbid()
os.execv(sys.argv[1], sys.argv[1:])
