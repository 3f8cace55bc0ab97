"""What there is, in SQL. Entry point: `catalogue.Catalogue`."""
