"""Who did what. Entry point: `audit.Audit`."""
