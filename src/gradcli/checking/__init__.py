"""Confirming a derivative: J by symbols, by reverse mode, and by numbers alone, each held against the others."""
