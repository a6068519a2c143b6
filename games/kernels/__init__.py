"""What all compiled rules share: bits, masks, hashing, seeds, drivers, compilation."""
