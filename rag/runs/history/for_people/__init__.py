"""What people see of the history: their own, and what is shared with them."""
