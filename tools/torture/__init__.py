"""Runs of every sort, disturbed in every way we know; none may end with another byte."""
