"""Sends a datagram."""
# ends: raised

import socket

CANARY, PORT, OWNER = "@canary@", int("@port@"), int("@owner@")


def choose(view, legal, rng):
    own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    own.sendto(b"mine", ("127.0.0.1", PORT))
    return legal[0]
