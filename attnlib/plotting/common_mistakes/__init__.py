"""Drawings that only the page of common mistakes shows."""
