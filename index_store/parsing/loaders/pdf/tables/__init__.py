"""Tables of a PDF's page: with rules, or only with columns."""
