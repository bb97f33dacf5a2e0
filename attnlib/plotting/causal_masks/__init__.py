"""Drawings that only chapter 6 shows."""
