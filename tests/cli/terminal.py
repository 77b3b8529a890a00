# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays a user at a terminal: an interactive bash on a pseudo terminal of its own, keys, window size.

    terminal.py SCENARIO PROBELAUF CHILD

Scenarios: loop (Ctrl-C ends a shell loop), stop (Ctrl-Z and fg), continued (fg continues once), alone (a SIGCONT to
the monitor only), size (window size), background (reading in the background stops the job), keys (what is typed reaches
the command), attached (Ctrl-Z, fg and Ctrl-C of a watching). Ends with 'SCENARIO ok', or with what was seen instead and who was there. Nothing here depends on how fast
anything is: commands wait for files in the current folder, and each step waits for what the one before has shown.
"""
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

PROMPT = "prompt-%d> " % os.getpid()
PATIENCE = 60
STATUS_FIELDS = ("State", "TracerPid", "SigPnd", "ShdPnd", "SigBlk", "SigIgn")


def session_states(session):
    """A line for each process of the session, and for those below them in sessions of their own (the helpers)."""
    members, lines = {session}, []
    for pid in sorted(int(name) for name in os.listdir("/proc") if name.isdigit()):
        try:
            with open("/proc/%d/stat" % pid) as file:
                head, _, tail = file.read().rpartition(") ")
            with open("/proc/%d/status" % pid) as file:
                status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        except OSError:
            continue
        _, parent, group, own = tail.split()[:4]
        if int(own) == session or int(parent) in members:
            members.add(pid)
            lines.append("%s) parent %s group %s session %s, %s" % (
                head, parent, group, own, ", ".join("%s %s" % (key, status.get(key)) for key in STATUS_FIELDS)))
    return lines


class Terminal:
    def __init__(self):
        self.rest = b""
        self.story = []
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            # Whoever started us in the background of a script has them ignored.
            for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):
                signal.signal(number, signal.SIG_DFL)
            environment = dict(os.environ, PS1=PROMPT)
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"], environment)
        self.set_size(24, 80)
        self.until(PROMPT)

    def set_size(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def keys(self, text):
        self.story.append("typed %r" % text)
        os.write(self.fd, text.encode())

    def fail(self, what):
        """Ends with what was seen, the last of it first to be read: the log may be cut."""
        for line in self.story[-20:] + session_states(self.pid):
            print(line[-400:])
        sys.stdout.flush()
        sys.exit(what)

    def check(self, condition, what, seen):
        if not condition:
            self.fail("%s: %r" % (what, seen))

    def until(self, text):
        """Everything up to and with `text`."""
        wanted = text.encode()
        end = time.monotonic() + PATIENCE
        while wanted not in self.rest:
            ready, _, _ = select.select([self.fd], [], [], max(0, end - time.monotonic()))
            try:
                got = os.read(self.fd, 65536) if ready else b""
            except OSError:
                got = b""
            if not got:
                self.fail("waited for %r, saw %r" % (text, self.rest.decode(errors="replace")))
            self.story.append("saw %r" % got.decode(errors="replace"))
            self.rest += got
        before, _, self.rest = self.rest.partition(wanted)
        return before.decode(errors="replace") + text

    def command(self, line):
        """Types a line; returns what it printed, without the echo."""
        self.keys(line + "\n")
        self.until("\n")
        return self.until(PROMPT)[: -len(PROMPT)].replace("\r\n", "\n")

    def stop(self):
        """Ctrl-Z, which reaches whoever is in the foreground."""
        self.keys("\x1a")
        seen = self.until(PROMPT)
        self.check("Stopped" in seen, "the shell did not see the job stop", seen)


def touch(path):
    with open(path, "w"):
        pass


def loop(t, program, child):
    t.keys("for i in 1 2 3; do %s run -q -- %s out begin-$i pause; done; echo left\n" % (program, child))
    t.until("begin-1")
    t.keys("\x03")
    seen = t.until(PROMPT)
    t.check("begin-2" not in seen and "left" not in seen, "the loop went on", seen)
    status = t.command("echo status=$?")
    t.check(status == "status=130\n", "status", status)


def stop(t, program, child):
    t.keys("%s run -- %s out begin wait-file go out end\n" % (program, child))
    t.until("begin\r")  # not the echo of what was typed
    t.stop()
    touch("go")
    time.sleep(1.2)  # the time stopped that the test finds in the record; a command that went on would show
    seen = t.command("jobs")
    t.check("Stopped" in seen and "end" not in seen.splitlines(), "the command went on while stopped", seen)
    t.keys("fg\n")
    t.until("\nend\r")
    t.until(PROMPT)
    status = t.command("echo status=$?")
    t.check(status == "status=0\n", "status", status)


def continued(t, program, child):
    t.keys("%s run -q -- %s catch 18 out begin wait-file first wait-file second out end\n" % (program, child))
    t.until("begin\r")
    t.stop()
    t.keys("fg\n")
    t.until("caught 18")
    t.stop()  # a second SIGCONT would undo it
    t.keys("fg\n")
    t.until("caught 18")
    touch("first")
    touch("second")
    seen = t.until(PROMPT)
    t.check("caught" not in seen, "continued more than once", seen)


def alone(t, program, child):
    t.keys("%s run -q -- %s out begin wait-file go out end\n" % (program, child))
    t.until("begin\r")
    t.stop()
    touch("go")
    monitor = int(t.command("jobs -p"))
    os.kill(monitor, signal.SIGCONT)
    t.until("end\r")
    status = t.command("wait %d; echo status=$?" % monitor)
    t.check("status=0\n" in status, "status", status)


def size(t, program, child):
    t.keys("%s run -q -- %s catch 28 winsize wait-size 33 77\n" % (program, child))
    t.until("24 80")
    t.set_size(33, 77)
    t.until("caught 28")
    t.until("33 77\r")
    t.until(PROMPT)


def background(t, program, child):
    t.command("%s run -q -- cat &" % program)
    seen, end = "", time.monotonic() + PATIENCE
    while "Stopped" not in seen:
        t.check(time.monotonic() < end, "reading in the background did not stop the job", seen)
        time.sleep(0.05)
        seen = t.command("jobs")
    t.keys("fg\n")
    t.until("cat")
    t.keys("typed\n")
    t.until("typed\r\ntyped")
    t.keys("\x04")
    t.until(PROMPT)


def keys(t, program, child):
    seen = t.command("%s run -q -- %s isatty" % (program, child))
    t.check(seen == "1 1 1\n", "isatty", seen)
    t.keys("%s run -q -- sh -c 'read line; echo got-$line'\n" % program)
    t.until("\n")
    t.keys("something\n")
    t.until("got-something")
    t.until(PROMPT)


def attached(t, program, child):
    t.command("%s wait-file end & target=$!" % child)
    t.keys("%s run --attach $target\n" % program)
    t.until("watching process")
    time.sleep(0.5)
    t.stop()
    time.sleep(1.2)  # the gap that the test finds in the record
    seen = t.command("kill -0 $target; echo alive=$?; ps -o stat= -p $target")
    t.check("alive=0" in seen and "T" not in seen, "the process was stopped as well", seen)
    t.keys("fg %2\n")
    t.until("--attach")
    time.sleep(0.5)
    t.keys("\x03")
    t.until(PROMPT)
    status = t.command("echo status=$?; kill -0 $target; echo alive=$?")
    t.check("status=130" in status and "alive=0" in status, "status", status)
    touch("end")


def main():
    scenarios = {each.__name__: each for each in (loop, stop, continued, alone, size, background, keys, attached)}
    scenarios[sys.argv[1]](Terminal(), sys.argv[2], sys.argv[3])
    print("%s ok" % sys.argv[1])


main()
