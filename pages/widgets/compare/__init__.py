"""The Compare page: its form, its columns, and what differs between them."""
