"""Mechanisms: one file each, found by name. Importing this room loads none of them."""

from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.certificate import Certificate
from deniable.mechanisms.registry import all_mechanisms, make_mechanism, mechanism_class, mechanism_from_recipe, names

__all__ = ["Certificate", "Mechanism", "all_mechanisms", "make_mechanism", "mechanism_class", "mechanism_from_recipe", "names"]
