"""Drawings that only chapter 4 shows."""
