"""Read experiment files, overrides and settings, and report their problems."""
