"""The lowest layer: errors, text, files, keys of tables, progress; no game is known here."""
