"""Services that others run: their addresses, and the errors of those with the interface of OpenAI."""
