"""Random calls of PyTorch's vocabulary, with options by place and by name: it says what each gives."""
