"""What leaves the device: one output, tied to the recipe it was drawn by."""
