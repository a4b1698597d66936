"""Compiled loops: in place, without checks, randomness or exceptions inside."""
