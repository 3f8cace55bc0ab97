"""What a fork is made of: checkpoints, and edits of a step. Entry point: `plan.plan`."""
