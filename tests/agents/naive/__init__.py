"""Slow twins of features and searches, written from the rules and the definitions of the players.

Games come as arguments or from the naive twins of the rules: nothing here imports what it checks.
"""
