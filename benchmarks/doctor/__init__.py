"""The zoos: faulty programs with their causes, healthy ones, and which of them are held out."""
