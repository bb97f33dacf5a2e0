"""Drawings that only the ending shows."""
