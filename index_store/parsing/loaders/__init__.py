"""Files to Markdown pages with their headings, a module a format; `formats.py` lists them."""
