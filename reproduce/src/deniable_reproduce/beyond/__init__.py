"""What no source has: the same questions, answered further."""
