"""Given a position and a limit, choose a move."""
