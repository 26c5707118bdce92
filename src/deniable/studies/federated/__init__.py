"""Training on devices: updates of a model as private reports, with or without Flower."""
