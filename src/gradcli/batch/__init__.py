"""Many records, one answer each: NDJSON in, NDJSON out, and no record that can stop the others."""
