"""What runs on the user's own device: check the recipe, randomize, forget. Standard library only."""

from deniable.client.client import Client

__all__ = ["Client"]
