"""Facts: numbers about data, loss and model that no look at the steps can see.

Each file asks one question and returns scalars for the record. They need what a loop keeps to
itself, the data and the loss, and are left out where `watch` was not given them.
"""
