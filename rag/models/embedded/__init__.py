"""The chat model that comes with the app. Only the registry imports this package."""
