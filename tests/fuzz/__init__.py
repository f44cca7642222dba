"""Texts that nobody would type, and what must hold for each: the fuzzer's generators and its property."""
