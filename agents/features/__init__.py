"""The import path of users' files for features and heuristic functions."""
