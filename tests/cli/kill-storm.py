# SPDX-License-Identifier: GPL-3.0-or-later
"""Kills one of probelauf's own processes at a random moment, many times: the command must finish with all its output, and
every run whose start record was written must be in the ledger afterwards, which must check clean.

    kill-storm.py PROBELAUF CHILD ROUNDS SEED

Prints one line per victim and 'storm ok' at the end; exit 1 with what went wrong otherwise.
"""
import hashlib
import json
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time

PIECE, PIECES, PAUSE = 40000, 6, 0.03
PATIENCE = 120
VICTIMS = ("monitor", "recorder", "copier")


def children(pid):
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as source:
            return [int(word) for word in source.read().split()]
    except OSError:
        return []


def name(pid):
    try:
        with open("/proc/%d/comm" % pid) as source:
            return source.read().strip()
    except OSError:
        return ""


def find(victim, monitor):
    """The monitor is the process we started; its helpers are named after what they do."""
    if victim == "monitor":
        return monitor
    return next((pid for pid in children(monitor) if name(pid) == "pl-" + victim), None)


def moment(dice):
    """Half of the kills fall into the first 20 ms, where everything begins."""
    return dice.uniform(0, 0.02) if dice.random() < 0.5 else dice.uniform(0, PIECES * PAUSE * 1.2)


def expected_digest(child, words):
    return hashlib.sha256(subprocess.run([child, *words], check=True, capture_output=True).stdout).hexdigest()


def has_start(path):
    """Whether the journal holds a START record (kind 2, behind the magic and the HEADER record)."""
    try:
        with open(path, "rb") as source:
            raw = source.read()
    except OSError:
        return False
    position = 8
    while position + 16 <= len(raw):
        kind, _, _, length, _ = struct.unpack_from("<IHHII", raw, position)
        position += 16 + length
        if kind == 2:
            return position <= len(raw)
    return False


def started_runs(folder):
    """Runs with a start record in a journal that is waiting now: they must be in the ledger at the end."""
    return {
        name[:36] for base, _, names in os.walk(folder) for name in names
        if name.endswith(".journal") and has_start(os.path.join(base, name))
    }


def listed_runs(program, environment):
    listed = subprocess.run([program, "log", "--limit", "0", "--json"], env=environment, check=True, capture_output=True, text=True)
    return {row["run"]: row for row in json.loads(listed.stdout)["runs"]}


def main():
    program, child, rounds, seed = os.path.realpath(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    dice = random.Random(seed)
    work = tempfile.mkdtemp(prefix="storm.")
    environment = dict(os.environ, PROBELAUF_LEDGER="sqlite:%s/ledger.db" % work)
    begun, done = os.path.join(work, "begun"), os.path.join(work, "done")
    words = ["write", begun, "1"]
    for _ in range(PIECES):
        words += ["print", str(PIECE), "sleep", str(PAUSE)]
    words += ["write", done, "5"]
    want = expected_digest(child, words)
    hits, started = dict.fromkeys(VICTIMS, 0), set()
    for number in range(rounds):
        for path in (begun, done):
            if os.path.exists(path):
                os.unlink(path)
        victim = VICTIMS[number % len(VICTIMS)]
        running = subprocess.Popen([program, "run", "-q", "--", child, *words], env=environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        reader = subprocess.Popen(["sha256sum"], stdin=running.stdout, stdout=subprocess.PIPE, text=True)
        running.stdout.close()
        delay = moment(dice)
        time.sleep(delay)
        pid = find(victim, running.pid)
        if pid is not None and running.poll() is None:
            try:
                os.kill(pid, signal.SIGKILL)
                hits[victim] += 1
            except ProcessLookupError:
                pass
        digest = reader.communicate(timeout=PATIENCE)[0].split()[0]
        status = running.wait(timeout=PATIENCE)
        started |= started_runs(work)
        # A monitor that is killed before it has started the command leaves nothing behind: then nothing was lost.
        if victim == "monitor" and not os.path.exists(begun):
            continue
        if digest != want:
            sys.exit("round %d: output differs after the %s was killed at %.1f ms" % (number, victim, delay * 1000))
        deadline = time.monotonic() + PATIENCE
        while not (os.path.exists(done) and os.path.getsize(done) == 5):
            if time.monotonic() > deadline:
                sys.exit("round %d: the command did not finish after the %s was killed" % (number, victim))
            time.sleep(0.01)
        if victim != "monitor" and status != 0:
            sys.exit("round %d: status %d after the %s was killed" % (number, status, victim))
    # Recorders may be at their last work.
    deadline = time.monotonic() + PATIENCE
    runs = listed_runs(program, environment)
    while time.monotonic() < deadline and (
            any(row["outcome"] == "running" for row in runs.values()) or any(run not in runs for run in started)):
        time.sleep(0.2)
        runs = listed_runs(program, environment)
    missing = [run for run in started if run not in runs]
    if missing:
        left = [name for _, _, names in os.walk(work) for name in names if name[:36] in missing]
        sys.exit("%d started runs are not in the ledger: %s; left in %s: %s" % (len(missing), missing[:3], work, left))
    if len(runs) < rounds - hits["monitor"] - hits["recorder"]:
        sys.exit("only %d of %d runs are in the ledger" % (len(runs), rounds))
    still = [run for run, row in runs.items() if row["outcome"] == "running"]
    if still:
        sys.exit("runs that are still said to run: %s" % still[:3])
    check = subprocess.run([program, "ledger", "check"], env=environment, capture_output=True, text=True)
    if check.returncode != 0:
        sys.exit("ledger check: " + check.stdout + check.stderr)
    for victim in VICTIMS:
        print("%s killed %d times" % (victim, hits[victim]))
    print("%d of %d runs in the ledger" % (len(runs), rounds))
    print("storm ok")


main()
