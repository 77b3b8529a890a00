#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The GPU helper starts on old systems: no symbol of a C library newer than 2.17, nothing needed but libc and libdl.

    symbols.py HELPER      77 where there is no readelf"""

import re
import shutil
import subprocess
import sys


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main(helper):
    if shutil.which("readelf") is None:
        return 77
    versions = set(re.findall(r"Name: (\S+)\s+Flags", output("readelf", "-V", "-W", helper)))
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", "-W", helper)))
    problems = []
    if not versions:
        problems.append("readelf shows no versions")
    for version in sorted(versions):
        found = re.fullmatch(r"GLIBC_([0-9.]+)", version)
        if found is None or tuple(map(int, found[1].split("."))) > (2, 17):
            problems.append("needs " + version)
    for library in sorted(needed):
        if not re.fullmatch(r"(libc\.so\.6|libdl\.so\.2|ld-linux.*)", library):
            problems.append("needs " + library)
    if "libdl.so.2" not in needed:
        problems.append("does not name libdl.so.2, where dlopen is before glibc 2.34")
    for problem in problems:
        print("%s: %s" % (helper, problem))
    return 1 if problems else 0


sys.exit(main(sys.argv[1]))
