"""Leaves shared memory, semaphores, sockets and pipes behind."""
# ends: normal raised

import os
import socket
from multiprocessing import shared_memory

kept = []


def choose(view, legal, rng):
    name = f"left-{rng.random()}"
    kept.append(shared_memory.SharedMemory(name, create=True, size=4096))
    kept.append(socket.socket(socket.AF_UNIX))
    kept[-1].bind(f"{os.environ['TMPDIR']}/{name}.socket")
    os.mkfifo(f"{os.environ['TMPDIR']}/{name}.pipe")
    return legal[0]
