"""Tests of classifier utility."""
