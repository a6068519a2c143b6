"""Showing people: terminal, live line, figures, pages."""
