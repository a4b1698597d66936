"""What any long run has: a checkpoint to go on from, an orderly Ctrl-C, progress on the screen."""
