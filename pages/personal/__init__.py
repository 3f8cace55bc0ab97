"""A person's own data and links, and what a link shows to its reader."""
