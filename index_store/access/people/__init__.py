"""People as the database knows them, who signs in, and their signed-in browsers."""
