"""Tests of the channels room."""
