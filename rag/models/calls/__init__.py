"""Calls of a chat model: what is sent, what it may use, and what it used."""
