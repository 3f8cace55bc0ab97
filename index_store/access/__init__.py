"""Who there is, and what each may do with which index. Entry points: `access.Access`; `gate.Gate`, which asks it."""
