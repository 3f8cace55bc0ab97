"""What people see. One file a page; index.py is where each begins."""
