"""The command line: thin functions that import what they need when they are called."""
