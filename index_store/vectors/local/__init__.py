"""Chroma in this process, over a folder: folder.py, with a program that compacts its database (compact.py) and one that
tries which collections can be read (probe.py).
"""
