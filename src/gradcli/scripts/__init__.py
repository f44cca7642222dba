"""An answer as a script: the program and its derivative in the words of numpy, torch or jax."""
