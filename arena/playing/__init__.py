"""Play pairs in order: workers, the two loops, the stop rule."""
