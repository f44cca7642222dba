"""Arithmetic with digits to spare: a program evaluated in 50 digits and more, and the derivatives that this gives."""
