"""The commands of `pitflip`, one module for each."""
