"""Drawings that only chapter 9 shows."""
