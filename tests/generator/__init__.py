"""Random programs over the whole language, and an oracle for them that shares no code with gradcli."""
