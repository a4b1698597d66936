"""What is minimised: test surfaces, any Python function, either with a penalty, and their shape."""
