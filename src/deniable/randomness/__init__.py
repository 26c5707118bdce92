"""Uniform integers below n, from the operating system's generator. There is no seed here."""

from deniable.randomness.coins import SYSTEM, Coins, SystemCoins

__all__ = ["SYSTEM", "Coins", "SystemCoins"]
