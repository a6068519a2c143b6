"""Connects to a service of this machine."""
# ends: raised

import socket

CANARY, PORT, OWNER = "@canary@", int("@port@"), int("@owner@")


def choose(view, legal, rng):
    socket.create_connection(("127.0.0.1", PORT), 2)
    return legal[0]
