"""Batch normalization: the layer, its statistics for inference, folding, and what naively fails."""
