"""Tests of the reproduced tables, figures and examples."""
