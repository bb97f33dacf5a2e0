"""Drawings that only chapter 7 shows."""
