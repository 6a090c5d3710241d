"""Measurements: every number that the documentation states is made by a script of this folder."""
