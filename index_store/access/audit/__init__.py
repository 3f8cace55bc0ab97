"""The audit log. Entry point: `audit.Audit`."""
