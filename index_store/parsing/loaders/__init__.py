"""Loads files as Markdown pages with headings, one module per format; `formats.py` lists them."""
