"""Drawings that only chapter 2 shows."""
