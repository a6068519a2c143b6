"""Searches, policies and the loop over whole games, compiled for each state family."""
