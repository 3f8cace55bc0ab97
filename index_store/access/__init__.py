"""Who there is, and what each may do with which index. Entry points: `access.Access`, and `gate.Gate`, which asks both."""
