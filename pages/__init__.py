"""What people see, one file per page; index.py starts each page."""
