"""Markdown as loaders write it: escaped text, lists, tables, and headings of texts that mark none."""
