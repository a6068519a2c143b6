"""Reads the memory and the descriptors of the process that began it."""
# ends: raised

import os


def choose(view, legal, rng):
    os.listdir("/proc/1/fd")
    open("/proc/1/mem", "rb").read(1)
    open("/proc/1/environ", "rb").read()
    return legal[0]
