"""Functions that few programs call: ``ops/index.json`` says which module has which."""
