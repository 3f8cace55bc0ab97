"""Which requests are let in, from where, and what a browser may do with the answers."""
