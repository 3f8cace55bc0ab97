"""Who there is, and what each may do with which index. Entry point: `access.Access`."""
