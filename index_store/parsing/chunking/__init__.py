"""Splits a loaded document into sections, and sections into chunks."""
