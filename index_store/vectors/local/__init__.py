"""Chroma in this process, over a folder (folder.py); a program that compacts its database (compact.py) and one that
tests which collections can be read (probe.py).
"""
