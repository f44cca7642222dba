"""The answer before any layout: sections of equations, tables and sentences, which each voice of ``render`` prints."""
