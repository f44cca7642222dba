"""From an explanation to what users read: tables, plain text, JSON, and diagnostics with a caret."""
