"""Functions that few programs call: importing this package enters them beside the others."""
