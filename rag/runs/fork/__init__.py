"""The parts of a fork: checkpoints, and edits of a step. Entry point: `plan.plan`."""
