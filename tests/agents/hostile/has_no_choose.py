"""Has no function choose."""
# ends: unloadable

answer = 42
