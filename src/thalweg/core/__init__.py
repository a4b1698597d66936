"""The vocabulary: plain records and checks that every other package speaks in."""
