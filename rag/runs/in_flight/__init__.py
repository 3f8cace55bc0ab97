"""Runs in flight: allowed, worked on, followed by suggestions. Entry point: `in_flight.RunsInFlight`."""
