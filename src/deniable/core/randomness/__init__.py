"""Uniform integers below n, from the operating system's generator. There is no seed here."""
