"""What stands before the pages: who may connect, what is believed of a proxy, what browsers are told; other routes."""
