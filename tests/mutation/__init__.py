"""Mutation of the rules: each made wrong by one part in 10⁹, one at a time, to see which test notices."""
