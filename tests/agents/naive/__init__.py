"""Slow twins of features and searches, written from the rules and definitions.

Games come as arguments or from the naive twins of the rules: nothing here imports code under test.
"""
