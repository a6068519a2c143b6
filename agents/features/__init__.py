"""The names by which users' files import the features of games."""
