"""The page of an answer: one file that needs nothing else."""
