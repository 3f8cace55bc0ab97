"""Loading and chunking in separate processes, and the interface of their owner."""
