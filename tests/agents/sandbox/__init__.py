"""Tests of the wall: spawner, ladder, driver and the far end of Python bots."""
