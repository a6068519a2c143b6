"""The wall between bots' processes and ours: spawner, levels of isolation, drivers."""
