"""A file to sections and chunks: loaders read it, chunking splits it, a worker process does both within limits."""
