"""Searches, policies and the loop over whole games, written once and compiled per family."""
