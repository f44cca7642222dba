"""The page of an answer: its file, and what it does in a real browser."""
