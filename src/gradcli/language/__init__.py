"""Programs: their text read, compiled and run, and snippets of Python as programs."""
