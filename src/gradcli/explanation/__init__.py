"""What one answer holds, and what fills it."""
