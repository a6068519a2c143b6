"""Tests of the sandbox: isolation levels, spawner, transports and the server inside."""
