"""Where training begins: weights of the right variance, biases, and weights trained elsewhere."""
