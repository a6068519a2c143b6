"""User games."""
