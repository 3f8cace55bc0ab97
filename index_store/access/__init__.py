"""People and their rights to indexes. Entry points: `access.Access`, and `gate.Gate`, which checks rights."""
