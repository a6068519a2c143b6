"""The states of Othello, each a family of kernels."""
