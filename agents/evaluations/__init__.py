"""What a search thinks of a position: weights of features, or a user's own function."""
