"""What the libraries of scripts have: functions and constants by their dotted names."""
