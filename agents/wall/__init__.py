"""What stands between a bot's process and us: the spawner, the walls, the driver of a bot."""
