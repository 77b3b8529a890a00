#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The GPU helper ends when nobody reads it any more and when its parent is gone, prints nothing, and refuses nonsense.

    ends.py HELPER STAND_IN_DIR"""

import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE = 20


def environment(stand_in, trace):
    return dict(os.environ, LD_LIBRARY_PATH=os.path.join(stand_in, "generation-550"),
                PROBELAUF_STANDIN_TRACE=os.path.join(os.path.dirname(HERE), "stand-in", "traces", trace + ".trace"))


def check_reader(helper, env):
    """Nobody reads any more."""
    ours, theirs = os.pipe()
    process = subprocess.Popen([helper, str(theirs), "100"], pass_fds=[theirs], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    os.close(theirs)
    os.read(ours, 64)
    os.close(ours)
    try:
        said = process.communicate(timeout=PATIENCE)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        return "it goes on though nobody reads"
    if process.returncode != 0 or said:
        return "ended with %d and said %r" % (process.returncode, said)
    return None


def is_alive(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def check_parent(helper, env):
    """The shell that started it ends; we still hold the pipe's other end."""
    ours, theirs = os.pipe()
    script = '"$0" %d 100 & echo $!; sleep 1' % theirs
    done = subprocess.run(["/bin/sh", "-c", script, helper], pass_fds=[theirs], env=env, capture_output=True, text=True, check=True)
    os.close(theirs)
    pid = int(done.stdout)
    until = time.monotonic() + PATIENCE
    while is_alive(pid) and time.monotonic() < until:
        time.sleep(0.1)
    alive = is_alive(pid)
    if alive:
        os.kill(pid, 9)
    os.close(ours)
    return "it goes on without its parent" if alive else None


def check_arguments(helper, env):
    for arguments in ([], ["1"], ["1", "100", "x"], ["x", "100"], ["1", "0"], ["-1", "100"], ["99999999999999999999", "100"], ["1", "1e3"]):
        done = subprocess.run([helper, *arguments], env=env, capture_output=True, check=False, timeout=PATIENCE)
        if done.returncode != 2 or done.stdout or done.stderr:
            return "%s: %d" % (arguments, done.returncode)
    # a descriptor that is not open, and one that is no pipe
    for arguments in (["77", "100"],):
        done = subprocess.run([helper, *arguments], env=env, capture_output=True, check=False, timeout=PATIENCE)
        if done.returncode != 0 or done.stdout or done.stderr:
            return "%s: %d" % (arguments, done.returncode)
    return None


def main(helper, stand_in):
    problems = [problem for trace in ("eight-h200", "no-driver") for check in (check_reader, check_parent, check_arguments)
                for problem in [check(helper, environment(stand_in, trace))] if problem]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


sys.exit(main(*sys.argv[1:]))
