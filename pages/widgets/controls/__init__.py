"""The parts of forms and tables, and what they all need: errors, dropped files, the address."""
