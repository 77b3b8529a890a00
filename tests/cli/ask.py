#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks a server once and follows nothing.

Usage: ask.py URL ["Name: value"…]    body on standard output, status on descriptor 3, headers in the file `headers`
       ask.py --raw URL BYTES         sends just these; the status that comes, or 000"""

import http.client
import os
import socket
import sys
import urllib.parse


def say(status):
    os.write(3, b"%03d\n" % status)


def raw(url, text):
    with socket.create_connection((url.hostname, url.port), timeout=20) as connection:
        try:
            connection.sendall(text.encode("utf-8", "surrogateescape"))
            connection.shutdown(socket.SHUT_WR)
            line = connection.makefile("rb").readline().split()
        except OSError:
            line = []
    say(int(line[1]) if len(line) > 1 else 0)


def ask(url, headers):
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=120)
    connection.putrequest("GET", urllib.parse.urlunsplit(("", "", url.path, url.query, "")), skip_host=True)
    for name, value in {"Host": url.netloc, **headers}.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    with open("headers", "w", encoding="utf-8") as file:
        file.writelines(f"{name}: {value}\n" for name, value in answer.getheaders())
    sys.stdout.write(answer.read().decode("utf-8"))
    say(answer.status)


if sys.argv[1] == "--raw":
    raw(urllib.parse.urlsplit(sys.argv[2]), sys.argv[3])
else:
    ask(urllib.parse.urlsplit(sys.argv[1]), dict(word.split(": ", 1) for word in sys.argv[2:]))
