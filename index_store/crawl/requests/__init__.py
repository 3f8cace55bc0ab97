"""Requests to sites: to which addresses, how politely, and their answers."""
