"""What every engine serves."""

CONTEXT = 4096
"""tokens per slot, question and answer together"""
