"""Is not Python."""
# ends: unloadable

this is not Python
