"""What ``torch.nn`` has as natives; its classes are texts of the prelude."""
