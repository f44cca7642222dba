"""Programs: their text read, compiled and run."""
