"""The conversation on the page: which one, which branch, how many of its turns, and the list of all."""
