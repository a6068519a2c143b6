"""How a search values a position: by weighted features, or by a user's own function."""
