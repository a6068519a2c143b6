"""The states of sowing games, each a family of kernels."""
