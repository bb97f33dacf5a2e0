"""Drawings that only chapter 5 shows."""
