"""Kill, stop and damage runs of all kinds; their final tables must not differ by a byte."""
