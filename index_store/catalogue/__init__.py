"""What there is, in SQL. The door is `catalogue.Catalogue`."""
