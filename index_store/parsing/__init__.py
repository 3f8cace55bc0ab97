"""Turns a file into sections and chunks: loaders/ read, chunking/ splits, worker/ runs both in a limited process."""
