"""People, and their rights to indexes. Entry points: `access.Access`; `gate.Gate`, which checks rights."""
