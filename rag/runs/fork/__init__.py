"""What a fork is made of: checkpoints, and what a person changes. Entry point: `plan.plan`."""
