"""Pure rules of slow games: no clock, no randomness of its own, no input or output."""
