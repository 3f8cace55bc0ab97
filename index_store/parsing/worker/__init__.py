"""Loading and chunking in processes of their own, and what their owner sees of them."""
