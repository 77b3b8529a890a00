# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays a user at a terminal: an interactive bash on a pseudo terminal of its own, keys, window size.

    terminal.py SCENARIO PROBELAUF CHILD

Scenarios: loop (Ctrl-C ends a shell loop), stop (Ctrl-Z and fg), size (window size), background (reading in the
background stops the job), keys (what is typed reaches the command). Ends with 'SCENARIO ok', or with what was seen instead.
"""
import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time

PROMPT = "prompt-%d> " % os.getpid()
PATIENCE = 30


class Terminal:
    def __init__(self):
        self.seen = b""
        self.rest = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            environment = dict(os.environ, PS1=PROMPT)
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"], environment)
        self.set_size(24, 80)
        self.until(PROMPT)

    def set_size(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def keys(self, text):
        os.write(self.fd, text.encode())

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
                sys.exit("waited for %r, saw %r" % (text, self.rest.decode(errors="replace")))
            self.rest += got
        before, _, self.rest = self.rest.partition(wanted)
        return before.decode(errors="replace") + text

    def command(self, line):
        """Types a line; returns what it printed, without the echo."""
        self.keys(line + "\n")
        self.until("\n")
        return self.until(PROMPT)[: -len(PROMPT)].replace("\r\n", "\n")


def check(condition, what, seen):
    if not condition:
        sys.exit("%s: %r" % (what, seen))


def loop(t, program, child):
    t.keys("for i in 1 2 3; do %s run -q -- %s out begin-$i pause; done; echo left\n" % (program, child))
    t.until("begin-1")
    t.keys("\x03")
    seen = t.until(PROMPT)
    check("begin-2" not in seen and "left" not in seen, "the loop went on", seen)
    status = t.command("echo status=$?")
    check(status == "status=130\n", "status", status)


def stop(t, program, child):
    t.keys("%s run -- %s out begin sleep 1.5 out end\n" % (program, child))
    t.until("begin\r")  # not the echo of what was typed
    t.keys("\x1a")
    seen = t.until(PROMPT)
    check("Stopped" in seen, "the shell did not see the job stop", seen)
    time.sleep(2)
    seen = t.command("jobs")
    check("Stopped" in seen and "end" not in seen.splitlines(), "the command went on while stopped", seen)
    t.keys("fg\n")
    t.until("\nend\r")
    t.until(PROMPT)
    status = t.command("echo status=$?")
    check(status == "status=0\n", "status", status)


def size(t, program, child):
    t.keys("%s run -q -- %s winsize wait-winch\n" % (program, child))
    t.until("24 80")
    time.sleep(0.5)  # the handler must be there; a signal that comes too early is ignored as without us
    t.set_size(33, 77)
    t.until("caught 28")
    t.until("33 77")
    t.until(PROMPT)


def background(t, program, child):
    t.keys("%s run -q -- cat & sleep 1\n" % program)
    t.until(PROMPT)
    seen = t.command("jobs")
    check("Stopped" in seen, "reading in the background did not stop the job", seen)
    t.keys("fg\n")
    t.until("cat")
    t.keys("typed\n")
    t.until("typed\r\ntyped")
    t.keys("\x04")
    t.until(PROMPT)


def keys(t, program, child):
    seen = t.command("%s run -q -- %s isatty" % (program, child))
    check(seen == "1 1 1\n", "isatty", seen)
    t.keys("%s run -q -- sh -c 'read line; echo got-$line'\n" % program)
    t.until("\n")
    t.keys("something\n")
    t.until("got-something")
    t.until(PROMPT)


def main():
    scenarios = {"loop": loop, "stop": stop, "size": size, "background": background, "keys": keys}
    scenarios[sys.argv[1]](Terminal(), sys.argv[2], sys.argv[3])
    print("%s ok" % sys.argv[1])


main()
