"""Inputs that nobody would write, made from those that people write: no input hurts."""
