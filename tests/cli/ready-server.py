# SPDX-License-Identifier: GPL-3.0-or-later
"""A server that is ready when the test says so.

    ready-server.py PORT HOW FILE STOP

Answers on 127.0.0.1:PORT until the file STOP exists. While FILE does not exist, HOW says what comes: refuse (nobody
listens), 503, 302 (to /other, which answers 200), garbage (no HTTP), hang (takes the connection and says nothing).
After that 200, with a body that never ends. Each question that was not answered with 200 appends a byte to `asked`."""
import os
import socket
import sys
import threading
import time


def note():
    with open("asked", "a") as file:
        file.write("x")


def answer(connection, how, file):
    with connection:
        head = connection.recv(4096).decode("latin-1")
        path = head.split(" ")[1] if " " in head else ""
        if os.path.exists(file) or path == "/other":
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
            try:
                for _ in range(600):
                    connection.sendall(b"endless " * 1000)
                    time.sleep(0.1)
            except OSError:
                return
        note()
        if how == "garbage":
            connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
        elif how == "hang":
            time.sleep(60)
        elif how == "302":
            connection.sendall(b"HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n")
        else:
            connection.sendall(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")


def main(port, how, file, stop):
    while how == "refuse" and not os.path.exists(file) and not os.path.exists(stop):
        time.sleep(0.02)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen()
    listener.settimeout(0.05)
    with open("listening", "w") as listening:
        listening.write("yes")
    while not os.path.exists(stop):
        try:
            connection, _ = listener.accept()
        except socket.timeout:
            continue
        connection.setblocking(True)
        threading.Thread(target=answer, args=(connection, how, file), daemon=True).start()
    os._exit(0)


main(int(sys.argv[1]), *sys.argv[2:])
