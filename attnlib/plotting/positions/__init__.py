"""Drawings that only chapter 8 shows."""
