#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of the reference classes is what the script makes of the public records, byte by byte.

    classes.py ROOT SHARED      exit 1 if not; 77 where the records are not at hand (SHARED/data/forecast)"""
import difflib
import os
import subprocess
import sys

root, shared = sys.argv[1:]
records = os.path.join(shared, "data", "forecast")
if not os.path.isdir(records):
    print("skipped: no records in %s" % records)
    sys.exit(77)
made = subprocess.run([os.path.join(root, "tools", "derive-classes"), records], capture_output=True, text=True, check=True).stdout
with open(os.path.join(root, "src", "forecast", "class-table.c"), encoding="ascii") as file:
    committed = file.read()
sys.stdout.writelines(difflib.unified_diff(committed.splitlines(True), made.splitlines(True), "committed", "derived"))
sys.exit(made != committed)
