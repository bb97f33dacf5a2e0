"""Drawings that only chapter 1 shows."""
