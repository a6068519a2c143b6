"""Pitflip: which of two bots is stronger, by how much, and how sure are we?"""
