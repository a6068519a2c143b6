"""Leaves links, pipes and sockets."""
# ends: normal raised

import os
import socket


def choose(view, legal, rng):
    name = str(rng.random())
    os.symlink("/etc", f"link-{name}")
    os.mkfifo(f"pipe-{name}")
    socket.socket(socket.AF_UNIX).bind(f"socket-{name}")
    return legal[0]
