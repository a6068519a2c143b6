"""A standing ladder: newcomers are placed among agents whose games are known."""
