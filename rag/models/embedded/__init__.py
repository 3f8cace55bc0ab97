"""The chat model that comes with the app. Nobody but the registry knows this package."""
