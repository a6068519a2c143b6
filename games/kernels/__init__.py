"""Shared parts of all compiled rules: bits, masks, hashes, seeds, drivers, compilation."""
