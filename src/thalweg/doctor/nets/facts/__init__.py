"""Facts: all that a training is judged by.

What no look at the steps can see, numbers about data, loss and model, is measured here: each file
asks one question and returns what it found as `Measured`. They need what a loop keeps to itself,
the data and the loss, and stay None where `watch` was not given them. `NetworkFacts` has these, the
record, and the `course` of the training.
"""
