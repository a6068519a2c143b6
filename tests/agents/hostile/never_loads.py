"""Hangs while it is loaded."""
# ends: unloadable

import time

time.sleep(1e9)
