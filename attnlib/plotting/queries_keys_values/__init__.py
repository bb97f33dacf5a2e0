"""Drawings that only chapter 3 shows."""
